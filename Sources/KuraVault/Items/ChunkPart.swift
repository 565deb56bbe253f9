// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Opens one chunk after the other in the same memory.
///
/// `@unchecked`: ``ForkJoin`` lends it to one thread at a time.
final class ChunkPart: @unchecked Sendable {
  /// The room before an opened piece, so that what goes before it on its way out can stand there: a
  /// line of the processor's cache, which keeps the piece where it is written fastest.
  static let roomBefore = 64

  private var number: UInt64 = 0
  private var sealed: [UInt8] = []
  /// What it opened to, behind ``roomBefore`` zero bytes.
  private var plain: SecretBuffer
  /// Why it did not open.
  private(set) var failure: VaultError?
  /// Whether it did not open because the vault has no such row.
  private(set) var isMissing = false

  init() throws(SecureMemoryError) {
    plain = try SecretBuffer(capacity: Self.roomBefore + Manifest.chunkByteCount)
  }

  /// Reads the sealed chunk.
  func read(_ number: UInt64, of value: ValueID, from storage: inout Storage) {
    self.number = number
    failure = nil
    isMissing = false
    do throws(VaultError) {
      guard let row = try storage.chunk(number, of: value) else {
        isMissing = true
        return fail(.damaged(.chunk))
      }
      sealed.replace(with: row)
    } catch { fail(error) }
  }

  /// Opens what was read, and checks that it has the length that its place asks for.
  func open(_ manifest: borrowing Manifest) {
    guard failure == nil else { return }
    let sealed = sealed
    do throws(VaultError) {
      try manifest.open(chunk: sealed.span, number, into: &plain)
    } catch { fail(error) }
  }

  func fail(_ error: VaultError) { failure = error }

  /// Lends what it opened to, and zeroes it.
  func take<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    defer { wipe() }
    return try body(plain.bytes.extracting(droppingFirst: Self.roomBefore))
  }

  /// Lends what it opened to, behind its room, and zeroes it.
  func handOut(_ body: (inout SecretBuffer) -> Void) {
    body(&plain)
    wipe()
  }

  /// Zeroes what it opened to.
  func wipe() { plain.removeAll() }
}

extension Manifest {
  /// Opens a chunk of the length that its place asks for, in the place of what the buffer held, behind
  /// room of ``ChunkPart/roomBefore``.
  borrowing func open(
    chunk sealed: Span<UInt8>, _ number: UInt64, into plain: inout SecretBuffer
  ) throws(VaultError) {
    let count = byteCount(ofChunk: number)
    let associated = try associatedData(ofChunk: number, sealed)
    plain.removeAll()
    let room = ChunkPart.roomBefore
    try fromMemory(plain.reserve(room + count))
    // It is zero, as all that is not held.
    plain.append(upTo: room) { _ in room }
    do {
      try plain.append(upTo: count) { target throws(CryptoError) in
        try Seal.open(sealed, authenticating: associated.span, under: key, into: &target)
        return count
      }
    } catch { throw VaultError(error, about: .chunk) }
  }

  /// Proves that a chunk of the length that its place asks for would open.
  borrowing func verify(chunk sealed: Span<UInt8>, _ number: UInt64) throws(VaultError) {
    let associated = try associatedData(ofChunk: number, sealed)
    do {
      try Seal.verify(sealed, authenticating: associated.span, under: key)
    } catch { throw VaultError(error, about: .chunk) }
  }

  private borrowing func associatedData(
    ofChunk number: UInt64, _ sealed: Span<UInt8>
  ) throws(VaultError) -> AssociatedData {
    guard sealed.count == byteCount(ofChunk: number) + Seal.overhead else {
      throw .damaged(.chunk)
    }
    return AssociatedData.chunk(
      value: value, number: number, isLast: number == chunkCount - 1)
  }
}
