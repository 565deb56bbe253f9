// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Adds, ends and replaces slots of a vault, which stays locked or unlocked as it is.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class SlotChange: Act, @unchecked Sendable {
  enum Task {
    case add(SlotOrder, SlotNaming)
    case remove(UInt8)
    case disable(UInt8)
    case enable(UInt8)
    /// The passcode, or a code for this machine or its TPM, takes the place of the one that is shown or forgotten.
    case passcode(KDFParameters, PasscodeRequest.Flags)
  }

  private let task: Task
  private let credential: Credential
  private let session: Session
  private var new: SecretBytes?
  /// Whether the vault has to be unlocked for the change, which takes a key of its own.
  private let unlocks: Bool
  private var key: VaultKey?
  private var unlockKey: VaultKey?
  private var slot: PreparedSlot?
  /// The slot that a key file opens already, where that is only to be tried by itself from now on.
  private var known: UInt8?
  /// The new recovery key that goes with a new passcode.
  private var recovery: PreparedSlot?

  init(
    _ task: Task, by credential: Credential, _ new: consuming SecretBytes?, of session: Session
  ) {
    self.task = task
    self.credential = credential
    self.new = consume new
    self.session = session
    unlocks = !session.isUnlocked
  }

  var asksChip: Bool {
    guard case .add(let order, _) = task else { return false }
    return order.kind == .tpm || order.kind == .fido2
  }

  func showKey(in attempt: Attempt, to client: Connection) throws(Refusal) -> Bool {
    switch task {
    case .add(let order, _) where order.kind == .recoveryKey:
      try open(attempt, awaitingSlots: false)
      try answer(key: slot, client)
      return true
    case .passcode where recovery != nil:
      try open(attempt, awaitingSlots: credential == .recoveryKey)
      try answer(key: recovery, client)
      return true
    case .add, .remove, .disable, .enable, .passcode: return false
    }
  }

  /// Refuses before a key is shown, or written to a file, that would not come into force.
  ///
  /// - Parameter awaits: Whether slots may be awaited still.
  private func open(_ attempt: Attempt, awaitingSlots awaits: Bool) throws(Refusal) {
    do throws(VaultError) {
      try attempt.look(unlockedBy: &unlockKey) { vault throws(VaultError) in
        if !awaits { try vault.checkSlotsAreKnown() }
      }
    } catch { throw Refusal(error, at: session.path).final(when: attempt.isSpent) }
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    let number: UInt8
    do throws(VaultError) {
      number = try attempt.change(unlockedBy: &unlockKey) { vault throws(VaultError) in
        try change(&vault)
      }
    } catch {
      if session.isUnlocked, error.isOfAnotherVault { agent.lock(session, .vaultChanged) }
      throw Refusal(error, at: session.path).final(when: attempt.isSpent)
    }
    // What a slot proved that is gone reads no more.
    if endsSlot { agent.revokeGrants(of: session) }
    if session.isUnlocked { agent.noteChange(of: session) }
    try answer(number, client)
  }

  private var endsSlot: Bool {
    switch task {
    case .add, .enable: false
    case .remove, .disable, .passcode: true
    }
  }

  private func change(_ vault: inout UnlockedVault) throws(VaultError) -> UInt8 {
    switch key {
    case .some(let key): try change(&vault, by: key)
    case .none: throw .outOfMemory
    }
  }

  private func change(
    _ vault: inout UnlockedVault, by key: borrowing VaultKey
  ) throws(VaultError) -> UInt8 {
    switch task {
    case .remove(let number):
      try vault.removeSlot(number, authorizedBy: key)
      return number
    case .disable(let number):
      try vault.disableSlot(number, authorizedBy: key)
      return number
    case .enable(let number):
      try vault.enableSlot(number, authorizedBy: key)
      return number
    case .add(let order, _):
      let replaces = order.flags.contains(.replace)
      switch slot {
      case .some(let slot):
        if let known {
          try vault.remember(keyFile: slot, ofSlot: known)
          return known
        }
        return try vault.addSlot(
          slot, authorizedBy: key, replacing: replaces, manner: SlotManner(order.flags))
      case .none: throw .outOfMemory
      }
    case .passcode where credential == .local || credential == .tpm:
      guard recovery == nil else { throw .credentialStale }
      switch slot {
      case .some(let slot): try vault.changeCode(slot, authorizedBy: key)
      case .none: throw .outOfMemory
      }
    case .passcode:
      try vault.changeSlots(authorizedBy: key, passcode: slot, recovery: recovery)
    }
    return 0
  }

  private func answer(_ number: UInt8, _ client: Connection) throws(Refusal) {
    switch task {
    case .passcode where recovery == nil: try answer(key: recovery, client)
    case .remove, .disable, .enable, .passcode:
      try wire { () throws(ProtocolError) in try client.outbox.frames.putReply() }
    case .add(let order, _):
      try wire { () throws(ProtocolError) in
        try client.outbox.frames.putReply(SlotReply(number: number, kind: order.kind.slotKind))
      }
    }
  }

  private func answer(key: borrowing PreparedSlot?, _ client: Connection) throws(Refusal) {
    try wire { () throws(ProtocolError) in
      switch key {
      case .some(let slot):
        try client.outbox.frames.putReply(RecoveryKeyReply(slot.recoveryKeyText))
      case .none: try client.outbox.frames.putReply(RecoveryKeyReply())
      }
    }
  }
}

// MARK: - The worker's part

extension SlotChange {
  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    var key = try job.prove(secret)
    if unlocks { unlockKey = try job.tally?.slots.open(credential, secret: secret) }
    switch task {
    case .remove, .disable, .enable: break
    case .add(let order, let naming):
      guard let new = new.take() else { throw .outOfMemory }
      if let number = try slot(openedBy: new, order.kind, beside: secret, at: key.slot, job) {
        guard order.flags.contains(.tried) else { throw .credentialTaken(number) }
        known = number
      }
      guard let slots = job.tally?.slots else { throw .outOfMemory }
      slot = try .added(order, new, naming, beside: slots)
    case .passcode(let cost, let flags):
      guard let new = new.take(), let slots = job.tally?.slots else { throw .outOfMemory }
      slot = try .replacing(
        credential, cost, flags, new, withProtected: key.opensProtected, beside: slots)
      if flags.contains(.recoveryKey) { recovery = try PreparedSlot.recoveryKey() }
      // Whoever changes a passcode means that it opens nothing more.
      if credential == .passcode { try slots.noteOthers(openedBy: secret, &key) }
    }
    self.key = consume key
  }

  /// The slot that a new secret opens already, as far as that costs no guess more: all key files are compared,
  /// of passcodes the one that was shown.
  private func slot(
    openedBy new: borrowing SecretBytes, _ kind: Credential, beside shown: borrowing SecretBytes,
    at number: UInt8, _ job: AttemptJob
  ) throws(VaultError) -> UInt8? {
    if kind == .keyFile { return try job.tally?.slots.slot(openedBy: new) }
    guard kind == .passcode, credential == .passcode else { return nil }
    return try UnlockAttempt.isSamePasscode(new, shown) ? number : nil
  }
}

extension SlotManner {
  fileprivate init(_ flags: SlotAddRequest.Flags) {
    self = []
    if flags.contains(.tried) { insert(.tried) }
    if flags.contains(.submitted) { insert(.submitted) }
  }
}

extension PreparedSlot {
  /// The slot that a client wants; slow.
  fileprivate static func added(
    _ order: SlotOrder, _ secret: borrowing SecretBytes, _ naming: SlotNaming,
    beside slots: UnlockAttempt
  ) throws(VaultError) -> PreparedSlot {
    let allowsWeak = order.flags.contains(.weakKDF)
    let withProtected = order.flags.contains(.withProtected)
    switch order.kind {
    case .passcode:
      return try passcode(
        secret, kdf: try KDFParameters.wanted(order.cost), allowsWeak: allowsWeak,
        naming: naming)
    case .recoveryKey: return try recoveryKey(naming: naming)
    case .keyFile: return try keyFile(secret, withProtected: withProtected, naming: naming)
    case .local:
      return try local(
        secret, kdf: try KDFParameters.wanted(order.cost), allowsWeak: allowsWeak,
        withProtected: withProtected, naming: naming)
    case .tpm:
      return try tpm(
        secret, kdf: try KDFParameters.wanted(order.cost), allowsWeak: allowsWeak,
        withProtected: withProtected, beside: slots, naming: naming)
    case .fido2:
      return try fido2(
        pin: secret, withProtected: withProtected, beside: slots, naming: naming)
    }
  }

  /// The slot for a new passcode; a code that was shown is changed for another code, which opens no more.
  fileprivate static func replacing(
    _ credential: Credential, _ cost: KDFParameters, _ flags: PasscodeRequest.Flags,
    _ secret: borrowing SecretBytes, withProtected: Bool, beside slots: UnlockAttempt
  ) throws(VaultError) -> PreparedSlot {
    let kdf = try KDFParameters.wanted(cost)
    let allowsWeak = flags.contains(.weakKDF)
    switch credential {
    case .passcode, .recoveryKey, .keyFile, .fido2:
      return try passcode(secret, kdf: kdf, allowsWeak: allowsWeak)
    case .local:
      return try local(secret, kdf: kdf, allowsWeak: allowsWeak, withProtected: withProtected)
    case .tpm:
      return try tpm(
        secret, kdf: kdf, allowsWeak: allowsWeak, withProtected: withProtected, beside: slots)
    }
  }
}
