// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Opens the chunks of a large value, some at a time, on both cores: while they are opened, those before
/// them are handed out and the sealed ones after them are read.
struct ChunkReader: ~Copyable {
  /// How many are opened at a time: 512 KiB, which a socket's buffer holds.
  static let sliceCount = 8

  private let manifest: Manifest
  /// The sealed chunks that are opened next, and how many of them there are.
  private var ahead: [ChunkPart] = []
  private var aheadCount = 0
  /// Those that were opened, and which of them are yet to be handed out.
  private var opened: [ChunkPart] = []
  private var pieces = 0..<0
  /// Why there are no more.
  private var failure: VaultError?
  /// The number of the first chunk that was not read.
  private var nextNumber: UInt64 = 0

  /// A reader at the beginning of a value.
  init(_ manifest: consuming Manifest) throws(VaultError) {
    let count = Int(min(manifest.chunkCount, UInt64(Self.sliceCount)))
    do throws(SecureMemoryError) {
      for _ in 0..<count {
        ahead.append(try ChunkPart())
        opened.append(try ChunkPart())
      }
    } catch { throw .outOfMemory }
    self.manifest = manifest
  }

  /// Whether there is a piece to be handed out.
  var hasPiece: Bool { !pieces.isEmpty }

  /// Hands out all pieces that were opened, none at first, and opens the next chunks meanwhile.
  ///
  /// - Parameter handOut: Gets a piece behind ``ChunkPart/roomBefore`` bytes; it is gone when that
  ///   returns.
  /// - Returns: Whether to go on: there are pieces now, or there is an error to be told.
  /// - Throws: What is wrong with the next chunk, when all before it were handed out.
  mutating func advance(
    of item: borrowing Item, in vault: inout UnlockedVault,
    _ handOut: (inout SecretBuffer) -> Void
  ) throws(VaultError) -> Bool {
    if nextNumber == 0 { readAhead(in: &vault) }
    if let failure {
      guard hasPiece else { throw failure }
      for part in takeAll() { part.handOut(handOut) }
      return true
    }
    if let bad = open(in: &vault, handOut) { failure = reason(bad, of: item, in: &vault) }
    return hasPiece || failure != nil
  }

  /// Hands the next piece out; it is gone when `body` returns.
  mutating func takePiece<Result: ~Copyable, Failure: Error>(
    _ body: (Span<UInt8>) throws(Failure) -> Result
  ) throws(Failure) -> Result {
    try opened[pieces.removeFirst()].take(body)
  }
}

// MARK: - Inside

extension ChunkReader {
  /// - Returns: The first chunk that did not open.
  private mutating func open(
    in vault: inout UnlockedVault, _ handOut: (inout SecretBuffer) -> Void
  ) -> ChunkPart? {
    let parts = Array(ahead.prefix(aheadCount))
    let given = takeAll()
    swap(&ahead, &opened)
    let (next, value, first) = (ahead, manifest.value, nextNumber)
    let count = Int(min(manifest.chunkCount - first, UInt64(next.count)))
    ForkJoin.run(parts, with: manifest) { part, manifest in
      part.open(manifest)
    } meanwhile: { _ in
      for part in given { part.handOut(handOut) }
      vault.read(next.prefix(count), of: value, from: first)
    }
    (aheadCount, nextNumber) = (count, first + UInt64(count))
    let bad = parts.firstIndex { $0.failure != nil }
    pieces = 0..<(bad ?? parts.count)
    guard let bad else { return nil }
    for part in parts[bad...] { part.wipe() }
    return parts[bad]
  }

  private mutating func takeAll() -> ArraySlice<ChunkPart> {
    defer { pieces = 0..<0 }
    return opened[pieces]
  }

  /// What to tell of a chunk that did not open.
  private func reason(
    _ bad: ChunkPart, of item: borrowing Item, in vault: inout UnlockedVault
  ) -> VaultError? {
    guard bad.isMissing else { return bad.failure }
    do throws(VaultError) {
      return try vault.refers(to: item) ? .damaged(.chunk) : .changed
    } catch { return error }
  }

  private mutating func readAhead(in vault: inout UnlockedVault) {
    vault.read(ahead[...], of: manifest.value, from: 0)
    aheadCount = ahead.count
    nextNumber = UInt64(aheadCount)
  }
}

extension UnlockedVault {
  /// Reads sealed chunks that stand one behind the other; each part says what became of it.
  fileprivate mutating func read(
    _ parts: ArraySlice<ChunkPart>, of value: ValueID, from first: UInt64
  ) {
    guard !parts.isEmpty else { return }
    // A chunk of another revision, item or place does not open, whatever root there is by now.
    do { try rows.storage.beginRead() } catch {
      for part in parts { part.fail(VaultError(error)) }
      return
    }
    defer { rows.storage.end() }
    for (offset, part) in parts.enumerated() {
      part.read(first + UInt64(offset), of: value, from: &rows.storage)
    }
  }

  /// Whether an item still has this revision.
  fileprivate mutating func refers(to item: borrowing Item) throws(VaultError) -> Bool {
    let (tag, id, revision) = (item.facts.tag, item.facts.id, item.facts.revision)
    return try reading { vault throws(VaultError) in
      guard let (facts, history) = try vault.verifiedHistory(tag), facts.id == id else {
        return false
      }
      return facts.revision == revision || history.entries.contains { $0.revision == revision }
    }
  }
}
