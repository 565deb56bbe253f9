// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// A large value on its way in. Until it is committed, the item stays as it was.
///
/// Dropping it abandons the upload: what was staged is swept at a later unlock.
public struct Upload: ~Copyable {
  /// How many sealed chunks wait in memory before they are staged: 1 MiB.
  static let batch = 16

  let name: ItemName
  let edits: AttributeEdits
  let condition: PutCondition
  let isProtecting: Bool
  let value: ValueID
  let key: Key
  /// The plaintext of the chunk that is not full yet, or may be the last.
  var pending: SecretBuffer
  /// Sealed chunks that are not staged yet.
  var sealed: [[UInt8]] = []
  /// The number of the first of them.
  var firstSealed: UInt64 = 0
  /// Keeps other engines from sweeping what was staged.
  var lock: StateFile?

  /// The bytes taken so far.
  public internal(set) var length: UInt64 = 0

  /// The number of the chunk that is being filled.
  var number: UInt64 { firstSealed + UInt64(sealed.count) }

  /// An upload of which nothing was taken yet.
  static func begin(
    _ name: consuming ItemName, _ edits: consuming AttributeEdits,
    _ condition: PutCondition, protecting: Bool
  ) throws(VaultError) -> Upload {
    do {
      return Upload(
        name: name, edits: edits, condition: condition, isProtecting: protecting,
        value: try ValueID.random(), key: try Key.random(),
        pending: try SecretBuffer(capacity: Manifest.chunkByteCount))
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }

  /// Takes bytes; nothing is written.
  mutating func take(_ bytes: Span<UInt8>) throws(VaultError) {
    var offset = 0
    while offset < bytes.count {
      if pending.count == Manifest.chunkByteCount {
        sealed.append(try seal(isLast: false))
        pending.removeAll()
      }
      let end = min(bytes.count, offset + Manifest.chunkByteCount - pending.count)
      do { try pending.append(bytes.extracting(offset..<end)) } catch { throw .outOfMemory }
      offset = end
    }
    length += UInt64(bytes.count)
  }

  /// Seals the pending chunk.
  func seal(isLast: Bool) throws(VaultError) -> [UInt8] {
    let associated = AssociatedData.chunk(value: value, number: number, isLast: isLast)
    do {
      return try Seal.seal(pending.bytes, authenticating: associated.span, under: key)
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }
}

extension UnlockedVault {
  /// The most bytes that one call of ``append(_:to:)`` takes: 1 MiB.
  public static let longestAppend = 1 << 20

  /// Begins to store a value of any length; nothing is written yet.
  ///
  /// - Parameters: As for ``UnlockedVault/put(_:value:attributes:condition:protecting:kind:)``. The condition is checked now, and
  ///   again at the end.
  public mutating func beginUpload(
    _ name: Span<UInt8>, attributes: consuming AttributeEdits, condition: PutCondition,
    protecting: Bool = false
  ) throws(VaultError) -> Upload {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    try reading { vault throws(VaultError) in
      try vault.beginChange(of: tag).check(condition)
    }
    return try Upload.begin(name, attributes, condition, protecting: protecting)
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
    if upload.sealed.count >= Upload.batch { try stage(&upload) }
    try upload.take(bytes)
  }

  /// Stores what was uploaded.
  ///
  /// - Throws: As ``UnlockedVault/put(_:value:attributes:condition:protecting:kind:)`` does, and ``VaultError/uploadLost``. After
  ///   ``VaultError/busy`` the same call can be made again.
  public mutating func commit(_ upload: inout Upload) throws(VaultError) -> PutResult {
    let content = try content(of: upload)
    let last = upload.length > UInt64(ItemBody.longestInline) ? try upload.seal(isLast: true) : nil
    let result = try writing { vault, draft throws(VaultError) in
      if let last { try vault.storeChunks(of: upload, last: last) }
      // A rekey meanwhile has given every name another tag.
      let change = try vault.beginChange(of: try vault.keys.tag(of: upload.name))
      return try vault.put(
        content, upload.name, upload.edits, upload.condition, protecting: upload.isProtecting,
        change, &draft)
    }
    upload.lock = nil
    try clearJournal()
    return result
  }

  /// Gives an upload up; what was staged is deleted by ``sweep()``.
  public mutating func abandon(_ upload: consuming Upload) {
    if upload.firstSealed > 0 { sweeper.add(upload.value) }
  }
}

extension UnlockedVault {
  private func content(of upload: borrowing Upload) throws(VaultError) -> NewContent {
    if upload.length <= UInt64(ItemBody.longestInline) {
      return try NewContent(inline: upload.pending.bytes)
    }
    do {
      return try NewContent(
        Manifest(length: upload.length, value: upload.value, key: try upload.key.copy()))
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }

  /// Writes the sealed chunks as rows that no item refers to yet.
  private mutating func stage(_ upload: inout Upload) throws(VaultError) {
    try checkInPlace()
    do {
      if upload.lock == nil { upload.lock = try uploadLock(.shared) }
      // The commit of the item syncs what was staged before it, too.
      try rows.storage.beginWrite(durable: false)
      defer { rows.storage.end() }
      let value = upload.value.bytes
      if upload.firstSealed == 0 {
        try rows.storage.storeLoose(value.span)
      } else {
        try checkStaged(upload)
      }
      try storeSealed(upload)
      try rows.storage.commit()
    } catch {
      throw VaultError(error, about: .chunk)
    }
    upload.firstSealed = upload.number
    upload.sealed.removeAll()
  }

  /// Writes what is left of an upload, in the transaction of its item.
  private mutating func storeChunks(
    of upload: borrowing Upload, last: [UInt8]
  ) throws(VaultError) {
    do {
      let value = upload.value.bytes
      if upload.firstSealed > 0 {
        try checkStaged(upload)
        try rows.storage.deleteLoose(value.span)
      }
      try storeSealed(upload)
      try rows.storage.storeChunk(value.span, upload.number, last.span)
    } catch {
      throw VaultError(error, about: .chunk)
    }
  }

  private mutating func storeSealed(_ upload: borrowing Upload) throws(StorageError) {
    let value = upload.value.bytes
    for index in upload.sealed.indices {
      let number = upload.firstSealed + UInt64(index)
      let chunk = upload.sealed[index]
      try rows.storage.storeChunk(value.span, number, chunk.span)
    }
  }

  /// An engine with another state directory does not see the lock, and may have swept: it deletes
  /// chunks from the first one on, and the mark last.
  private mutating func checkStaged(_ upload: borrowing Upload) throws {
    let value = upload.value.bytes
    guard try rows.storage.isLoose(value.span), try rows.storage.chunk(value.span, 0) != nil else {
      throw VaultError.uploadLost
    }
  }
}
