// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Gives the long values of a vault that becomes another one other ids and keys, and seals their chunks anew.
///
/// Which id and key come of which is decided by a key that is gone with it: revisions that share a value go on sharing
/// it, and nobody can tell afterwards which value it was.
final class MovedValues {
  /// How many keys of chunks are read at a time.
  private static let keyBatch = 100
  /// How many chunks that nobody names are deleted at a time.
  private static let leftoverBatch = 4

  private let key: Key
  /// The ids that values have from now on.
  private var moved: Set<ValueID> = []
  /// Values whose chunks are yet to be sealed anew, the one at hand last.
  private var pending: [MovingValue] = []
  private var last = KeyPair.first
  private var areLeftoversGone = false

  init() throws(VaultError) { key = try Key.fresh() }

  /// Whether chunks are yet to be sealed anew.
  var isPending: Bool { !pending.isEmpty }

  /// A standard body, of form 0 or 1, as it is to be from now on.
  func moved(_ body: consuming SecretBytes) throws(VaultError) -> SecretBytes {
    guard try ItemBody.chunkedValue(in: body, .standard, of: .first) != nil else { return body }
    guard case .chunked(let manifest) = try ItemBody.read(body) else { throw .damaged(.item) }
    let next = Manifest(
      length: manifest.length, value: try id(for: manifest.value),
      key: try secret(for: manifest.value))
    let encoded = try fromFormat(.item, ItemBody.encode(next))
    if moved.insert(next.value).inserted { pending.append(MovingValue(manifest, next)) }
    return encoded
  }

  private func id(for value: ValueID) throws(VaultError) -> ValueID {
    var hash = try fromCrypto(.item, KeyedHash(key: key, byteCount: ValueID.byteCount))
    hash.update(integer: UInt8(0))
    hash.update(value.bytes.span)
    return ValueID(hash.end().span)
  }

  private func secret(for value: ValueID) throws(VaultError) -> Key {
    do {
      var hash = try KeyedHash(key: key, byteCount: Key.byteCount)
      hash.update(integer: UInt8(1))
      hash.update(value.bytes.span)
      return Key(try hash.finalizeSecret())
    } catch { throw VaultError(error, about: .item) }
  }
}

// MARK: - Chunks

extension MovedValues {
  /// Seals some chunks anew.
  func advance(in storage: inout Storage, _ slice: inout Slice) throws(VaultError) {
    while let value = pending.last, !slice.isSpent {
      guard try value.advance(in: &storage) else {
        pending.removeLast()
        continue
      }
      slice.countRow(Manifest.chunkByteCount)
    }
  }

  /// Deletes some of what nobody names: chunks of uploads that came to nothing, and the marks of such.
  ///
  /// - Returns: Whether there is more.
  func deleteLeftovers(in storage: inout Storage) throws(VaultError) -> Bool {
    guard !areLeftoversGone else { return false }
    do throws(StorageError) {
      if let mark = try storage.orphan(after: []) {
        try storage.unmarkOrphan(mark.span)
        return true
      }
      if let left = try leftover(in: &storage) {
        _ = try storage.deleteChunks(left.id.span, limit: Self.leftoverBatch)
        return true
      }
    } catch { throw VaultError(error) }
    return !areLeftoversGone
  }

  /// The first chunk among the next ones that nobody names.
  private func leftover(in storage: inout Storage) throws(StorageError) -> KeyPair? {
    var (found, next): (KeyPair?, KeyPair) = (nil, last)
    let count = try storage.chunkKeys(after: last, limit: Self.keyBatch) { pair in
      guard found == nil else { return }
      if pair.id.count == ValueID.byteCount, moved.contains(ValueID(pair.id.span)) {
        next = pair
      } else {
        found = pair
      }
    }
    last = next
    areLeftoversGone = found == nil && count < Self.keyBatch
    return found
  }
}

/// Takes one long value to its next id, chunk by chunk.
private final class MovingValue {
  private let old: Manifest
  private let new: Manifest
  private var next: UInt64 = 0

  init(_ old: consuming Manifest, _ new: consuming Manifest) {
    self.old = old
    self.new = new
  }

  /// Seals the next chunk anew, and deletes what it was.
  ///
  /// - Returns: False when there is none left.
  func advance(in storage: inout Storage) throws(VaultError) -> Bool {
    guard next < old.chunkCount else { return false }
    let plain = try plain(in: &storage)
    let place = AssociatedData.chunk(
      value: new.value, number: next, isLast: next == new.chunkCount - 1)
    let sealed = try place.seal(
      plain.bytes.extracting(droppingFirst: ChunkPart.roomBefore), under: new.key, .chunk)
    let (id, before) = (new.value.bytes, old.value.bytes)
    do {
      try storage.storeChunk(id.span, next, sealed.span)
      // The first that is left is the one just read.
      _ = try storage.deleteChunks(before.span, limit: 1)
    } catch { throw VaultError(error) }
    next += 1
    return true
  }

  private func plain(in storage: inout Storage) throws(VaultError) -> SecretBuffer {
    var plain = try fromMemory(SecretBuffer(capacity: Manifest.chunkByteCount))
    guard let chunk = try storage.chunk(next, of: old.value) else { throw .damaged(.chunk) }
    try old.open(chunk: chunk, next, into: &plain)
    return plain
  }
}
