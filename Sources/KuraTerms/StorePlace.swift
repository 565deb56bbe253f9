// SPDX-License-Identifier: MIT

/// Says where in a store something of a vault stands: see kura-sync-format(5). Names of other shapes are nobody's.
public enum StorePlace: Equatable, Sendable {
  /// The head of a device.
  case head(device: [UInt8])
  /// An object that a device wrote, by its hash.
  case object(device: [UInt8], hash: [UInt8])

  /// The bytes of the id of a vault or device.
  public static let identifierByteCount = 16
  /// The bytes of a hash.
  public static let hashByteCount = 32
  /// The name below which all heads stand.
  public static let heads = "heads"

  private static let digits = Array("0123456789abcdef".utf8)

  /// The name below which all of a vault stands.
  public static func root(of vault: [UInt8]) -> String { "kura-" + hexadecimal(vault) }

  /// The id of the vault of which all stands below a name; nil for a name of another shape.
  public static func vault(at root: String) -> [UInt8]? {
    let name = root.utf8
    guard name.starts(with: "kura-".utf8) else { return nil }
    return bytes(name.dropFirst(5), count: identifierByteCount)
  }

  /// The name below which the objects of a device stand.
  public static func objects(of device: [UInt8]) -> String { "objects/" + hexadecimal(device) }

  /// The device whose objects stand below a name; nil for a name of another shape.
  public static func device(at name: String) -> [UInt8]? {
    guard name.utf8.starts(with: "objects/".utf8) else { return nil }
    return bytes(name.utf8.dropFirst(8), count: identifierByteCount)
  }

  /// Whose it is.
  public var device: [UInt8] {
    switch self {
    case .head(let device), .object(let device, _): device
    }
  }

  /// The name below the vault's.
  public var text: String {
    switch self {
    case .head(let device): StorePlace.heads + "/" + StorePlace.hexadecimal(device)
    case .object(let device, let hash):
      StorePlace.objects(of: device) + "/" + StorePlace.hexadecimal(Array(hash.prefix(1))) + "/"
        + StorePlace.hexadecimal(hash)
    }
  }

  /// Reads a name below the vault's; nil for one of another shape, as carriers make them.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    let count = StorePlace.identifierByteCount
    guard parts.count >= 2, let device = StorePlace.bytes(parts[1], count: count) else {
      return nil
    }
    if parts.count == 2, parts[0].elementsEqual(StorePlace.heads.utf8) {
      self = .head(device: device)
      return
    }
    guard parts.count == 4, parts[0].elementsEqual("objects".utf8),
      let hash = StorePlace.bytes(parts[3], count: StorePlace.hashByteCount),
      parts[2].elementsEqual(parts[3].prefix(2))
    else { return nil }
    self = .object(device: device, hash: hash)
  }

  /// The id that lower-case digits are; nil for none.
  public static func identifier(_ text: String) -> [UInt8]? {
    bytes(text[...].utf8, count: identifierByteCount)
  }

  /// Bytes in lower-case digits.
  public static func hexadecimal(_ bytes: [UInt8]) -> String {
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(_ text: Substring.UTF8View, count: Int) -> [UInt8]? {
    let values = text.compactMap { digits.firstIndex(of: $0) }
    guard text.count == 2 * count, values.count == 2 * count else { return nil }
    return (0..<count).map { UInt8(values[2 * $0] << 4 | values[2 * $0 + 1]) }
  }
}
