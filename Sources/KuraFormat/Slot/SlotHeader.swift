// SPDX-License-Identifier: MIT

extension SlotKind {
  /// The kind that a header's first byte names; nil for none.
  fileprivate init?(ofHeader byte: UInt8) {
    guard byte > 0 else { return nil }
    self = SlotKind(rawValue: byte) ?? .later
  }

  /// The vault key, sealed and padded to 256 bytes.
  private static let keyByteCount = 328
  /// The protected pair's secret half, sealed.
  private static let halfByteCount = 104

  /// Whether the sealed parts of a slot of this kind are as long as they have to be.
  ///
  /// - Parameters:
  ///   - key: The bytes of the sealed vault key.
  ///   - protected: Those of the sealed protected half.
  public func hasShape(key: Int, protected: Int) -> Bool {
    switch self {
    case .passcode, .recoveryKey: key == Self.keyByteCount && protected == Self.halfByteCount
    case .keyFile, .local:
      key == Self.keyByteCount && [0, Self.halfByteCount].contains(protected)
    case .disabled: protected == 0 && key > 0
    // What a later release keeps there is its own affair.
    case .tpm2, .fido2, .later: true
    }
  }
}

extension KDFParameters {
  /// Whether Argon2id has such a cost at all; what it does not have is damage, and no high price.
  var isPossible: Bool {
    passes >= 1 && memory >= KDFLimits.leastMemory && memory.isMultiple(of: 1024)
  }
}

/// Holds what a key slot says of itself without a key: 48 bytes, all bound into its key.
public struct SlotHeader: Equatable, Sendable {
  /// The encoded length, in bytes.
  public static let byteCount = 48
  /// The longest header of a kind that only a later release knows, in bytes.
  public static let longestLater = 65_536

  private static let argon2id: UInt8 = 1

  /// What opens the slot.
  public let kind: SlotKind
  /// Argon2id's cost, `nil` where no key derivation is needed, or none that this release would make.
  public let kdf: KDFParameters?
  /// The slot's salt.
  public let salt: Salt
  /// The slot's id.
  public let id: SlotID

  /// A header.
  ///
  /// - Parameter kdf: Given for a passcode or a local slot, `nil` for a recovery key or key file.
  public init(kind: SlotKind, kdf: KDFParameters?, salt: Salt, id: SlotID) {
    precondition(kind.isKnown, "slots of later releases are kept, not made")
    precondition(SlotHeader.fits(kind, hasKDF: kdf != nil), "a kind of slot fixes its derivation")
    self.kind = kind
    self.kdf = kdf
    self.salt = salt
    self.id = id
  }

  /// The header of a slot that is put out of use: nothing of it stands in clear but its id.
  public init(disabled id: SlotID) {
    kind = .disabled
    kdf = nil
    salt = .zero
    self.id = id
  }

  /// Reads a header; whether its cost is one to be paid is not judged yet.
  ///
  /// Of a kind that only a later release knows nothing is read but the slot's id, and ``encoded`` is not
  /// what was read.
  ///
  /// - Throws: ``FormatError/damaged``, also for a cost that Argon2id does not have.
  public init(decoding bytes: Span<UInt8>) throws(FormatError) {
    var reader = ByteReader(bytes)
    guard let kind = SlotKind(ofHeader: try reader.integer()) else { throw .damaged }
    self.kind = kind
    if kind == .disabled {
      try reader.zeros(15)
      kdf = nil
      salt = try reader.identifier()
      id = try reader.identifier()
      guard salt == .zero else { throw .damaged }
      try reader.finish()
      return
    }
    guard kind.isKnown else {
      guard bytes.count <= SlotHeader.longestLater else { throw .damaged }
      _ = try reader.take(15)
      kdf = nil
      salt = try reader.identifier()
      id = try reader.identifier()
      return
    }
    let kdf = try reader.integer(UInt8.self)
    try reader.zeros(2)
    let passes = try reader.integer(UInt32.self)
    let memory = try reader.integer(UInt64.self)
    switch kdf {
    case 0 where passes == 0 && memory == 0: self.kdf = nil
    case SlotHeader.argon2id:
      let cost = KDFParameters(memory: memory, passes: passes)
      guard cost.isPossible else { throw .damaged }
      self.kdf = cost
    default: throw .damaged
    }
    guard SlotHeader.fits(kind, hasKDF: self.kdf != nil) else { throw .damaged }
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
    case .tpm2, .fido2, .disabled, .later: !hasKDF
    }
  }
}
