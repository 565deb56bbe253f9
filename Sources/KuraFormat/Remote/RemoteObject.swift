// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Frames what machines leave for each other in a store: see kura-sync-format(5).
public enum RemoteObject {
  /// Names what an object is.
  public enum Kind: UInt8, CaseIterable, Sendable {
    /// Items, settings and slots that changed.
    case pack = 1
    /// Chunks of a long value.
    case piece = 2
    /// Under which key all else is sealed, and who had which key before.
    case epochRecord = 3
    /// The vault's header and slots, with which a new machine begins.
    case header = 4
    /// What a device changed, for itself.
    case journal = 5
    /// The heads that a device wrote.
    case chain = 6

    /// The most bytes of such an object.
    public var longest: Int {
      switch self {
      case .pack: 4_194_304
      case .piece: 1_114_112
      case .epochRecord: 131_072
      case .header: 1_048_576
      case .journal: 32_768
      case .chain: RemoteObject.frameByteCount + RemoteBlock.count * identifierByteCount
      }
    }
  }

  /// The bytes in front of a body.
  public static let frameByteCount = 32
  /// The bytes of a name.
  public static let nameByteCount = 32

  private static let magic = Array("KURAOBJ1".utf8)

  /// The whole object.
  ///
  /// - Parameters:
  ///   - kind: What it is.
  ///   - epoch: The one that it belongs to.
  ///   - body: What is in it, sealed where the kind is.
  /// - Throws: ``FormatError/valueTooLarge`` for more than the kind may have.
  public static func encode(
    _ kind: Kind, in epoch: DeviceTable.Epoch, body: Span<UInt8>
  ) throws(FormatError) -> [UInt8] {
    guard frameByteCount + body.count <= kind.longest else { throw .valueTooLarge }
    var bytes: [UInt8] = []
    bytes.reserveCapacity(frameByteCount + body.count)
    bytes += magic
    bytes.append(kind.rawValue)
    bytes.append(zeros: 7)
    bytes.append(epoch)
    bytes.append(span: body)
    return bytes
  }

  /// What an object is found by: the hash of all its bytes.
  ///
  /// - Throws: ``FormatError/outOfMemory``.
  public static func name(of bytes: Span<UInt8>) throws(FormatError) -> [UInt8] {
    do {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: nameByteCount)
      hash.update(bytes)
      return hash.finalize().bytes
    } catch { throw .outOfMemory }
  }

  private static func check(_ byteCount: Int, of kind: Kind) throws(FormatError) {
    guard byteCount <= kind.longest else { throw .damaged }
  }

  /// The body of an object, which is the one that was looked for.
  ///
  /// - Parameters:
  ///   - bytes: All that was found under the name.
  ///   - kind: What it has to be.
  ///   - epoch: The one that it has to belong to; nil for any, of what a device keeps through all of them.
  ///   - name: The hash that it has to have; nothing is parsed before.
  /// - Throws: ``FormatError/damaged``, ``FormatError/outOfMemory``.
  @_lifetime(copy bytes)
  public static func body(
    of bytes: Span<UInt8>, _ kind: Kind, in epoch: DeviceTable.Epoch?, named name: [UInt8]
  ) throws(FormatError) -> Span<UInt8> {
    try check(bytes.count, of: kind)
    let hash = try self.name(of: bytes)
    guard hash == name else { throw .damaged }
    return try body(of: bytes, kind, in: epoch)
  }

  /// The body of an object whose hash is somebody else's care.
  ///
  /// - Parameters: As for ``body(of:_:in:named:)``.
  /// - Throws: ``FormatError/damaged``.
  @_lifetime(copy bytes)
  public static func body(
    of bytes: Span<UInt8>, _ kind: Kind, in epoch: DeviceTable.Epoch?
  ) throws(FormatError) -> Span<UInt8> {
    try check(bytes.count, of: kind)
    var reader = ByteReader(bytes)
    for byte in magic where try reader.integer(UInt8.self) != byte { throw .damaged }
    guard try reader.integer(UInt8.self) == kind.rawValue else { throw .damaged }
    try reader.zeros(7)
    let found: DeviceTable.Epoch = try reader.identifier()
    guard found == epoch ?? found else { throw .damaged }
    return bytes.extracting(droppingFirst: reader.offset)
  }
}
