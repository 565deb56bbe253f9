// SPDX-License-Identifier: MIT

/// What opens a key slot.
public enum SlotKind: UInt8, Sendable {
  /// A passcode, through Argon2id.
  case passcode = 1
  /// 160 random bits on paper.
  case recoveryKey = 2
  /// The bytes of a file, at least 32 of them.
  case keyFile = 3
  /// A short code and this machine's device secret.
  case local = 4
  /// Reserved for a TPM.
  case tpm2 = 5
  /// Reserved for a security key.
  case fido2 = 6
}

/// What a guess at a passcode costs.
public struct KDFParameters: Equatable, Sendable {
  /// Memory in bytes, a multiple of 1,024.
  public let memory: UInt64
  /// Passes over that memory.
  public let passes: UInt32

  /// Any cost; ``KDFLimits`` judges it.
  public init(memory: UInt64, passes: UInt32) {
    self.memory = memory
    self.passes = passes
  }
}

/// What a key slot says of itself without a key: 48 bytes, all bound into its key.
public struct SlotHeader: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 48

  private static let argon2id: UInt8 = 1

  /// What opens the slot.
  public let kind: SlotKind
  /// Argon2id's cost, `nil` where no key derivation is needed.
  public let kdf: KDFParameters?
  /// The slot's salt.
  public let salt: Salt
  /// The slot's id.
  public let id: SlotID

  /// A header.
  ///
  /// - Parameter kdf: Given for a passcode or a local slot, `nil` for a recovery key or key file.
  public init(kind: SlotKind, kdf: KDFParameters?, salt: Salt, id: SlotID) {
    precondition(SlotHeader.fits(kind, hasKDF: kdf != nil), "a kind of slot fixes its derivation")
    self.kind = kind
    self.kdf = kdf
    self.salt = salt
    self.id = id
  }

  /// Reads a header; its cost is not judged yet.
  ///
  /// - Throws: ``FormatError/damaged``.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard let kind = SlotKind(rawValue: try reader.integer()) else { throw .damaged }
    let kdf = try reader.integer(UInt8.self)
    try reader.zeros(2)
    let passes = try reader.integer(UInt32.self)
    let memory = try reader.integer(UInt64.self)
    switch kdf {
    case 0 where passes == 0 && memory == 0: self.kdf = nil
    case SlotHeader.argon2id: self.kdf = KDFParameters(memory: memory, passes: passes)
    default: throw .damaged
    }
    guard SlotHeader.fits(kind, hasKDF: self.kdf != nil) else { throw .damaged }
    self.kind = kind
    salt = try reader.identifier()
    id = try reader.identifier()
    try reader.finish()
  }

  /// The header's 48 bytes.
  public var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(SlotHeader.byteCount)
    bytes.append(kind.rawValue)
    bytes.append(kdf == nil ? 0 : SlotHeader.argon2id)
    bytes.append(zeros: 2)
    bytes.append(integer: kdf?.passes ?? 0)
    bytes.append(integer: kdf?.memory ?? 0)
    bytes.append(salt)
    bytes.append(id)
    return bytes
  }

  private static func fits(_ kind: SlotKind, hasKDF: Bool) -> Bool {
    switch kind {
    case .passcode, .local: hasKDF
    case .recoveryKey, .keyFile: !hasKDF
    case .tpm2, .fido2: true
    }
  }
}
