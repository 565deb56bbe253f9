// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// What was taken of a large value and is not sealed yet.
///
/// ``ForkJoin`` lends it to a second thread while its chunks are sealed.
struct PlainChunks: ~Copyable, Sendable {
  let value: ValueID
  let key: Key
  /// The bytes from some chunk's first one on.
  var bytes: SecretBuffer

  /// The whole chunks among them.
  var wholeCount: Int { bytes.count / Manifest.chunkByteCount }

  /// The chunks that they are when nothing follows.
  var count: Int { (bytes.count + Manifest.chunkByteCount - 1) / Manifest.chunkByteCount }
}

/// One chunk while it is sealed and until it is stored. Its memory is used for one after the other.
///
/// `@unchecked`: ``ForkJoin`` lends it to one thread at a time.
final class SealedChunk: @unchecked Sendable {
  /// Which of the chunks that were taken it is, and of the whole value.
  private var index = 0
  private var number: UInt64 = 0
  private var isLast = false
  private var sealed: [UInt8] = []
  private(set) var failure: CryptoError?

  /// Says what it is to be.
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
      try Seal.sealFresh(
        plain.bytes.bytes.extracting(start..<end), authenticating: associated.span,
        under: plain.key, into: &target)
    } catch { failure = error }
    self.sealed = sealed
  }

  /// Writes it as a row of a value.
  func store(_ value: Span<UInt8>, in storage: inout Storage) throws(StorageError) {
    let sealed = sealed
    try storage.storeChunk(value, number, sealed.span)
  }
}
