// SPDX-License-Identifier: MIT

import KuraFormat

@testable import KuraVault

/// What all folders would have if everything were carried, in the order in which it came.
struct TrialHub {
  fileprivate(set) var files: [RemotePath: [UInt8]] = [:]
  fileprivate(set) var paths: [RemotePath] = []
  /// Objects that are gone.
  private var former: [(path: RemotePath, bytes: [UInt8])] = []

  mutating func set(_ path: RemotePath, _ bytes: [UInt8]?) {
    if bytes == nil {
      if case .object = path, let gone = files[path] { former.append((path, gone)) }
      paths.removeAll { $0 == path }
    }
    if bytes != nil, files[path] == nil { paths.append(path) }
    files[path] = bytes
  }

  /// Loses a file for good.
  mutating func lose(_ path: RemotePath) { set(path, nil) }

  /// Brings one back that is gone, as a carrier does for which it never went.
  mutating func double(_ dice: inout SystemDice) {
    guard !former.isEmpty else { return }
    let (path, bytes) = former.remove(at: dice.below(former.count))
    if files[path] == nil { set(path, bytes) }
  }
}

/// Keeps one machine's copy of the store, and carries what changed, when it comes to that.
final class TrialFolder {
  let store = TestStore()
  /// What was changed here and is not carried yet, the oldest first.
  private var pending: [RemotePath] = []

  func noteWrites() {
    for path in store.takeChanges() where !pending.contains(path) { pending.append(path) }
  }

  /// Becomes a copy of another one.
  func copy(_ other: TrialFolder) { (store.files, pending) = (other.store.files, other.pending) }

  /// Loses a file for good.
  func lose(_ path: RemotePath) {
    store.files[path] = nil
    pending.removeAll { $0 == path }
  }

  /// Carries so many of a hundred files both ways; of some only the first half comes at first.
  ///
  /// - Returns: Whether a file was carried.
  func carry(_ hub: inout TrialHub, _ portion: Int, _ dice: inout SystemDice) -> Bool {
    var count = 0
    var left: [RemotePath] = []
    for path in pending {
      guard dice.below(100) < portion else {
        left.append(path)
        continue
      }
      count += 1
      let bytes = store.files[path]
      if let bytes, portion < 100, dice.below(8) == 0 {
        hub.set(path, Array(bytes.prefix(bytes.count / 2)))
        left.append(path)
      } else {
        hub.set(path, bytes)
      }
    }
    pending = left
    let gone = store.files.keys.filter { hub.files[$0] == nil }.sorted { $0.text < $1.text }
    for path in hub.paths + gone where !pending.contains(path) {
      guard hub.files[path] != store.files[path], dice.below(100) < portion else { continue }
      count += 1
      let bytes = hub.files[path]
      let isHalf = portion < 100 && dice.below(8) == 0
      store.files[path] = isHalf ? bytes.map { Array($0.prefix($0.count / 2)) } : bytes
    }
    return count > 0
  }
}

extension RemotePath {
  func isObject(of device: DeviceID) -> Bool {
    if case .object(device, _) = self { true } else { false }
  }
}
