// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
public import SecureMemory

/// Finds out the secret of a slot that a security key has its part of.
struct KeySlot {
  private let vault: VaultID
  private let header: SlotHeader
  private let keys: any SecurityKeys

  init(_ vault: VaultID, _ header: SlotHeader, _ keys: any SecurityKeys) {
    (self.vault, self.header, self.keys) = (vault, header, keys)
  }

  /// The secret, for the key's PIN as typed, or for none where it has no bytes.
  ///
  /// - Throws: ``VaultError/chip(_:)``.
  func secret(_ typed: borrowing SecretBytes) throws(VaultError) -> SlotSecret {
    guard let credential = header.credential else { throw .damaged(.slot) }
    let pin = try KeySlot.pin(typed)
    let salt = try fromCrypto(.slot, SlotSecret.salt(header.salt, of: header.id, vault: vault))
    let output = try fromChip { () throws(ChipFault) in
      try keys.secret(of: credential, salt: salt, pin: pin)
    }
    return try fromCrypto(.slot, SlotSecret(securityKey: output.bytes))
  }

  /// A PIN as security keys take it: UTF-8 in normal form C (CTAP 2.1, 6.5.1).
  static func pin(_ typed: borrowing SecretBytes) throws(VaultError) -> SecretBytes {
    guard typed.count > 0 else { return try fromMemory(SecretBytes(count: 0)) }
    let pin = try fromFormat(.slot, Passcode.prepare(typed.bytes))
    guard pin.count <= KeyCredential.longestPIN else { throw .passcodeInvalid(.tooLong) }
    return pin
  }
}

extension UnlockAttempt {
  /// What the security key asks for that opens one of the vault's slots, or that a new slot is to be of.
  ///
  /// - Throws: ``VaultError/chip(_:)``, ``VaultError/noSuchSlot(_:)``.
  public func keyFacts(forNew isNew: Bool) throws(VaultError) -> SecurityKeyFacts {
    guard let keys else { throw .chip(ChipFault(.noProgram)) }
    if isNew { return try fromChip { () throws(ChipFault) in try keys.facts(of: nil) } }
    var fault = VaultError.noSuchSlot(.fido2)
    for credential in keyCredentials {
      do throws(ChipFault) { return try keys.facts(of: credential) } catch {
        guard error.kind == .otherKey else { throw .chip(error) }
        fault = .chip(error)
      }
    }
    throw fault
  }
}

extension PreparedSlot {
  /// A slot that the security key which is plugged in has its part of: it is touched twice, or once where it is the one
  /// that another slot is of.
  ///
  /// Of the other slot it has what the key made; the secret is another one, for a salt of its own.
  ///
  /// - Parameters:
  ///   - typed: As typed; without bytes for a key that takes none. Only borrowed.
  ///   - withProtected: Whether it opens protected values, too.
  ///   - slots: The vault's, which is what the new one is for.
  ///   - number: The slot in whose place it is to stand; nil for a key that makes a new credential.
  ///   - naming: What it is to be known by.
  /// - Throws: ``VaultError/chip(_:)``, ``VaultError/passcodeInvalid(_:)``, ``VaultError/slotNotFound(_:)``,
  ///   ``VaultError/slotOfOtherKind(_:_:)``.
  public static func fido2(
    pin typed: borrowing SecretBytes, withProtected: Bool = false, beside slots: UnlockAttempt,
    renewing number: UInt8? = nil, naming: SlotNaming = .none
  ) throws(VaultError) -> PreparedSlot {
    guard let keys = slots.keys else { throw .chip(ChipFault(.noProgram)) }
    var credential: KeyCredential?
    if let number { credential = try slots.keyCredential(ofSlot: number) }
    let pin = try KeySlot.pin(typed)
    let (salt, id) = (try Salt.fresh(), try SlotID.fresh())
    let shown = try fromCrypto(.slot, SlotSecret.salt(salt, of: id, vault: slots.vault))
    let made = try fromChip { () throws(ChipFault) in
      guard let credential else { return try keys.enrol(salt: shown, pin: pin) }
      return EnrolledKey(
        credential, secret: try keys.secret(of: credential, salt: shown, pin: pin))
    }
    let header = SlotHeader(
      kind: .fido2, kdf: nil, salt: salt, id: id, credential: made.credential)
    let secret = try fromCrypto(.slot, SlotSecret(securityKey: made.secret.bytes))
    return PreparedSlot(chipped: header, secret, naming, holdsProtectedHalf: withProtected)
  }
}
