// SPDX-License-Identifier: MIT

internal import KuraFormat

/// Ends a step of a session: something is wanted of the store first, or the vault cannot go on.
enum SyncStop: Error {
  case wish(SyncWish)
  case vault(VaultError)
}

/// Runs what only the vault can fail at.
func fromVault<Result: ~Copyable>(
  _ body: () throws(VaultError) -> Result
) throws(SyncStop) -> Result {
  do throws(VaultError) { return try body() } catch { throw .vault(error) }
}

/// Keeps what the store was asked for in a session, so that a step which had to wait can be begun again and comes to the
/// same.
struct SyncShelf {
  private var heads: [DeviceID]?
  private var objects: [DeviceID: Set<[UInt8]>] = [:]
  private var files: [RemotePath: [UInt8]?] = [:]
  /// Whose files it does not let us take away.
  private(set) var kept: Set<DeviceID> = []
  /// What was asked for last.
  private var wish: SyncWish?

  /// Takes what came of the last wish.
  ///
  /// - Throws: ``VaultError/copyDamaged`` for what answers another one.
  mutating func take(_ answer: SyncAnswer?) throws(VaultError) {
    // Nothing was asked at the beginning, or the step after the answer found the vault busy.
    guard let asked = wish else { return }
    wish = nil
    switch (asked, answer) {
    case (.heads, .paths(let paths)):
      heads = paths.compactMap { path in
        if case .head(let device) = path { device } else { nil }
      }
    case (.objects(let device), .paths(let paths)):
      objects[device] = Set(
        paths.compactMap { path in
          if case .object(device, let hash) = path { hash } else { nil }
        })
    case (.file(let path, let most), .file(let bytes)):
      files[path] = .some(bytes.count <= most ? bytes : nil)
    case (.file(let path, _), .missing): files[path] = .some(nil)
    case (.write(let path, _), .done):
      files[path] = nil
      if case .object(let device, let hash) = path { objects[device]?.insert(hash) }
    case (.nothing, _): break
    case (.delete(let path), .done), (.delete(let path), .kept):
      if answer == .kept { kept.insert(path.writer) }
      switch path {
      case .object(let device, let hash): objects[device]?.remove(hash)
      case .head(let device): heads?.removeAll { $0 == device }
      }
    default: throw .copyDamaged
    }
  }

  /// Notes a wish that goes out.
  mutating func ask(_ wish: SyncWish) { self.wish = wish }

  /// Whose heads there are.
  func listedHeads() throws(SyncStop) -> [DeviceID] {
    guard let heads else { throw .wish(.heads) }
    return heads
  }

  /// What a device has written, as far as the store says.
  func listedObjects(of device: DeviceID) throws(SyncStop) -> Set<[UInt8]> {
    guard let listed = objects[device] else { throw .wish(.objects(device)) }
    return listed
  }

  /// A file; nil where there is none, or one that is too long.
  func file(_ path: RemotePath, most: Int) throws(SyncStop) -> [UInt8]? {
    guard let known = files[path] else { throw .wish(.file(path, most: most)) }
    return known
  }

  /// Notes that an object is there, which a list had left out.
  mutating func list(_ hash: [UInt8], of device: DeviceID) {
    objects[device]?.insert(hash)
    forget(.object(device, hash: hash))
  }

  /// Forgets a file, which is not needed again or may be another one by now.
  mutating func forget(_ path: RemotePath) { files[path] = nil }
}
