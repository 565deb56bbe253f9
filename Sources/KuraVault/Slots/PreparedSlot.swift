// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
public import SecureMemory

/// Carries a new key slot but for what it is to hold: its header, and the secret that opens it.
///
/// Made on a worker, since a passcode goes through Argon2id; put into the vault on its own thread.
public struct PreparedSlot: ~Copyable, Sendable {
  let header: SlotHeader
  let secret: SlotSecret
  let naming: SlotNaming
  /// Whether a cost below the floor was asked for.
  let isWeakCostMeant: Bool
  /// Whether the slot is to hold the protected pair's secret half.
  let holdsProtectedHalf: Bool
  /// What this machine is to keep for a `local` slot.
  let deviceSecret: SecretBytes?
  /// How many characters a code has that is a key each, and how many bytes a key file; else 0.
  let typedCount: Int
  private let text: SecretBytes?

  private init(
    _ header: SlotHeader, _ secret: consuming SlotSecret, _ naming: SlotNaming,
    holdsProtectedHalf: Bool = true, deviceSecret: consuming SecretBytes? = nil,
    typedCount: Int = 0, text: consuming SecretBytes? = nil
  ) {
    self.header = header
    self.secret = secret
    self.naming = naming
    isWeakCostMeant = header.kdf.map(KDFLimits.isWeak) ?? false
    self.holdsProtectedHalf = holdsProtectedHalf
    self.deviceSecret = deviceSecret
    self.typedCount = typedCount
    self.text = text
  }

  /// One that a TPM or a security key has its part of.
  init(
    chipped header: SlotHeader, _ secret: consuming SlotSecret, _ naming: SlotNaming,
    holdsProtectedHalf: Bool
  ) {
    self.init(header, secret, naming, holdsProtectedHalf: holdsProtectedHalf)
  }

  /// The recovery key as it is to be written down; without bytes for every other kind.
  public var recoveryKeyText: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch text {
      case .some(let text): text.bytes
      case .none: Span()
      }
    }
  }

  /// What opens it.
  public var kind: SlotKind { header.kind }

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
    let key = try sealed(payload, vault)
    let half = holdsProtectedHalf ? try sealed(protected, vault) : []
    return SlotRow(number: number, header: header.encoded, key: key, protected: half)
  }

  /// The same for one that opens no protected values.
  borrowing func row(
    _ number: UInt8, holding payload: borrowing SlotPayload, vault: VaultID
  ) throws(VaultError) -> SlotRow {
    let key = try sealed(payload, vault)
    return SlotRow(number: number, header: header.encoded, key: key, protected: [])
  }

  private borrowing func sealed(
    _ payload: borrowing SlotPayload, _ vault: VaultID
  ) throws(VaultError) -> [UInt8] {
    let plaintext = try fromFormat(.slot, payload.encode())
    return try AssociatedData.slotKey(vault: vault, header: header).sealPadded(
      plaintext.bytes, under: try secret.wrappingKey(vault, header), .slot)
  }

  private borrowing func sealed(
    _ protected: borrowing SecretBytes, _ vault: VaultID
  ) throws(VaultError) -> [UInt8] {
    try AssociatedData.slotProtected(vault: vault, header: header).seal(
      protected.bytes, under: try secret.protectedWrappingKey(vault, header), .slot)
  }

  /// What the ring is to note of the slot.
  borrowing func note(created: UInt64, label: [UInt8]) throws(VaultError) -> SlotNote {
    try fromFormat(
      .slot,
      SlotNote(
        slot: header.id, created: created, isWeakCostMeant: isWeakCostMeant, label: label,
        place: naming.place))
  }
}

extension SlotPayload {
  /// Reads what a slot holds.
  static func read(_ plaintext: Span<UInt8>) throws(VaultError) -> SlotPayload {
    try fromFormat(.slot, decode(plaintext))
  }

  /// What a slot is to hold of a vault key.
  static func of(
    _ vaultKey: borrowing Key, created: UInt64, label: [UInt8] = []
  ) throws(VaultError) -> SlotPayload {
    let key = try vaultKey.copied()
    do { return try SlotPayload(vaultKey: key, created: created, label: label) } catch {
      throw VaultError(error, about: .slot)
    }
  }
}

extension SlotSecret {
  /// The key that the vault key is wrapped with.
  borrowing func wrappingKey(_ vault: VaultID, _ header: SlotHeader) throws(VaultError) -> Key {
    try fromCrypto(.slot, keyEncryptionKey(vault: vault, header: header))
  }

  /// The key that the protected pair's secret half is wrapped with.
  borrowing func protectedWrappingKey(
    _ vault: VaultID, _ header: SlotHeader
  ) throws(VaultError) -> Key {
    try fromCrypto(.slot, protectedKeyEncryptionKey(vault: vault, header: header))
  }
}

/// Says what a slot is known by beside its number.
public struct SlotNaming: Equatable, Sendable {
  let label: [UInt8]
  let place: [UInt8]

  /// No name.
  public static let none = SlotNaming(label: [], place: [])

  private init(label: [UInt8], place: [UInt8]) {
    self.label = label
    self.place = place
  }

  /// - Parameters:
  ///   - label: What its owner calls it, as typed; normalised here.
  ///   - place: The absolute path of a key file, to tell later whether it is there; one that is too
  ///     long is not kept.
  /// - Throws: ``VaultError/labelInvalid(_:)``.
  public init(label: Span<UInt8>, place: Span<UInt8> = Span()) throws(VaultError) {
    self.label = try fromFormat(.slot, SlotLabel.prepare(label))
    self.place = place.count > SlotNote.longestPlace ? [] : [UInt8](copying: place)
  }
}

// MARK: - Kinds

extension PreparedSlot {
  /// A slot for a passcode; slow.
  ///
  /// - Parameters:
  ///   - passcode: As typed, without a line end; prepared here, only borrowed.
  ///   - kdf: What a guess is to cost.
  ///   - allowsWeak: Whether it may cost less than `KDFLimits.floor`.
  ///   - naming: What it is to be known by; without a label, one that takes another's place keeps that
  ///     one's.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/passcodeInvalid(_:)``, ``VaultError/kdfTooWeak``,
  ///   ``VaultError/kdfRefused(_:)``, ``VaultError/outOfMemory``.
  public static func passcode(
    _ passcode: borrowing SecretBytes, kdf: KDFParameters, allowsWeak: Bool = false,
    naming: SlotNaming = .none, availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> PreparedSlot {
    try check(kdf, allowsWeak, availableMemory)
    let prepared = try fromFormat(.slot, Passcode.prepare(passcode.bytes))
    let header = try SlotHeader.fresh(.passcode, kdf)
    let secret = try fromCrypto(
      .slot, SlotSecret(passcode: prepared.bytes, salt: header.salt, cost: kdf))
    return PreparedSlot(header, secret, naming)
  }

  /// A slot for a fresh recovery key.
  ///
  /// - Throws: ``VaultError/outOfMemory``, ``VaultError/entropyUnavailable``.
  public static func recoveryKey(naming: SlotNaming = .none) throws(VaultError) -> PreparedSlot {
    let key = try fromCrypto(.slot, RecoveryKey.random())
    let header = try SlotHeader.fresh(.recoveryKey, nil)
    let secret = try fromCrypto(.slot, SlotSecret(recoveryKey: key, salt: header.salt))
    return PreparedSlot(
      header, secret, naming, text: try fromFormat(.slot, key.text()))
  }

  /// A slot for a recovery key that is written down already.
  ///
  /// - Parameter typed: As typed; only borrowed.
  /// - Throws: ``VaultError/recoveryKeyTypo(_:)``, ``VaultError/outOfMemory``, ``VaultError/entropyUnavailable``.
  public static func recoveryKey(typed: borrowing SecretBytes) throws(VaultError) -> PreparedSlot {
    let key = try fromFormat(.slot, RecoveryKey.parse(typed.bytes))
    let header = try SlotHeader.fresh(.recoveryKey, nil)
    let secret = try fromCrypto(.slot, SlotSecret(recoveryKey: key, salt: header.salt))
    return PreparedSlot(header, secret, .none)
  }

  /// A slot for a key file.
  ///
  /// - Parameters:
  ///   - file: The file's bytes; only borrowed.
  ///   - withProtected: Whether it opens protected values, too.
  ///   - naming: What it is to be known by.
  /// - Throws: ``VaultError/keyFileTooShort``, ``VaultError/outOfMemory``.
  public static func keyFile(
    _ file: borrowing SecretBytes, withProtected: Bool = false, naming: SlotNaming = .none
  ) throws(VaultError) -> PreparedSlot {
    guard file.count >= Credential.leastKeyFile else { throw .keyFileTooShort }
    let header = try SlotHeader.fresh(.keyFile, nil)
    let secret = try fromCrypto(.slot, SlotSecret(keyFile: file.bytes, salt: header.salt))
    return PreparedSlot(
      header, secret, naming, holdsProtectedHalf: withProtected, typedCount: file.count)
  }

  /// A slot for a short code beside a fresh secret of this machine; slow.
  ///
  /// The secret reaches its file when the slot is put into the vault.
  ///
  /// - Parameters:
  ///   - code: As typed, `Credential.codeLengths` characters; only borrowed.
  ///   - kdf: What a guess is to cost.
  ///   - allowsWeak: Whether it may cost less than `KDFLimits.floor`.
  ///   - withProtected: Whether it opens protected values, too.
  ///   - naming: What it is to be known by.
  ///   - availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/codeTooShort``, ``VaultError/codeTooLong`` and those of a passcode.
  public static func local(
    _ code: borrowing SecretBytes, kdf: KDFParameters, allowsWeak: Bool = false,
    withProtected: Bool = false, naming: SlotNaming = .none,
    availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> PreparedSlot {
    try check(kdf, allowsWeak, availableMemory)
    let prepared = try fromFormat(.slot, Passcode.prepare(code.bytes))
    let length = prepared.bytes.characterCount
    guard length >= Credential.codeLengths.lowerBound else { throw .codeTooShort }
    guard length <= Credential.codeLengths.upperBound else { throw .codeTooLong }
    let header = try SlotHeader.fresh(.local, kdf)
    let device = try Key.fresh().finish()
    let secret = try fromCrypto(
      .slot,
      SlotSecret(
        code: prepared.bytes, device: device.bytes, salt: header.salt, cost: kdf))
    return PreparedSlot(
      header, secret, naming, holdsProtectedHalf: withProtected, deviceSecret: device,
      typedCount: code.bytes.isKeys ? code.count : 0)
  }

  static func check(
    _ kdf: KDFParameters, _ allowsWeak: Bool, _ availableMemory: UInt64?
  ) throws(VaultError) {
    guard allowsWeak || !KDFLimits.isWeak(kdf) else { throw .kdfTooWeak }
    try fromFormat(.slot, KDFLimits.check(kdf, available: availableMemory ?? .max))
  }
}

extension Span<UInt8> {
  /// Whether each byte is a visible character of ASCII.
  fileprivate var isKeys: Bool {
    for index in indices where !(0x21...0x7E).contains(self[index]) { return false }
    return true
  }
}

extension SlotHeader {
  /// The header of a new slot.
  fileprivate static func fresh(
    _ kind: SlotKind, _ kdf: KDFParameters?
  ) throws(VaultError) -> SlotHeader {
    SlotHeader(kind: kind, kdf: kdf, salt: try Salt.fresh(), id: try SlotID.fresh())
  }
}

extension VaultKey {
  /// Whether the slot opens protected values, too.
  public var opensProtected: Bool { !row.protected.isEmpty }

  /// The protected pair's secret half, if it is the vault's.
  borrowing func protectedHalf(
    of vault: borrowing UnlockedVault
  ) throws(VaultError) -> SecretBytes {
    let pair = ProtectedPair(secretHalf: try protectedHalf(vault: vault.id))
    try vault.keys.check(pair)
    return try protectedHalf(vault: vault.id)
  }

  /// Opens the protected pair's secret half out of the slot that the key came from.
  ///
  /// - Throws: ``VaultError/credentialStale`` when the slot does not hold it.
  borrowing func protectedHalf(vault: VaultID) throws(VaultError) -> SecretBytes {
    guard !row.protected.isEmpty else { throw .credentialStale }
    let header = try fromFormat(.slot, SlotHeader(decoding: row.header.span))
    return try AssociatedData.slotProtected(vault: vault, header: header).open(
      row.protected.span, under: try secret.protectedWrappingKey(vault, header), .slot)
  }
}
