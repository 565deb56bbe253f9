// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

// What is left over once all that belongs to items was found: nothing may be.
extension Verification {
  /// How many keys are read at a time.
  private static let keyBatch = 100

  /// Counts the rows of the history. All that belong to items are there, so that more of them are too
  /// many.
  mutating func countHistory() throws(VaultError) {
    var last = lastPair
    let count = try fromStorage(
      storage.historyKeys(after: lastPair, limit: Self.keyBatch) { last = $0 })
    lastPair = last
    keyCount += UInt64(count)
    budget -= Self.keyBatch
    guard count < Self.keyBatch else { return }
    if keyCount == historyCount { return finishPhase() }
    try fromStorage(storage.scanItems(from: Span()))
    phase = .knownHistory
  }

  /// Lists the rows of the history that some more items know of, which only a damaged vault takes.
  mutating func gatherHistory() throws(VaultError) {
    while budget > 0 {
      budget -= 1
      do throws(VaultError) {
        guard let keys = try storage.nextHistoryKeys() else {
          lastPair = .first
          phase = .extraHistory
          return
        }
        expectedHistory.formUnion(keys)
      } catch {
        guard error.isDamageOfRow else { throw error }
      }
    }
  }

  /// Names the rows of the history that no item knows of.
  mutating func nameExtraHistory() throws(VaultError) {
    var found: [KeyPair] = []
    let count = try fromStorage(
      storage.historyKeys(after: lastPair, limit: Self.keyBatch) { found.append($0) })
    for key in found where !expectedHistory.contains(key) {
      try findings.add(.extraHistory, "revision \(key.number) of item \(hexadecimal(key.id))")
    }
    lastPair = found.last ?? lastPair
    budget -= Self.keyBatch
    if count < Self.keyBatch { finishPhase() }
  }

  /// Checks that every chunk belongs to a value of an item, or to one that is marked as an orphan.
  mutating func checkChunkKeys() throws(VaultError) {
    var found: [KeyPair] = []
    let count = try fromStorage(
      storage.chunkKeys(after: lastPair, limit: Self.keyBatch) { found.append($0) })
    for key in found where key.id != reportedValue {
      if try isKnown(key) { continue }
      reportedValue = key.id
      try findings.add(.extraChunk, "value \(hexadecimal(key.id))")
    }
    lastPair = found.last ?? lastPair
    budget -= Self.keyBatch
    if count < Self.keyBatch { finishPhase() }
  }

  private mutating func isKnown(_ chunk: KeyPair) throws(VaultError) -> Bool {
    guard chunk.id.count == 16, chunk.number >= 0 else { return false }
    if let count = values[ValueID(chunk.id.span)] { return UInt64(chunk.number) < count }
    return try fromStorage(storage.isOrphan(chunk.id.span))
  }

  /// Checks that the tree knows of every bucket.
  mutating func checkBuckets(_ keys: borrowing Keyring) throws(VaultError) {
    let found = try fromStorage(storage.bucketKeys(after: lastKey, limit: Self.keyBatch))
    for number in found {
      let isKnown = try isKnown(level: root.depth, index: number, keys)
      if !isKnown { try findings.add(.extraTree, "bucket \(number)") }
    }
    lastKey = found.last ?? lastKey
    budget -= Self.keyBatch
    if found.count < Self.keyBatch { finishPhase() }
  }

  /// Checks that the tree knows of every node.
  mutating func checkNodes(_ keys: borrowing Keyring) throws(VaultError) {
    let found = try fromStorage(storage.nodeKeys(after: lastKey, limit: Self.keyBatch))
    for id in found {
      let (level, index) = (id >> 32, id & 0xFFFF_FFFF)
      let isLevel = (0..<Int64(root.depth)).contains(level)
      let isKnown = isLevel ? try isKnown(level: UInt8(level), index: index, keys) : false
      if !isKnown { try findings.add(.extraTree, "node \(level)/\(index)") }
    }
    lastKey = found.last ?? lastKey
    budget -= Self.keyBatch
    if found.count < Self.keyBatch { finishPhase() }
  }

  /// Whether a node, or at the level of the depth a bucket, has a digest other than zero.
  private mutating func isKnown(
    level: UInt8, index: Int64, _ keys: borrowing Keyring
  ) throws(VaultError) -> Bool {
    guard (0..<(1 << (6 * Int64(level)))).contains(index) else { return false }
    let bucket = UInt32(index) << (6 * UInt32(root.depth - level))
    do throws(VaultError) {
      let digest = try tree.digest(
        atLevel: level, above: bucket, under: root, in: &storage, keys)
      return digest != .zero
    } catch {
      guard error.isDamage else { throw error }
      // The node above it is broken, which was found before.
      return true
    }
  }

  /// Checks that no value of an item is about to be swept.
  mutating func checkOrphans() throws(VaultError) {
    let next: [UInt8]?
    do { next = try storage.orphan(after: lastOrphan) } catch {
      guard case .damaged = error else { throw VaultError(error) }
      try findings.add(.loose, "a value id of a wrong length")
      return finishPhase()
    }
    guard let value = next else { return finishPhase() }
    lastOrphan = value
    budget -= 1
    if values[ValueID(value.span)] != nil {
      try findings.add(.loose, "value \(hexadecimal(value))")
    }
  }
}

/// Bytes as lower-case hexadecimal digits.
private func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef".utf8)
  let text = bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  return String(decoding: text, as: UTF8.self)
}
