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
    case .keyFile, .local, .tpm2, .fido2:
      key == Self.keyByteCount && [0, Self.halfByteCount].contains(protected)
    case .disabled: protected == 0 && key > 0
    // What a later release keeps there is its own affair.
    case .later: true
    }
  }
}

extension KDFParameters {
  /// Whether Argon2id has such a cost at all; what it does not have is damage, and no high price.
  var isPossible: Bool {
    passes >= 1 && memory >= KDFLimits.leastMemory && memory.isMultiple(of: 1024)
  }
}

/// Holds what a key slot says of itself without a key: 48 bytes, and behind them what a TPM made of its part of the slot's
/// secret, or what a security key made; all of it is bound into the slot's key.
public struct SlotHeader: Equatable, Sendable {
  /// The encoded length without what a chip made, in bytes.
  public static let byteCount = 48
  /// The longest part of that, in bytes.
  public static let longestBody = 2_048
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
  /// What its machine's TPM has made of the secret that it gives back; nil for every other kind.
  public let chip: ChipObject?
  /// What a security key has made for the slot; nil for every other kind.
  public let credential: KeyCredential?

  /// A header.
  ///
  /// - Parameters:
  ///   - kdf: Given for a passcode or a local slot, `nil` for a recovery key or key file; of a TPM's slot where it takes
  ///     a code.
  ///   - chip: Given for a TPM's slot.
  ///   - credential: Given for a security key's.
  public init(
    kind: SlotKind, kdf: KDFParameters?, salt: Salt, id: SlotID, chip: ChipObject? = nil,
    credential: KeyCredential? = nil
  ) {
    precondition(kind.isKnown, "slots of later releases are kept, not made")
    precondition(SlotHeader.fits(kind, hasKDF: kdf != nil), "a kind of slot fixes its derivation")
    precondition((chip != nil) == (kind == .tpm2), "a TPM's part is of a TPM's slot")
    precondition((credential != nil) == (kind == .fido2), "a security key's part is of its slot")
    self.chip = chip
    self.credential = credential
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
    chip = nil
    credential = nil
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
    guard var kind = SlotKind(ofHeader: try reader.integer()) else { throw .damaged }
    if kind == .tpm2 || kind == .fido2 {
      if let header = try? SlotHeader(ofHardware: bytes, kind) {
        self = header
        return
      }
      // Of another shape it is a later release's.
      kind = .later
    }
    self.kind = kind
    chip = nil
    credential = nil
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
    (kdf, salt, id) = try SlotHeader.readFront(&reader, kind)
    try reader.finish()
  }

  /// Reads a header of a slot of a TPM, or of a security key.
  private init(ofHardware bytes: Span<UInt8>, _ kind: SlotKind) throws(FormatError) {
    var reader = ByteReader(bytes)
    _ = try reader.integer(UInt8.self)
    self.kind = kind
    (kdf, salt, id) = try SlotHeader.readFront(&reader, kind)
    var body = ByteReader(try reader.counted16(limit: SlotHeader.longestBody))
    chip = kind == .tpm2 ? try ChipObject(&body) : nil
    credential = kind == .fido2 ? try KeyCredential(&body) : nil
    try body.finish()
    try reader.finish()
  }

  /// What stands behind the kind in the first 48 bytes.
  private static func readFront(
    _ reader: inout ByteReader, _ kind: SlotKind
  ) throws(FormatError) -> (KDFParameters?, Salt, SlotID) {
    let number = try reader.integer(UInt8.self)
    try reader.zeros(2)
    let passes = try reader.integer(UInt32.self)
    let memory = try reader.integer(UInt64.self)
    let kdf: KDFParameters?
    switch number {
    case 0 where passes == 0 && memory == 0: kdf = nil
    case argon2id:
      let cost = KDFParameters(memory: memory, passes: passes)
      guard cost.isPossible else { throw .damaged }
      kdf = cost
    default: throw .damaged
    }
    guard fits(kind, hasKDF: kdf != nil) else { throw .damaged }
    return (kdf, try reader.identifier(), try reader.identifier())
  }

  /// The header's bytes: 48, and what a chip made, with its length before it.
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
    guard let body = chip?.encoded ?? credential?.encoded else { return bytes }
    bytes.append(integer: UInt16(body.count))
    return bytes + body
  }

  private static func fits(_ kind: SlotKind, hasKDF: Bool) -> Bool {
    switch kind {
    case .passcode, .local: hasKDF
    case .recoveryKey, .keyFile: !hasKDF
    case .tpm2: true
    case .fido2, .disabled, .later: !hasKDF
    }
  }
}

extension ChipObject {
  /// Reads the part of a header that is a TPM's.
  fileprivate init(_ reader: inout ByteReader) throws(FormatError) {
    var parts: [[UInt8]] = []
    for _ in 0..<3 {
      var part: [UInt8] = []
      part.append(span: try reader.counted16(limit: ChipObject.longestPart))
      parts.append(part)
    }
    let object = ChipObject(storageKey: parts[0], publicArea: parts[1], privateArea: parts[2])
    guard let object else { throw .damaged }
    self = object
  }

  /// Its bytes behind a header.
  fileprivate var encoded: [UInt8] {
    var body: [UInt8] = []
    for part in [storageKey, publicArea, privateArea] {
      body.append(integer: UInt16(part.count))
      body += part
    }
    return body
  }
}

extension KeyCredential {
  /// Reads the part of a header that is a security key's.
  fileprivate init(_ reader: inout ByteReader) throws(FormatError) {
    let flags = try reader.integer(UInt8.self)
    var id: [UInt8] = []
    id.append(span: try reader.counted16(limit: KeyCredential.longestID))
    guard flags <= 1, let credential = KeyCredential(id: id, isVerified: flags == 1) else {
      throw .damaged
    }
    self = credential
  }

  /// Its bytes behind a header.
  fileprivate var encoded: [UInt8] {
    var body: [UInt8] = [isVerified ? 1 : 0]
    body.append(integer: UInt16(id.count))
    return body + id
  }
}
