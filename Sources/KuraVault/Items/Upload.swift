// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Takes a large value in, piece by piece. Until it is committed, the item stays as it was.
///
/// Dropping it abandons the upload: what was staged is swept at a later unlock.
public struct Upload: ~Copyable {
  /// How many chunks are sealed, and then staged, at a time, or one more: 1 MiB.
  static let batch = 16

  let name: ItemName
  let edits: AttributeEdits
  let condition: PutCondition
  let isProtecting: Bool
  let times: ItemTimes?
  /// The bytes that are not sealed yet: those of the last chunk always, since nobody knows which it is.
  var plain: PlainChunks
  /// Sealed chunks that are not staged yet, and others to be used in turn with them.
  var sealed: [SealedChunk] = []
  var spare: [SealedChunk] = []
  /// How many chunks are staged.
  var stagedCount: UInt64 = 0
  /// Keeps other engines from sweeping what was staged.
  var lock: StateFile?

  /// The bytes taken so far.
  public internal(set) var length: UInt64 = 0

  /// An upload of which nothing was taken yet.
  static func begin(
    _ name: consuming ItemName, _ edits: consuming AttributeEdits,
    _ condition: PutCondition, protecting: Bool, _ times: ItemTimes?
  ) throws(VaultError) -> Upload {
    let value = try fromCrypto(.chunk, ValueID.random())
    let plain = PlainChunks(
      value: value, key: try fromCrypto(.chunk, Key.random()),
      bytes: try fromMemory(SecretBuffer(capacity: Manifest.chunkByteCount)))
    return Upload(
      name: name, edits: edits, condition: condition, isProtecting: protecting, times: times,
      plain: plain)
  }

  /// Takes bytes; nothing is sealed or written.
  mutating func take(_ bytes: Span<UInt8>) throws(VaultError) {
    let missing = plain.bytes.count + bytes.count - plain.bytes.capacity
    do throws(SecureMemoryError) {
      // What goes on beyond a chunk goes on for long.
      if missing > 0 { try plain.bytes.reserve(Self.room - plain.bytes.count) }
      try plain.bytes.append(bytes)
    } catch { throw .outOfMemory }
    length += UInt64(bytes.count)
  }

  /// The most bytes that wait to be sealed.
  private static let room = (batch + 1) * Manifest.chunkByteCount

  /// Whether that many bytes more find no room before some are sealed.
  func isFull(before count: Int) -> Bool { plain.bytes.count + count > Self.room }

  /// Prepares the sealing of the first chunks of what was taken, without touching those that wait.
  mutating func nextChunks(_ count: Int, withLast: Bool = false) -> [SealedChunk] {
    while spare.count < count { spare.append(SealedChunk()) }
    let first = stagedCount + UInt64(sealed.count)
    for index in 0..<count {
      spare[index].prepare(
        index, number: first + UInt64(index), isLast: withLast && index == count - 1)
    }
    return Array(spare.prefix(count))
  }

  /// Notes that the chunks which waited were staged, and that others wait now.
  mutating func advance(to next: [SealedChunk]) {
    stagedCount += UInt64(sealed.count)
    spare = sealed + spare.dropFirst(next.count)
    sealed = next
    plain.bytes.removeFirst(next.count * Manifest.chunkByteCount)
  }
}

extension UnlockedVault {
  /// The most bytes that one call of ``append(_:to:)`` takes: 1 MiB.
  public static let longestAppend = 1 << 20

  /// Begins to store a value of any length; nothing is written yet.
  ///
  /// - Parameters: As for ``UnlockedVault/put(_:value:attributes:condition:protecting:kind:times:)``. The condition is
  ///   checked now, and again at the end.
  public mutating func beginUpload(
    _ name: Span<UInt8>, attributes: consuming AttributeEdits, condition: PutCondition,
    protecting: Bool = false, times: ItemTimes? = nil
  ) throws(VaultError) -> Upload {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    try reading { vault throws(VaultError) in
      try vault.beginChange(of: tag).check(condition)
    }
    return try Upload.begin(name, attributes, condition, protecting: protecting, times)
  }

  /// Takes the next bytes of an upload.
  ///
  /// - Parameters:
  ///   - bytes: At most ``longestAppend`` bytes; only borrowed.
  ///   - upload: What they belong to.
  /// - Throws: ``VaultError/busy`` and other errors of writing: nothing was taken, and the same call
  ///   can be made again. ``VaultError/uploadLost``, ``VaultError/tooLarge``: the upload is over.
  public mutating func append(
    _ bytes: Span<UInt8>, to upload: inout Upload
  ) throws(VaultError) {
    precondition(bytes.count <= Self.longestAppend, "a stream comes in pieces")
    guard upload.length + UInt64(bytes.count) <= Manifest.longestValue else { throw .tooLarge }
    if upload.isFull(before: bytes.count) { try stage(&upload) }
    try upload.take(bytes)
  }

  /// Stores what was uploaded.
  ///
  /// - Throws: As ``UnlockedVault/put(_:value:attributes:condition:protecting:kind:times:)`` does, and
  ///   ``VaultError/uploadLost``. After ``VaultError/busy`` the same call can be made again.
  public mutating func commit(_ upload: inout Upload) throws(VaultError) -> PutResult {
    let content = try content(of: upload)
    let isLarge = upload.length > UInt64(ItemBody.longestInline)
    let last = upload.nextChunks(isLarge ? upload.plain.count : 0, withLast: true)
    ForkJoin.run(last, with: upload.plain) { chunk, plain in chunk.seal(plain) }
    try check(last)
    let result = try writing { vault, draft throws(VaultError) in
      if isLarge { try vault.storeRest(of: upload, last) }
      // A rekey meanwhile has given every name another tag.
      let change = try vault.beginChange(of: try vault.keys.tag(of: upload.name))
      return try vault.put(
        content, upload.name, upload.edits, upload.condition, protecting: upload.isProtecting,
        change, &draft, .value, upload.times)
    }
    upload.lock = nil
    try clearWAL()
    return result
  }

  /// Gives an upload up; what was staged is deleted by ``sweep()``.
  public mutating func abandon(_ upload: consuming Upload) {
    if upload.stagedCount > 0 { sweeper.add(upload.plain.value) }
  }
}

extension UnlockedVault {
  private func content(of upload: borrowing Upload) throws(VaultError) -> NewContent {
    if upload.length <= UInt64(ItemBody.longestInline) {
      return try NewContent(inline: upload.plain.bytes.bytes)
    }
    let key = try fromCrypto(.chunk, upload.plain.key.copy())
    return try NewContent(
      Manifest(length: upload.length, value: upload.plain.value, key: key))
  }

  /// Seals what was taken, while what was sealed before is written as rows that no item refers to yet.
  private mutating func stage(_ upload: inout Upload) throws(VaultError) {
    let next = upload.nextChunks(upload.plain.wholeCount)
    if upload.sealed.isEmpty {
      ForkJoin.run(next, with: upload.plain) { chunk, plain in chunk.seal(plain) }
    } else {
      try store(&upload, sealing: next)
    }
    try check(next)
    upload.advance(to: next)
  }

  private mutating func store(
    _ upload: inout Upload, sealing next: [SealedChunk]
  ) throws(VaultError) {
    try checkInPlace()
    if upload.lock == nil { upload.lock = try fromStorage(uploadLock(.shared)) }
    // The commit of the item syncs what was staged before it, too.
    try fromStorage(rows.storage.beginWrite(durable: false))
    defer { rows.storage.end() }
    if upload.stagedCount > 0 { try checkStaged(upload) }
    let (value, waiting) = (upload.plain.value.bytes, upload.sealed)
    do throws(StorageError) {
      if upload.stagedCount == 0 { try rows.storage.markOrphan(value.span) }
      // A value that is to be deleted makes room: its pages are written once then, not zeroed before.
      let orphan = sweeper.queue.last?.bytes
      var isSwept = false
      var failure: StorageError?
      ForkJoin.run(next, with: upload.plain) { chunk, plain in
        chunk.seal(plain)
      } meanwhile: { _ in
        do throws(StorageError) {
          if let orphan { isSwept = try rows.storage.sweep(orphan.span, limit: waiting.count) }
          for chunk in waiting { try chunk.store(value.span, in: &rows.storage) }
        } catch { failure = error }
      }
      if let failure { throw failure }
      try rows.storage.commit()
      if isSwept { sweeper.removeLast() }
    } catch { throw VaultError(error) }
  }

  private func check(_ chunks: [SealedChunk]) throws(VaultError) {
    for chunk in chunks {
      if let failure = chunk.failure { throw VaultError(failure, about: .chunk) }
    }
  }

  /// Writes what is left of an upload, in the transaction of its item.
  private mutating func storeRest(
    of upload: borrowing Upload, _ last: [SealedChunk]
  ) throws(VaultError) {
    if upload.stagedCount > 0 { try checkStaged(upload) }
    let value = upload.plain.value.bytes
    do throws(StorageError) {
      if upload.stagedCount > 0 { try rows.storage.unmarkOrphan(value.span) }
      for chunk in upload.sealed + last { try chunk.store(value.span, in: &rows.storage) }
    } catch { throw VaultError(error) }
  }

  /// An engine with another state directory does not see the lock, and may have swept: it deletes
  /// chunks from the first one on, and the mark last.
  private mutating func checkStaged(_ upload: borrowing Upload) throws(VaultError) {
    let value = upload.plain.value
    let isMarked = try fromStorage(rows.storage.isOrphan(value.bytes.span))
    guard isMarked, try rows.storage.chunk(0, of: value) != nil else { throw .uploadLost }
  }
}
