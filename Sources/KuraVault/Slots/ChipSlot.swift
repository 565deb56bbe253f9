// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
public import SecureMemory

/// Finds out the secret of a slot that a TPM has its part of.
struct ChipSlot {
  private let vault: VaultID
  private let header: SlotHeader
  private let chip: any SealingChip

  init(_ vault: VaultID, _ header: SlotHeader, _ chip: any SealingChip) {
    (self.vault, self.header, self.chip) = (vault, header, chip)
  }

  /// The secret for a code as typed, or for none where it has no bytes.
  ///
  /// - Throws: ``VaultError/wrongPasscode`` for a wrong code, which the TPM has counted; ``VaultError/chip(_:)``.
  func secret(
    _ typed: borrowing SecretBytes, noting mistake: inout Mistake
  ) throws(VaultError) -> SlotSecret {
    guard let object = header.chip else { throw .damaged(.slot) }
    guard let cost = header.kdf else {
      let nothing = try fromMemory(SecretBytes(count: 0))
      let secret = try fromChip { () throws(ChipFault) in try chip.unseal(object, code: nothing) }
      return try fromCrypto(.slot, SlotSecret(chip: secret.bytes, salt: header.salt))
    }
    let prepared = try fromFormat(.slot, Passcode.prepare(typed.bytes))
    let code = try fromCrypto(
      .slot, ChipCode(code: prepared.bytes, salt: header.salt, cost: cost))
    let shown = try fromCrypto(.slot, code.shown(vault: vault, slot: header.id))
    do throws(VaultError) {
      let secret = try fromChip { () throws(ChipFault) in try chip.unseal(object, code: shown) }
      return try fromCrypto(
        .slot, SlotSecret(chip: secret.bytes, code: code, vault: vault, slot: header.id))
    } catch {
      guard case .chip(let fault) = error, fault.kind == .wrong else { throw error }
      mistake.add(try fromCrypto(.slot, code.mark()))
      throw .wrongPasscode
    }
  }
}

/// Tells what a TPM could not do as the engine tells it.
func fromChip<Result: ~Copyable>(
  _ body: () throws(ChipFault) -> Result
) throws(VaultError) -> Result {
  do { return try body() } catch { throw .chip(error) }
}

extension PreparedSlot {
  /// A slot that this machine's TPM has its part of; slow.
  ///
  /// The slot's id, salt and the TPM's object are new each time, and so is what the TPM keeps.
  ///
  /// - Parameters:
  ///   - code: As typed, `Credential.codeLengths` characters; without bytes the slot takes none. Only borrowed.
  ///   - kdf: What a guess is to cost.
  ///   - allowsWeak: Whether it may cost less than `KDFLimits.floor`.
  ///   - withProtected: Whether it opens protected values, too; a slot without a code never does.
  ///   - slots: The vault's, which is what the new one is for.
  ///   - naming: What it is to be known by.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/chip(_:)``, ``VaultError/codeTooShort``, ``VaultError/codeTooLong``, and those of a passcode.
  public static func tpm(
    _ code: borrowing SecretBytes, kdf: KDFParameters, allowsWeak: Bool = false,
    withProtected: Bool = false, beside slots: UnlockAttempt, naming: SlotNaming = .none,
    availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> PreparedSlot {
    guard let chip = slots.chip else { throw .chip(ChipFault(.noProgram)) }
    let vault = slots.vault
    let facts = try fromChip { () throws(ChipFault) in try chip.facts() }
    let (salt, id) = (try Salt.fresh(), try SlotID.fresh())
    let device = try Key.fresh().finish()
    guard code.count > 0 else {
      let object = try kept(device, for: code, slots, chip)
      let header = SlotHeader(kind: .tpm2, kdf: nil, salt: salt, id: id, chip: object)
      let secret = try fromCrypto(.slot, SlotSecret(chip: device.bytes, salt: salt))
      return PreparedSlot(chipped: header, secret, naming, holdsProtectedHalf: false)
    }
    try check(kdf, allowsWeak, availableMemory)
    let prepared = try fromFormat(.slot, Passcode.prepare(code.bytes))
    let length = prepared.bytes.characterCount
    guard length >= Credential.codeLengths.lowerBound else { throw .codeTooShort }
    guard facts.isLimited || length >= Credential.leastUnlimited else {
      throw .chip(ChipFault(.unlimited, UInt32(Credential.leastUnlimited)))
    }
    let chipCode = try fromCrypto(.slot, ChipCode(code: prepared.bytes, salt: salt, cost: kdf))
    let shown = try fromCrypto(.slot, chipCode.shown(vault: vault, slot: id))
    let object = try kept(device, for: shown, slots, chip)
    let header = SlotHeader(kind: .tpm2, kdf: kdf, salt: salt, id: id, chip: object)
    let secret = try fromCrypto(
      .slot, SlotSecret(chip: device.bytes, code: chipCode, vault: vault, slot: id))
    return PreparedSlot(chipped: header, secret, naming, holdsProtectedHalf: withProtected)
  }

  /// Has the TPM keep a secret, and makes sure that it gives it back: a slot that opens nothing must not stand in the
  /// place of one that did.
  private static func kept(
    _ secret: borrowing SecretBytes, for code: borrowing SecretBytes, _ slots: UnlockAttempt,
    _ chip: any SealingChip
  ) throws(VaultError) -> ChipObject {
    let object = try fromChip { () throws(ChipFault) in try chip.seal(secret, code: code) }
    let back = try fromChip { () throws(ChipFault) in try chip.unseal(object, code: code) }
    guard back.isEqual(to: secret) else { throw .chip(ChipFault(.programFailed)) }
    slots.knownChips.note(object)
    return object
  }
}
