// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Holds what Argon2id made of a code for a TPM, which never leaves the engine: whatever speaks to the TPM gets another
/// value, which says nothing of the code to who does not try all codes at the same cost.
public struct ChipCode: ~Copyable, Sendable {
  private let derived: SecretBytes

  /// From a prepared code; slow.
  ///
  /// - Parameters:
  ///   - code: As ``Passcode/prepare(_:)`` gives it.
  ///   - salt: The slot's salt.
  ///   - cost: The slot's cost, judged by ``KDFLimits`` before.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(code: Span<UInt8>, salt: Salt, cost: KDFParameters) throws(CryptoError) {
    let salt = salt.bytes
    derived = try Argon2id.derive(code, salt: salt.span, memory: cost.memory, passes: cost.passes)
  }

  /// What the TPM is shown: 32 bytes, of which the last one is odd, since TPMs drop zeros at the end.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func shown(vault: VaultID, slot: SlotID) throws(CryptoError) -> SecretBytes {
    var bytes = try hash(.chipCode, vault, slot)
    let last = bytes.count - 1
    var room = bytes.mutableBytes
    room[last] |= 1
    return bytes
  }

  /// What the TPM's secret is mixed with.
  borrowing func mix(vault: VaultID, slot: SlotID) throws(CryptoError) -> SecretBytes {
    try hash(.chipMix, vault, slot)
  }

  /// What tells a wrong code again; whoever has it still needs the whole derivation for each guess.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func mark() throws(CryptoError) -> Digest {
    var hash = try KeyedHash(keyBytes: derived.bytes)
    hash.update(.mistake)
    return hash.finalize()
  }

  private borrowing func hash(
    _ label: Label, _ vault: VaultID, _ slot: SlotID
  ) throws(CryptoError) -> SecretBytes {
    var hash = try KeyedHash(keyBytes: derived.bytes)
    hash.update(label)
    hash.update(vault.bytes.span)
    hash.update(slot.bytes.span)
    return try hash.finalizeSecret()
  }
}
