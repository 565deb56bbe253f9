// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
public import SecureMemory

/// What somebody shows to open a vault.
public enum Credential: UInt8, Equatable, Sendable {
  /// A passcode, as typed.
  case passcode = 1
  /// A recovery key, as typed.
  case recoveryKey = 2
  /// A key file's bytes.
  case keyFile = 3

  var slotKind: SlotKind {
    switch self {
    case .passcode: .passcode
    case .recoveryKey: .recoveryKey
    case .keyFile: .keyFile
    }
  }
}

/// A vault's slots, ready to be tried on any thread; holds neither file nor secret.
public struct UnlockAttempt: Sendable {
  /// A slot with its header read.
  struct Slot: Sendable {
    let row: SlotRow
    let header: SlotHeader
  }

  private let vault: VaultID
  private let slots: [Slot]
  private let availableMemory: UInt64

  init(
    vault: VaultID, rows: [SlotRow], first: UInt8?, availableMemory: UInt64?
  ) throws(VaultError) {
    self.vault = vault
    self.availableMemory = availableMemory ?? .max
    var slots: [Slot] = []
    do {
      for row in rows {
        slots.append(Slot(row: row, header: try SlotHeader(decoding: row.header.span)))
      }
      try KDFLimits.check(slots: slots.map(\.header))
    } catch {
      throw VaultError(error, about: .slot)
    }
    // Which slot opened last is the best guess at the one that opens now.
    self.slots = slots.filter { $0.row.number == first } + slots.filter { $0.row.number != first }
  }

  /// How many slots a credential can open.
  public func slotCount(for credential: Credential) -> Int {
    slots.count { $0.header.kind == credential.slotKind }
  }

  /// Opens a slot; slow for a passcode, which goes through Argon2id once for each slot that is tried.
  ///
  /// - Parameters:
  ///   - credential: What is shown.
  ///   - secret: The passcode or recovery key as typed, without a line end, or a key file's bytes;
  ///     only borrowed.
  /// - Returns: What unlocks the vault, and authorises a change of its slots.
  /// - Throws: ``VaultError/wrongPasscode`` when no slot opens;
  ///   ``VaultError/passcodeInvalid(_:)``, ``VaultError/recoveryKeyTypo(_:)`` and
  ///   ``VaultError/keyFileTooShort`` without trying; ``VaultError/kdfRefused(_:)`` before anything is
  ///   allocated; ``VaultError/outOfMemory``, after which the passcode may well be right.
  public func open(
    _ credential: Credential, secret: borrowing SecretBytes
  ) throws(VaultError) -> VaultKey {
    let candidates = slots.filter { $0.header.kind == credential.slotKind }
    guard !candidates.isEmpty else { throw .noSuchSlot(credential) }
    do {
      try KDFLimits.check(attempt: candidates.map(\.header), available: availableMemory)
      let proof = try Proof(credential, secret)
      for slot in candidates {
        if let key = try open(slot, with: proof, credential) { return key }
      }
    } catch {
      throw VaultError(error, about: .slot)
    }
    throw .wrongPasscode
  }

  /// Tries one slot; nil when the secret is not the slot's.
  private func open(
    _ slot: Slot, with proof: borrowing Proof, _ credential: Credential
  ) throws -> VaultKey? {
    let secret = try proof.secret(for: slot.header)
    let wrapping = try secret.keyEncryptionKey(vault: vault, header: slot.header)
    let associated = AssociatedData.slotKey(vault: vault, header: slot.header)
    do {
      let plaintext = try Seal.openPadded(
        slot.row.key.span, authenticating: associated.span, under: wrapping)
      let payload = try SlotPayload.decode(plaintext.bytes)
      return VaultKey(payload: payload, secret: secret, row: slot.row, credential: credential)
    } catch CryptoError.wrongKey {
      return nil
    }
  }
}

/// A credential, checked and prepared once for all slots.
private struct Proof: ~Copyable {
  private let credential: Credential
  private let bytes: SecretBytes

  /// A key file with less is guessable.
  private static let leastKeyFile = 32

  init(_ credential: Credential, _ secret: borrowing SecretBytes) throws {
    self.credential = credential
    switch credential {
    case .passcode: bytes = try Passcode.prepare(secret.bytes)
    case .recoveryKey:
      let key = try RecoveryKey.parse(secret.bytes)
      bytes = try SecretBytes(copying: key.bytes)
    case .keyFile:
      guard secret.count >= Proof.leastKeyFile else { throw VaultError.keyFileTooShort }
      bytes = try secret.copy()
    }
  }

  /// What the credential comes to for one slot.
  borrowing func secret(for header: SlotHeader) throws -> SlotSecret {
    switch credential {
    case .passcode:
      guard let cost = header.kdf else { throw VaultError.damaged(.slot) }
      return try SlotSecret(passcode: bytes.bytes, salt: header.salt, cost: cost)
    case .recoveryKey:
      return try SlotSecret(recoveryKey: RecoveryKey(try bytes.copy()), salt: header.salt)
    case .keyFile:
      return try SlotSecret(keyFile: bytes.bytes, salt: header.salt)
    }
  }
}

/// The vault key out of a slot, with what that slot's own keys are made of; wiped when dropped.
public struct VaultKey: ~Copyable, Sendable {
  let payload: SlotPayload
  let secret: SlotSecret
  let row: SlotRow

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
