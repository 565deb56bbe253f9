// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

extension Connection {
  /// Creates the vault; it is there only when `confirm` has said yes.
  ///
  /// - Parameters:
  ///   - passcode: As typed; prepared by the agent.
  ///   - cost: What a guess at it is to cost.
  ///   - flags: What else is wanted, such as a recovery key.
  ///   - confirm: Gets the recovery key's text, empty without one. The bytes are gone when it
  ///     returns.
  /// - Throws: ``ClientError/stopped`` when `confirm` said no: no vault was made. The connection is
  ///   of no further use then, nor when `confirm` threw.
  public mutating func create(
    passcode: borrowing SecretBytes, cost: KDFParameters = .calibrated, flags: CreateRequest.Flags,
    confirm: (Span<UInt8>) throws(ClientError) -> Bool
  ) throws(ClientError) {
    try send(.create(CreateRequest(passcode: passcode.bytes, cost: cost, flags: flags)))
    try withRecoveryKey { key throws(ClientError) in
      guard try confirm(key) else { throw .stopped }
    }
    try channel.send { output throws(ProtocolError) in try output.putConfirm() }
    try done()
  }

  /// Changes the passcode; an unlocked vault stays so.
  ///
  /// - Parameters:
  ///   - kind: What `current` is: a passcode or the recovery key.
  ///   - current: What opens the vault now.
  ///   - new: The new passcode, as typed; prepared by the agent.
  ///   - cost: What a guess at it is to cost.
  ///   - flags: What else is wanted, such as a new recovery key.
  ///   - confirm: Gets the new recovery key's text; called only when one was asked for. The bytes are
  ///     gone when it returns, and only then is anything changed.
  /// - Throws: ``ClientError/stopped`` when `confirm` said no: nothing was changed. The connection is of
  ///   no further use then, nor when `confirm` threw.
  public mutating func changePasscode(
    _ kind: Credential, current: borrowing SecretBytes, new: borrowing SecretBytes,
    cost: KDFParameters = .calibrated, flags: PasscodeRequest.Flags = [],
    confirm: (Span<UInt8>) throws(ClientError) -> Bool
  ) throws(ClientError) {
    try send(
      .passcode(
        PasscodeRequest(kind, current: current.bytes, new: new.bytes, cost: cost, flags: flags)))
    try withRecoveryKey { key throws(ClientError) in
      guard flags.contains(.recoveryKey) else { return }
      guard try confirm(key) else { throw .stopped }
    }
    guard flags.contains(.recoveryKey) else { return }
    try channel.send { output throws(ProtocolError) in try output.putConfirm() }
    try done()
  }

  mutating func withRecoveryKey(
    _ body: (Span<UInt8>) throws(ClientError) -> Void
  ) throws(ClientError) {
    let reply: RecoveryKeyReply = try replied(received(try answer(patience: patience.derivation)))
    try body(reply.text.bytes)
  }

  /// Proves the vault whole.
  ///
  /// - Parameters:
  ///   - progress: Called now and then.
  ///   - finding: Called for each fault, with an item's name or the part of the vault it is in.
  /// - Returns: The number of faults.
  public mutating func verify(
    progress: (ProgressReport) -> Void, finding: (FindingKind, String) -> Void
  ) throws(ClientError) -> Int {
    try send(.verify)
    var count = 0
    while true {
      let frame = try channel.next(patience: patience.stream)
      let payload = received.extracting(frame.payload)
      switch frame.type {
      case .progress:
        progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
      case .data:
        let batch = try reading { () throws(ProtocolError) in try FindingBatch(payload) }
        batch.forEach(in: payload) { finding($0, String(repairing: $1)) }
        count += batch.count
      case .clientHello, .request, .clientData, .clientEnd, .confirm, .agentHello, .reply, .end:
        try finish(frame)
        return count
      }
    }
  }
}

extension Connection {
  /// Gives back to the disk what the vault's file no longer needs.
  ///
  /// - Parameter progress: Called now and then.
  /// - Returns: How much that is, and how long the file is now.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.walKept` when another reader is in the way: the file
  ///   becomes shorter later.
  public mutating func compact(
    progress: (ProgressReport) -> Void
  ) throws(ClientError) -> SpaceReport {
    try send(.compact)
    var report = SpaceReport(count: 0, length: 0)
    while true {
      let frame = try channel.next(patience: patience.stream)
      let payload = received.extracting(frame.payload)
      switch frame.type {
      case .progress:
        progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
      case .data:
        report = try reading { () throws(ProtocolError) in try SpaceReport(payload) }
      case .clientHello, .request, .clientData, .clientEnd, .confirm, .agentHello, .reply, .end:
        try finish(frame)
        return report
      }
    }
  }
}

extension Connection {
  /// Copies the vault to another place, locked or not.
  ///
  /// - Parameters:
  ///   - path: Where it is to stand; absolute.
  ///   - keep: How many of a series there are to be afterwards; 0 keeps all.
  ///   - progress: Called now and then.
  /// - Returns: What was made.
  public mutating func backup(
    to path: String, keeping keep: UInt16, progress: (ProgressReport) -> Void
  ) throws(ClientError) -> BackupReport {
    try send(.backup(BackupRequest(path: path.utf8.span, keeping: keep)))
    var report = BackupReport(byteCount: 0, removedCount: 0, sparedCount: 0, isProved: false)
    while true {
      let frame = try channel.next(patience: patience.stream)
      let payload = received.extracting(frame.payload)
      switch frame.type {
      case .progress:
        progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
      case .data:
        report = try reading { () throws(ProtocolError) in try BackupReport(payload) }
      case .clientHello, .request, .clientData, .clientEnd, .confirm, .agentHello, .reply, .end:
        try finish(frame)
        return report
      }
    }
  }
}

// MARK: - Keys

extension Connection {
  /// Seals everything again under a new data key, or joins the rotation that is under way.
  ///
  /// - Parameter progress: Called now and then.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.locked` when the vault was locked meanwhile:
  ///   the rotation goes on once it is unlocked again.
  public mutating func rotate(progress: (ProgressReport) -> Void) throws(ClientError) {
    try send(.rotate)
    try followProgress(progress)
  }
}

extension Connection {
  /// Puts everything under a new vault key; all slots but those shown end. The vault must be unlocked.
  ///
  /// - Parameters:
  ///   - passcode: What opens the vault now, and is to open it then.
  ///   - keyFile: A key file that does, and is to.
  ///   - code: A code for this machine's TPM that does, and is to; without bytes for a slot that takes none.
  ///   - keySlot: A slot of a security key that is to; the key blinks for it.
  ///   - pin: The PIN of that, without bytes where it takes none; nil where no such slot is to.
  ///   - flags: What else is wanted, such as a new recovery key.
  ///   - clonePath: Where another vault is to stand that gets the key, and that only those shown open; absolute.
  ///     This one then stays as it is.
  ///   - device: The id of a machine that shares the vault no longer; empty for none.
  ///   - confirm: Gets the new recovery key's text, empty without one. The bytes are gone when it
  ///     returns.
  ///   - progress: Called now and then.
  /// - Throws: ``ClientError/stopped`` when `confirm` said no: nothing was changed. The connection is of
  ///   no further use then, nor when `confirm` threw.
  public mutating func rekey(
    passcode: borrowing SecretBytes, keyFile: borrowing SecretBytes?,
    code: borrowing SecretBytes? = nil, keySlot: UInt8 = 0, pin: borrowing SecretBytes? = nil,
    flags: RekeyRequest.Flags, clonePath: String? = nil, removing device: [UInt8] = [],
    confirm: (Span<UInt8>) throws(ClientError) -> Bool, progress: (ProgressReport) -> Void
  ) throws(ClientError) {
    var flags = code == nil ? flags : flags.union(.chip)
    if pin != nil { flags.insert(.securityKey) }
    let slots = RekeyRequest(
      current: passcode.bytes, keyFile: Self.bytes(of: keyFile), code: Self.bytes(of: code),
      keySlot: keySlot, pin: Self.bytes(of: pin), flags: flags, removing: device.span)
    if let clonePath {
      try send(.clone(CloneRequest(slots: slots, path: clonePath.utf8.span)))
    } else {
      try send(.rekey(slots))
    }
    try withRecoveryKey { key throws(ClientError) in
      guard try confirm(key) else { throw .stopped }
    }
    try channel.send { output throws(ProtocolError) in try output.putConfirm() }
    try followProgress(progress)
  }

  @_lifetime(borrow secret)
  private static func bytes(of secret: borrowing SecretBytes?) -> Span<UInt8> {
    switch secret {
    case .some(let secret): secret.bytes
    case .none: Span()
    }
  }

  private mutating func followProgress(
    _ progress: (ProgressReport) -> Void
  ) throws(ClientError) {
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .progress else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
    }
  }
}

// MARK: - Settings

extension Connection {
  /// All settings kept in the vault.
  public mutating func settings() throws(ClientError) -> [SettingValue] {
    try config(.list, key: nil, value: 0)
  }

  /// One setting.
  public mutating func setting(_ key: Setting) throws(ClientError) -> UInt64 {
    try one(key, of: try config(.get, key: key, value: 0))
  }

  /// Changes a setting.
  ///
  /// - Parameters:
  ///   - key: Which one.
  ///   - value: What it is to be, in the unit of the setting.
  ///   - word: The owner's word, which a looser value takes than the one that holds.
  /// - Returns: The value it has now.
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.ownerNeeded`, among others.
  @discardableResult
  public mutating func set(
    _ key: Setting, to value: UInt64, by word: borrowing Word? = nil
  ) throws(ClientError) -> UInt64 {
    try one(key, of: try config(.set, key: key, value: value, by: word))
  }

  private mutating func config(
    _ operation: ConfigRequest.Operation, key: Setting?, value: UInt64,
    by word: borrowing Word? = nil
  ) throws(ClientError) -> [SettingValue] {
    try send(
      .config(ConfigRequest(operation, key: key, value: value, word: OwnerWord(word))))
    let payload = received(try answer(patience: patience(by: word)))
    return try reading { () throws(ProtocolError) in try SettingValue.all(payload) }
  }

  private func one(_ key: Setting, of settings: [SettingValue]) throws(ClientError) -> UInt64 {
    guard let setting = settings.first, settings.count == 1, setting.key == key.rawValue else {
      throw .broken(.fieldValue)
    }
    return setting.value
  }
}
