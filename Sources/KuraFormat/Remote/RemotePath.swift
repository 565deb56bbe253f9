// SPDX-License-Identifier: MIT

/// Says where in a store something stands; names of other shapes are nobody's.
public enum RemotePath: Equatable, Sendable {
  /// The head of a device.
  case head(DeviceID)
  /// An object that a device wrote, by its hash.
  case object(DeviceID, hash: [UInt8])

  private static let digits = Array("0123456789abcdef".utf8)

  /// The name below which all of a vault stands.
  public static func root(of vault: VaultID) -> String { "kura-" + hexadecimal(vault.bytes) }

  /// The name below the vault's.
  public var text: String {
    switch self {
    case .head(let device): "heads/" + RemotePath.hexadecimal(device.bytes)
    case .object(let device, let hash):
      "objects/" + RemotePath.hexadecimal(device.bytes) + "/"
        + RemotePath.hexadecimal(Array(hash.prefix(1))) + "/" + RemotePath.hexadecimal(hash)
    }
  }

  /// Reads a name below the vault's; nil for one of another shape, as carriers make them.
  public init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    guard parts.count >= 2, let id = RemotePath.bytes(parts[1], count: identifierByteCount) else {
      return nil
    }
    let device = DeviceID(id.span)
    if parts.count == 2, parts[0].elementsEqual("heads".utf8) {
      self = .head(device)
      return
    }
    guard parts.count == 4, parts[0].elementsEqual("objects".utf8),
      let hash = RemotePath.bytes(parts[3], count: RemoteObject.nameByteCount),
      parts[2].elementsEqual(parts[3].prefix(2))
    else { return nil }
    self = .object(device, hash: hash)
  }

  private static func hexadecimal(_ bytes: [UInt8]) -> String {
    let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
    return String(decoding: text, as: UTF8.self)
  }

  private static func bytes(_ text: Substring.UTF8View, count: Int) -> [UInt8]? {
    let values = text.compactMap { digits.firstIndex(of: $0) }
    guard text.count == 2 * count, values.count == 2 * count else { return nil }
    return (0..<count).map { UInt8(values[2 * $0] << 4 | values[2 * $0 + 1]) }
  }
}
