// SPDX-License-Identifier: MIT

public import KuraCrypto
public import SecureMemory

/// Turns a passcode, recovery key or key file into the keys of one slot, by way of 32 bytes.
///
/// Both keys of the slot come from it: one for the vault key, one for the protected half.
public struct SlotSecret: ~Copyable, Sendable {
  private let key: Key

  /// From a prepared passcode, through Argon2id; slow.
  ///
  /// - Parameters:
  ///   - passcode: As ``Passcode/prepare(_:)`` gives it.
  ///   - salt: The slot's salt.
  ///   - cost: The slot's cost, judged by ``KDFLimits`` before.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(
    passcode: Span<UInt8>, salt: Salt, cost: KDFParameters
  ) throws(CryptoError) {
    let salt = salt.bytes
    key = Key(
      try Argon2id.derive(passcode, salt: salt.span, memory: cost.memory, passes: cost.passes))
  }

  /// From a recovery key.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(recoveryKey: borrowing RecoveryKey, salt: Salt) throws(CryptoError) {
    var hash = try KeyedHash(keyBytes: recoveryKey.bytes)
    hash.update(.recoveryKey)
    hash.update(salt.bytes.span)
    key = Key(try hash.finalizeSecret())
  }

  /// From a key file's bytes.
  ///
  /// - Parameter keyFile: The whole file; at least 32 bytes are asked for by the caller.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(keyFile: Span<UInt8>, salt: Salt) throws(CryptoError) {
    var hash = try KeyedHash(keyBytes: Span())
    hash.update(.keyFile)
    hash.update(salt.bytes.span)
    hash.update(integer: UInt64(keyFile.count))
    hash.update(keyFile)
    key = Key(try hash.finalizeSecret())
  }

  /// From a prepared code, through Argon2id, and a secret of this machine; slow.
  ///
  /// Without the secret no code can be tried: what a thief of the vault's file has to guess has 256
  /// bits, however short the code is.
  ///
  /// - Parameters:
  ///   - code: As ``Passcode/prepare(_:)`` gives it.
  ///   - device: The slot's secret on this machine, 32 bytes.
  ///   - salt: The slot's salt.
  ///   - cost: The slot's cost, judged by ``KDFLimits`` before.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(
    code: Span<UInt8>, device: Span<UInt8>, salt: Salt, cost: KDFParameters
  ) throws(CryptoError) {
    let salt = salt.bytes
    let derived = try Argon2id.derive(
      code, salt: salt.span, memory: cost.memory, passes: cost.passes)
    var hash = try KeyedHash(keyBytes: device)
    hash.update(.deviceSecret)
    hash.update(derived.bytes)
    key = Key(try hash.finalizeSecret())
  }

  /// From what a TPM gave back for a code.
  ///
  /// - Parameters:
  ///   - chip: The TPM's secret of the slot, 32 bytes.
  ///   - code: What the code came to.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(
    chip: Span<UInt8>, code: borrowing ChipCode, vault: VaultID, slot: SlotID
  ) throws(CryptoError) {
    let mix = try code.mix(vault: vault, slot: slot)
    var hash = try KeyedHash(keyBytes: chip)
    hash.update(.chip)
    hash.update(mix.bytes)
    key = Key(try hash.finalizeSecret())
  }

  /// From what a TPM gave back for nothing.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(chip: Span<UInt8>, salt: Salt) throws(CryptoError) {
    var hash = try KeyedHash(keyBytes: chip)
    hash.update(.chipAlone)
    hash.update(salt.bytes.span)
    key = Key(try hash.finalizeSecret())
  }

  /// From what a security key gave for ``salt(_:of:vault:)``.
  ///
  /// - Parameter output: 32 bytes.
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public init(securityKey output: Span<UInt8>) throws(CryptoError) {
    var hash = try KeyedHash(keyBytes: output)
    hash.update(.securityKey)
    key = Key(try hash.finalizeSecret())
  }

  /// What a security key is asked for, so that it gives another secret for each slot: 32 bytes, and no secret.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public static func salt(
    _ salt: Salt, of slot: SlotID, vault: VaultID
  ) throws(CryptoError) -> SecretBytes {
    var hash = try KeyedHash(keyBytes: Span())
    hash.update(.keySalt)
    hash.update(vault.bytes.span)
    hash.update(slot.bytes.span)
    hash.update(salt.bytes.span)
    return try hash.finalizeSecret()
  }

  /// The key that seals the vault key in this slot.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func keyEncryptionKey(
    vault: VaultID, header: SlotHeader
  ) throws(CryptoError) -> Key {
    try derive(.keyEncryptionKey, vault: vault, header: header)
  }

  /// The key that seals the protected half in this slot, apart from the vault key.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func protectedKeyEncryptionKey(
    vault: VaultID, header: SlotHeader
  ) throws(CryptoError) -> Key {
    try derive(.protectedKeyEncryptionKey, vault: vault, header: header)
  }

  /// What tells a wrong secret again; whoever has it still needs the whole derivation for each guess.
  ///
  /// - Throws: ``CryptoError/outOfMemory``, ``CryptoError/entropyUnavailable``.
  public borrowing func mark() throws(CryptoError) -> Digest {
    var hash = try KeyedHash(key: key)
    hash.update(.mistake)
    return hash.finalize()
  }

  private borrowing func derive(
    _ label: Label, vault: VaultID, header: SlotHeader
  ) throws(CryptoError) -> Key {
    var hash = try KeyedHash(key: key)
    hash.update(label)
    hash.update(vault.bytes.span)
    hash.update(header.encoded.span)
    return Key(try hash.finalizeSecret())
  }
}
