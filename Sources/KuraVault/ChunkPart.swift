// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// One chunk while it is opened. Its memory is used for one after the other.
///
/// `@unchecked`: ``ForkJoin`` lends it to one thread at a time.
final class ChunkPart: @unchecked Sendable {
  private var number: UInt64 = 0
  private var sealed: [UInt8] = []
  /// What it opened to.
  private(set) var plain: SecretBuffer
  /// Why it did not open.
  private(set) var failure: VaultError?
  /// Whether that is because there is no such row.
  private(set) var isMissing = false

  init() throws(SecureMemoryError) {
    plain = try SecretBuffer(capacity: Manifest.chunkByteCount)
  }

  /// Reads the sealed chunk.
  func read(_ number: UInt64, of value: ValueID, from storage: inout Storage) {
    self.number = number
    failure = nil
    isMissing = false
    let value = value.bytes
    do throws(StorageError) {
      guard let row = try storage.chunk(value.span, number) else {
        isMissing = true
        return fail(.damaged(.chunk))
      }
      sealed.replace(with: row)
    } catch {
      fail(VaultError(error, about: .chunk))
    }
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

  /// Zeroes what it opened to.
  func wipe() { plain.removeAll() }
}

extension Manifest {
  /// Opens a chunk of the length that its place asks for, in the place of what the buffer held.
  borrowing func open(
    chunk sealed: Span<UInt8>, _ number: UInt64, into plain: inout SecretBuffer
  ) throws(VaultError) {
    let count = byteCount(ofChunk: number)
    guard sealed.count == count + Seal.overhead else { throw .damaged(.chunk) }
    let associated = AssociatedData.chunk(
      value: value, number: number, isLast: number == chunkCount - 1)
    plain.removeAll()
    do throws(SecureMemoryError) { try plain.reserve(count) } catch { throw .outOfMemory }
    do throws(CryptoError) {
      try plain.append(upTo: count) { target throws(CryptoError) in
        try Seal.open(sealed, authenticating: associated.span, under: key, into: &target)
        return count
      }
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }
}
