// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds what was taken of a large value and is not sealed yet.
///
/// ``ForkJoin`` lends it to a second thread while its chunks are sealed.
struct PlainChunks: ~Copyable, Sendable {
  let value: ValueID
  let key: Key
  /// The bytes from some chunk's first one on.
  var bytes: SecretBuffer

  /// How many whole chunks there are among the bytes.
  var wholeCount: Int { bytes.count / Manifest.chunkByteCount }

  /// How many chunks the bytes make when nothing follows.
  var count: Int { (bytes.count + Manifest.chunkByteCount - 1) / Manifest.chunkByteCount }
}

extension UnlockedVault {
  /// Makes a content of a value, and where that is longer than a row can hold, writes its chunks, in the transaction that
  /// is open: they are there for good when the row is.
  mutating func content(_ value: Span<UInt8>) throws(VaultError) -> NewContent {
    guard value.count > ItemBody.longestInline else { return try NewContent(inline: value) }
    var plain = PlainChunks(
      value: try fromCrypto(.chunk, ValueID.random()), key: try fromCrypto(.chunk, Key.random()),
      bytes: try fromMemory(SecretBuffer(capacity: Manifest.chunkByteCount)))
    let (id, chunk) = (plain.value.bytes, SealedChunk())
    var number: UInt64 = 0
    for start in stride(from: 0, to: value.count, by: Manifest.chunkByteCount) {
      let end = min(start + Manifest.chunkByteCount, value.count)
      plain.bytes.removeAll()
      do throws(SecureMemoryError) {
        try plain.bytes.append(value.extracting(start..<end))
      } catch { throw .outOfMemory }
      chunk.prepare(0, number: number, isLast: end == value.count)
      chunk.seal(plain)
      if let failure = chunk.failure { throw VaultError(failure, about: .chunk) }
      do throws(StorageError) { try chunk.store(id.span, in: &rows.storage) } catch {
        throw VaultError(error)
      }
      number += 1
    }
    let key = try fromCrypto(.chunk, plain.key.copy())
    return try NewContent(Manifest(length: UInt64(value.count), value: plain.value, key: key))
  }
}

/// Seals one chunk after the other in the same memory, and keeps each until it is stored.
///
/// `@unchecked`: ``ForkJoin`` lends it to one thread at a time.
final class SealedChunk: @unchecked Sendable {
  /// Its place among the chunks that were taken together, and in the whole value.
  private var index = 0
  private var number: UInt64 = 0
  private var isLast = false
  private var sealed: [UInt8] = []
  private(set) var failure: CryptoError?

  /// Sets the place in the value that the next chunk has.
  func prepare(_ index: Int, number: UInt64, isLast: Bool) {
    (self.index, self.number, self.isLast) = (index, number, isLast)
  }

  /// Seals it.
  func seal(_ plain: borrowing PlainChunks) {
    failure = nil
    let start = index * Manifest.chunkByteCount
    let end = min(start + Manifest.chunkByteCount, plain.bytes.count)
    let count = end - start + Seal.overhead
    // Taken out and put back, so that its memory has one owner.
    var sealed = self.sealed
    self.sealed = []
    if sealed.count != count { sealed = [UInt8](repeating: 0, count: count) }
    let associated = AssociatedData.chunk(value: plain.value, number: number, isLast: isLast)
    var target = sealed.mutableSpan
    do throws(CryptoError) {
      try Seal.seal(
        plain.bytes.bytes.extracting(start..<end), authenticating: associated.span,
        under: plain.key, nonce: try .random(), into: &target)
    } catch { failure = error }
    self.sealed = sealed
  }

  /// Writes it as a row of a value.
  func store(_ value: Span<UInt8>, in storage: inout Storage) throws(StorageError) {
    let sealed = sealed
    try storage.storeChunk(value, number, sealed.span)
  }
}
