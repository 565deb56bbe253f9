// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
public import SecureMemory

/// Tries a vault's slots, on any thread; holds neither file nor secret.
public struct UnlockAttempt: Sendable {
  /// Pairs a slot with its header, read.
  struct Slot: Sendable {
    let row: SlotRow
    let header: SlotHeader
  }

  /// Whose slots they are.
  public let vault: VaultID
  private let slots: [Slot]
  private let availableMemory: UInt64
  private let devices: DeviceSecrets
  let chip: (any SealingChip)?
  let keys: (any SecurityKeys)?

  init(
    vault: VaultID, rows: [SlotRow], first: UInt8?, availableMemory: UInt64?,
    devices: DeviceSecrets, chip: (any SealingChip)? = nil, keys: (any SecurityKeys)? = nil
  ) throws(VaultError) {
    self.devices = devices
    (self.chip, self.keys) = (chip, keys)
    self.vault = vault
    self.availableMemory = availableMemory ?? .max
    let slots = zip(rows, try SlotTable.check(rows)).map { Slot(row: $0, header: $1) }
    // Which slot opened last is the best guess at the one that opens now.
    self.slots = slots.filter { $0.row.number == first } + slots.filter { $0.row.number != first }
  }

  /// Tries slots that stand elsewhere than in a vault, of which there may be more than a vault has.
  init(
    vault: VaultID, elsewhere slots: [Slot], availableMemory: UInt64?, devices: DeviceSecrets
  ) {
    (self.vault, self.slots, self.devices) = (vault, slots, devices)
    (chip, keys) = (nil, nil)
    self.availableMemory = availableMemory ?? .max
  }

  /// Whether a passcode that was typed may be the code of a slot for this machine, so that it is worth
  /// trying as one.
  ///
  /// What is too long to be a code is none, so that a mistyped passcode is no wrong code.
  public func mayBeCode(_ secret: borrowing SecretBytes) -> Bool {
    Credential.codeLengths.contains(secret.bytes.characterCount) && hasDeviceSecret
  }

  /// Whether this machine has its part of a slot that a code opens.
  public var hasDeviceSecret: Bool {
    slots.contains { $0.header.kind == .local && devices.has($0.header.id) }
  }

  /// Which TPMs this machine has had.
  var knownChips: KnownChips { devices.chips }

  /// How many slots a credential can open.
  public func slotCount(for credential: Credential) -> Int {
    slots.count { $0.header.kind == credential.slotKind }
  }

  /// What security keys have made for slots, in the order in which these are tried.
  var keyCredentials: [KeyCredential] { slots.compactMap { $0.header.credential } }

  /// What a security key has made for one slot.
  ///
  /// - Throws: ``VaultError/slotNotFound(_:)``, ``VaultError/slotOfOtherKind(_:_:)``.
  func keyCredential(ofSlot number: UInt8) throws(VaultError) -> KeyCredential {
    guard let slot = try candidates(.fido2, number, takesCode: false).first?.header.credential
    else {
      throw .damaged(.slot)
    }
    return slot
  }

  /// After how many wrong codes in a row the secrets of this machine are destroyed; 0 for never.
  ///
  /// - Throws: ``VaultError/eraseRuleDamaged``.
  public func eraseLimit() throws(VaultError) -> UInt64 {
    var least = UInt64.max
    for slot in slots where slot.header.kind == .local {
      let limit = try devices.eraseLimit(of: slot.header.id)
      if limit > 0 { least = min(least, limit) }
    }
    return least == .max ? 0 : least
  }

  /// Destroys the secrets of this machine for the vault's codes; data is never touched.
  public func eraseDeviceSecrets() {
    for slot in slots where slot.header.kind == .local { devices.remove(slot.header.id) }
  }

  /// Opens a slot; slow for a passcode, which goes through Argon2id once for each slot that is tried.
  ///
  /// - Parameters:
  ///   - credential: What is shown.
  ///   - secret: The passcode, code or recovery key as typed, without a line end, or a key file's
  ///     bytes; only borrowed.
  ///   - number: The only slot to try; nil for all of them.
  /// - Returns: What unlocks the vault, and authorises a change of its slots.
  /// - Throws: ``VaultError/wrongPasscode`` when no slot opens, and none was left out because of its cost;
  ///   ``VaultError/kdfRefused(_:)`` when each was, and nothing was tried;
  ///   ``VaultError/wrongOrRefused(_:)`` when some were, and the others do not open;
  ///   ``VaultError/noSuchSlot(_:)``,
  ///   ``VaultError/slotOfOtherKind(_:_:)`` and ``VaultError/deviceSecretMissing`` when there is none
  ///   to try;
  ///   ``VaultError/passcodeInvalid(_:)``, ``VaultError/recoveryKeyTypo(_:)`` and
  ///   ``VaultError/keyFileTooShort`` without trying; ``VaultError/outOfMemory``, after which the passcode
  ///   may well be right.
  public func open(
    _ credential: Credential, secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    var mistake = Mistake()
    return try open(credential, secret: secret, only: number, noting: &mistake)
  }

  /// The same, which notes what a wrong secret came to, so that it is known when it comes again.
  public func open(
    _ credential: Credential, secret: borrowing SecretBytes, only number: UInt8? = nil,
    noting mistake: inout Mistake
  ) throws(VaultError) -> VaultKey {
    let candidates = try candidates(credential, number, takesCode: secret.count > 0)
    var budget = KDFBudget(available: availableMemory)
    let affordable = candidates.filter { budget.take($0.header) }
    if credential == .tpm || credential == .fido2 {
      let key = try openByHardware(affordable, credential, secret, noting: &mistake)
      if let key { return key }
    } else {
      let proof = try Proof(credential, secret)
      for slot in affordable {
        if let key = try open(slot, with: proof, credential, noting: &mistake) { return key }
      }
    }
    guard let refusal = budget.refusal else { throw .wrongPasscode }
    throw affordable.isEmpty ? .kdfRefused(refusal) : .wrongOrRefused(refusal)
  }

  /// The slots to try.
  private func candidates(
    _ credential: Credential, _ number: UInt8?, takesCode: Bool
  ) throws(VaultError) -> [Slot] {
    let meant = slots.filter { number == nil || $0.row.number == number }
    if let number, meant.isEmpty { throw .slotNotFound(number) }
    // Of a TPM one that takes no code is opened where none was typed, and by nothing else.
    let own = meant.filter {
      $0.header.kind == credential.slotKind
        && (credential != .tpm || ($0.header.kdf != nil) == takesCode)
    }
    guard !own.isEmpty else {
      if let number, meant[0].header.kind != credential.slotKind {
        throw .slotOfOtherKind(number, credential)
      }
      throw .noSuchSlot(credential)
    }
    guard credential == .local else { return own }
    let possible = own.filter { devices.has($0.header.id) }
    guard !possible.isEmpty else { throw .deviceSecretMissing }
    return possible
  }

  /// Opens a slot that this machine's TPM, or a security key, has its part of.
  private func openByHardware(
    _ candidates: [Slot], _ credential: Credential, _ code: borrowing SecretBytes,
    noting mistake: inout Mistake
  ) throws(VaultError) -> VaultKey? {
    var elsewhere: ChipFault?
    for slot in candidates {
      do throws(VaultError) {
        let secret = try hardwareSecret(of: slot.header, code, noting: &mistake)
        guard let plaintext = try plaintext(of: slot, under: secret) else { continue }
        let payload = try SlotPayload.read(plaintext.bytes)
        if let object = slot.header.chip { knownChips.note(object) }
        return VaultKey(payload: payload, secret: secret, row: slot.row, credential: credential)
      } catch {
        // A slot of another machine, or of a key that is not here; that one's code is not tried.
        guard case .chip(let fault) = error, fault.kind == .other || fault.kind == .otherKey
        else { throw error }
        if let object = slot.header.chip { knownChips.forget(object) }
        elsewhere = fault
      }
    }
    if let elsewhere { throw .chip(elsewhere) }
    return nil
  }

  private func hardwareSecret(
    of header: SlotHeader, _ code: borrowing SecretBytes, noting mistake: inout Mistake
  ) throws(VaultError) -> SlotSecret {
    if header.kind == .fido2 {
      guard let keys else { throw .chip(ChipFault(.noProgram)) }
      return try KeySlot(vault, header, keys).secret(code)
    }
    guard let chip else { throw .chip(ChipFault(.noProgram)) }
    return try ChipSlot(vault, header, chip).secret(code, noting: &mistake)
  }

  /// Tries one slot; nil when the secret is not the slot's.
  private func open(
    _ slot: Slot, with proof: borrowing Proof, _ credential: Credential,
    noting mistake: inout Mistake
  ) throws(VaultError) -> VaultKey? {
    guard let secret = try secret(of: proof, for: slot.header) else { return nil }
    guard let plaintext = try plaintext(of: slot, under: secret) else {
      mistake.add(try fromCrypto(.slot, secret.mark()))
      return nil
    }
    let payload = try SlotPayload.read(plaintext.bytes)
    return VaultKey(payload: payload, secret: secret, row: slot.row, credential: credential)
  }

  /// Derives the secret of one slot; nil where this machine's part of it is missing.
  private func secret(
    of proof: borrowing Proof, for header: SlotHeader
  ) throws(VaultError) -> SlotSecret? {
    guard header.kind == .local else { return try proof.secret(for: header) }
    guard let device = try devices.secret(of: header.id) else { return nil }
    return try proof.secret(for: header, device)
  }

  /// What a slot holds; nil when the secret is not the slot's.
  private func plaintext(
    of slot: Slot, under secret: borrowing SlotSecret
  ) throws(VaultError) -> SecretBytes? {
    let wrapping = try secret.wrappingKey(vault, slot.header)
    let associated = AssociatedData.slotKey(vault: vault, header: slot.header)
    do {
      return try Seal.openPadded(
        slot.row.key.span, authenticating: associated.span, under: wrapping)
    } catch {
      guard error == .wrongKey else { throw VaultError(error, about: .slot) }
      return nil
    }
  }
}

// MARK: - The same twice

extension UnlockAttempt {
  /// Notes which other slots a passcode opens, so that a change of it ends them all; slow as ``open(_:secret:only:)``.
  ///
  /// There are such where several machines changed the passcode to the same one before they met. What costs too much to
  /// try here is left out, and so is what this copy has no room for.
  ///
  /// - Throws: ``VaultError/damaged(_:)``.
  public func noteOthers(
    openedBy passcode: borrowing SecretBytes, _ key: inout VaultKey
  ) throws(VaultError) {
    var budget = KDFBudget(available: availableMemory)
    var mistake = Mistake()
    let proof = try Proof(.passcode, passcode)
    for slot in slots where slot.header.kind == .passcode && slot.row.number != key.slot {
      guard budget.take(slot.header) else { continue }
      do throws(VaultError) {
        let isOpen = try open(slot, with: proof, .passcode, noting: &mistake) != nil
        if isOpen { key.others.append(slot.row) }
      } catch { guard error == .outOfMemory else { throw error } }
    }
  }

  /// The slot that a key file opens already; nil when none. No derivation is slow for a key file.
  ///
  /// - Throws: ``VaultError/keyFileTooShort``, ``VaultError/outOfMemory``, ``VaultError/damaged(_:)``.
  public func slot(openedBy keyFile: borrowing SecretBytes) throws(VaultError) -> UInt8? {
    do throws(VaultError) {
      let key = try open(.keyFile, secret: keyFile)
      return key.slot
    } catch {
      guard error == .wrongPasscode || error == .noSuchSlot(.keyFile) else { throw error }
      return nil
    }
  }

  /// Whether two texts are one passcode to Unicode.
  ///
  /// - Throws: ``VaultError/passcodeInvalid(_:)``, ``VaultError/outOfMemory``.
  public static func isSamePasscode(
    _ first: borrowing SecretBytes, _ second: borrowing SecretBytes
  ) throws(VaultError) -> Bool {
    do {
      let one = try Passcode.prepare(first.bytes)
      let other = try Passcode.prepare(second.bytes)
      return one.isEqual(to: other)
    } catch { throw VaultError(error, about: .slot) }
  }
}

extension Span<UInt8> {
  /// The characters of UTF-8: bytes that begin one.
  var characterCount: Int {
    var count = 0
    for index in indices where self[index] & 0xC0 != 0x80 { count += 1 }
    return count
  }
}

/// Holds a credential, checked and prepared once for all slots.
private struct Proof: ~Copyable {
  private let credential: Credential
  private let bytes: SecretBytes

  init(_ credential: Credential, _ secret: borrowing SecretBytes) throws(VaultError) {
    self.credential = credential
    switch credential {
    case .passcode, .local:
      bytes = try fromFormat(.slot, Passcode.prepare(secret.bytes))
    case .recoveryKey:
      let key = try fromFormat(.slot, RecoveryKey.parse(secret.bytes))
      bytes = try fromMemory(SecretBytes(copying: key.bytes))
    case .keyFile:
      guard secret.count >= Credential.leastKeyFile else { throw .keyFileTooShort }
      bytes = try secret.copied()
    case .tpm, .fido2: throw .noSuchSlot(credential)
    }
  }

  /// Derives the secret of one slot from the credential.
  borrowing func secret(for header: SlotHeader) throws(VaultError) -> SlotSecret {
    switch credential {
    case .passcode, .local:
      guard let cost = header.kdf else { throw .damaged(.slot) }
      return try fromCrypto(
        .slot, SlotSecret(passcode: bytes.bytes, salt: header.salt, cost: cost))
    case .recoveryKey:
      let key = RecoveryKey(try bytes.copied())
      return try fromCrypto(.slot, SlotSecret(recoveryKey: key, salt: header.salt))
    case .keyFile:
      return try fromCrypto(.slot, SlotSecret(keyFile: bytes.bytes, salt: header.salt))
    case .tpm, .fido2: throw .noSuchSlot(credential)
    }
  }

  /// Derives the secret of one slot from a code and this machine's secret.
  borrowing func secret(
    for header: SlotHeader, _ device: borrowing SecretBytes
  ) throws(VaultError) -> SlotSecret {
    guard let cost = header.kdf else { throw .damaged(.slot) }
    return try fromCrypto(
      .slot,
      SlotSecret(
        code: bytes.bytes, device: device.bytes, salt: header.salt, cost: cost))
  }
}

/// Carries the vault key out of a slot, with what that slot's own keys are made of; wiped when dropped.
public struct VaultKey: ~Copyable, Sendable {
  let payload: SlotPayload
  let secret: SlotSecret
  let row: SlotRow
  /// The other slots that the same passcode opens, as far as somebody looked.
  var others: [SlotRow] = []

  /// What opened the slot.
  public let credential: Credential

  /// The slot's number.
  public var slot: UInt8 { row.number }

  init(
    payload: consuming SlotPayload, secret: consuming SlotSecret, row: SlotRow,
    credential: Credential
  ) {
    self.payload = payload
    self.secret = secret
    self.row = row
    self.credential = credential
  }
}
