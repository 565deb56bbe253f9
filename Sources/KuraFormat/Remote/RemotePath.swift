// SPDX-License-Identifier: MIT

internal import KuraTerms

/// Says where in a store something stands; names of other shapes are nobody's.
public enum RemotePath: Hashable, Sendable {
  /// The head of a device.
  case head(DeviceID)
  /// An object that a device wrote, by its hash.
  case object(DeviceID, hash: [UInt8])

  /// Whose it is.
  public var writer: DeviceID {
    switch self {
    case .head(let device), .object(let device, _): device
    }
  }

  /// The name below which all of a vault stands.
  public static func root(of vault: VaultID) -> String { StorePlace.root(of: vault.bytes) }

  /// The name below the vault's.
  public var text: String {
    switch self {
    case .head(let device): StorePlace.head(device: device.bytes).text
    case .object(let device, let hash): StorePlace.object(device: device.bytes, hash: hash).text
    }
  }

  /// Reads a name below the vault's; nil for one of another shape, as carriers make them.
  public init?(_ text: String) {
    switch StorePlace(text) {
    case .head(let device): self = .head(DeviceID(device.span))
    case .object(let device, let hash): self = .object(DeviceID(device.span), hash: hash)
    case nil: return nil
    }
  }
}
