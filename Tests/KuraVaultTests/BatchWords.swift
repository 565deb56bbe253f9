// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory

@testable import KuraVault

/// An item for a batch.
struct Given {
  let name: String
  let value: String
  let pairs: [String: String]
  var manner = BatchManner()

  init(_ name: String, _ value: String, _ pairs: [String: String] = [:]) {
    (self.name, self.value, self.pairs) = (name, value, pairs)
  }

  /// One that was kept elsewhere until now.
  init(
    _ name: String, _ value: String, _ pairs: [String: String] = [:], at time: UInt64,
    as kind: ItemKind = .value
  ) {
    self.init(name, value, pairs)
    manner = BatchManner(
      kind: kind, replacingAttributes: true, times: ItemTimes(created: 500, modified: time))
  }

  /// As a request has them.
  var attributes: [UInt8] {
    var bytes = [UInt8(pairs.count), 0]
    for (key, value) in pairs {
      bytes += [UInt8(key.utf8.count), 0] + Array(key.utf8)
      bytes += [UInt8(value.utf8.count), 0, 0, 0] + Array(value.utf8)
    }
    return bytes
  }
}

/// What became of a batch.
struct BatchResult: Equatable {
  var stored: Int
  var index: Int?
  var error: VaultError?
}

extension UnlockedVault {
  /// All revisions of an item, the value, kind, times and attributes of each.
  mutating func history(of name: String) throws(VaultError) -> [String] {
    var told: [(revision: UInt64, text: String)] = []
    let bytes = Array(name.utf8)
    _ = try eachRevision(of: bytes.span, after: 0, limit: 100) { item throws(VaultError) in
      var pairs: [String] = []
      var cursor = item.attributes.makeCursor()
      while cursor.advance() { pairs.append(text(of: cursor.key) + "=" + text(of: cursor.value)) }
      let kind = item.isDeleted ? "deleted" : item.isOTP ? "otp" : "value"
      let facts = "\(kind) \(item.created) \(item.modified) "
      told.append((item.revision, facts + pairs.sorted().joined(separator: " ")))
    }
    var all: [String] = []
    for (revision, text) in told {
      all.append(
        (text.hasPrefix("deleted") ? "" : try getText(name, revision: revision)) + " " + text)
    }
    return all
  }

  @discardableResult
  mutating func add(
    _ item: Given, to batch: inout PutBatch
  ) throws(VaultError) -> Bool {
    let (name, value) = (Array(item.name.utf8), Array(item.value.utf8))
    let attributes = item.attributes
    return try add(
      name.span, value: value.span, attributes: attributes.span,
      as: item.manner, to: &batch)
  }

  @discardableResult
  mutating func store(
    _ items: [Given], replacing: Bool = false
  ) throws(VaultError) -> BatchResult {
    var batch = try beginBatch(replacing: replacing)
    for item in items { guard try add(item, to: &batch) else { break } }
    while try advance(batch: &batch) {}
    return BatchResult(
      stored: batch.storedCount, index: batch.failure?.index, error: batch.failure?.error)
  }
}
