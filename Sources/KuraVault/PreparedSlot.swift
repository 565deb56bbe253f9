// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
public import SecureMemory

/// A new key slot but for what it is to hold: its header, and the secret that opens it.
///
/// Made on a worker, since a passcode goes through Argon2id; put into the vault on its own thread.
public struct PreparedSlot: ~Copyable, Sendable {
  let header: SlotHeader
  let secret: SlotSecret
  private let text: SecretBytes?

  /// The recovery key as it is to be written down; without bytes for a passcode.
  public var recoveryKeyText: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch text {
      case .some(let text): text.bytes
      case .none: Span()
      }
    }
  }

  /// A slot for a passcode; slow.
  ///
  /// - Parameters:
  ///   - passcode: As typed, without a line end; prepared here, only borrowed.
  ///   - kdf: What a guess is to cost.
  ///   - allowsWeak: Whether it may cost less than ``KDFLimits/floor``.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/passcodeInvalid(_:)``, ``VaultError/kdfTooWeak``,
  ///   ``VaultError/kdfRefused(_:)``, ``VaultError/outOfMemory``.
  public static func passcode(
    _ passcode: borrowing SecretBytes, kdf: KDFParameters, allowsWeak: Bool = false,
    availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> PreparedSlot {
    guard allowsWeak || !KDFLimits.isWeak(kdf) else { throw .kdfTooWeak }
    do {
      try KDFLimits.check(kdf, available: availableMemory ?? .max)
      let prepared = try Passcode.prepare(passcode.bytes)
      let header = SlotHeader(
        kind: .passcode, kdf: kdf, salt: try Salt.random(), id: try SlotID.random())
      let secret = try SlotSecret(passcode: prepared.bytes, salt: header.salt, cost: kdf)
      return PreparedSlot(header: header, secret: secret, text: nil)
    } catch {
      throw VaultError(error, about: .slot)
    }
  }

  /// A slot for a fresh recovery key.
  ///
  /// - Throws: ``VaultError/outOfMemory``, ``VaultError/entropyUnavailable``.
  public static func recoveryKey() throws(VaultError) -> PreparedSlot {
    do {
      let key = try RecoveryKey.random()
      let header = SlotHeader(
        kind: .recoveryKey, kdf: nil, salt: try Salt.random(), id: try SlotID.random())
      return PreparedSlot(
        header: header, secret: try SlotSecret(recoveryKey: key, salt: header.salt),
        text: try key.text())
    } catch {
      throw VaultError(error, about: .slot)
    }
  }

  /// Seals what the slot is to hold.
  ///
  /// - Parameters:
  ///   - number: Where it is to stand.
  ///   - payload: The vault key with its date and label.
  ///   - protected: The protected pair's secret half.
  ///   - vault: The vault's id.
  borrowing func row(
    _ number: UInt8, holding payload: borrowing SlotPayload, protected: borrowing SecretBytes,
    vault: VaultID
  ) throws(VaultError) -> SlotRow {
    do {
      let plaintext = try payload.encode()
      let key = try Seal.sealPadded(
        plaintext.bytes,
        authenticating: AssociatedData.slotKey(vault: vault, header: header).span,
        under: try secret.keyEncryptionKey(vault: vault, header: header))
      let half = try Seal.seal(
        protected.bytes,
        authenticating: AssociatedData.slotProtected(vault: vault, header: header).span,
        under: try secret.protectedKeyEncryptionKey(vault: vault, header: header))
      return SlotRow(number: number, header: header.encoded, key: key, protected: half)
    } catch {
      throw VaultError(error, about: .slot)
    }
  }
}

extension VaultKey {
  /// Opens the protected pair's secret half out of the slot that the key came from.
  ///
  /// - Throws: ``VaultError/credentialStale`` when the slot does not hold it.
  borrowing func protectedHalf(vault: VaultID) throws(VaultError) -> SecretBytes {
    guard !row.protected.isEmpty else { throw .credentialStale }
    do {
      let header = try SlotHeader(decoding: row.header.span)
      return try Seal.open(
        row.protected.span,
        authenticating: AssociatedData.slotProtected(vault: vault, header: header).span,
        under: try secret.protectedKeyEncryptionKey(vault: vault, header: header))
    } catch {
      throw VaultError(error, about: .slot)
    }
  }
}
