// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Says of a long value where it stands in the store, and whether it stands here.
struct KnownPlace {
  /// Where it stands.
  let place: ValuePlace
  /// Whether its chunks are here, and nobody is about to sweep them.
  let isHeld: Bool
}

// Nobody vouches for these rows: who goes by one looks first whether the store has what it says.
extension UnlockedVault {
  /// In which objects of the store a long value stands, or stands so far; nil where that is not known.
  mutating func place(of value: ValueID) throws(VaultError) -> ValuePlace? {
    try checkInPlace()
    try fromStorage(rows.storage.beginRead())
    defer { rows.storage.end() }
    return try known(value)
  }

  private mutating func known(_ value: ValueID) throws(VaultError) -> ValuePlace? {
    do throws(VaultError) { return try rows.storage.place(of: value.bytes, under: keys) } catch {
      guard error.isDamageOfRow else { throw error }
      return nil
    }
  }

  /// Notes in which objects of the store a long value stands; a power cut may take that back.
  mutating func setPlace(_ place: ValuePlace) throws(VaultError) {
    let (value, sealed) = (place.value.value.bytes, try keys.seal(place))
    try noting { storage throws(StorageError) in
      if storage.isShared { try storage.storePlace(of: value.span, sealed.span) }
    }
  }

  /// Forgets where a long value stands.
  mutating func deletePlace(of value: ValueID) throws(VaultError) {
    let value = value.bytes
    try noting { storage throws(StorageError) in try storage.deletePlace(of: value.span) }
  }

  private mutating func noting(
    _ body: (inout Storage) throws(StorageError) -> Void
  ) throws(VaultError) {
    try checkInPlace()
    try fromStorage(rows.storage.beginWrite(durable: false))
    defer { rows.storage.end() }
    try fromStorage(body(&rows.storage))
    try fromStorage(rows.storage.commit())
  }

  /// All that is known of where long values stand, ascending by their ids.
  mutating func places() throws(VaultError) -> [KnownPlace] {
    try checkInPlace()
    try fromStorage(rows.storage.beginRead())
    defer { rows.storage.end() }
    var (found, last): ([KnownPlace], [UInt8]) = ([], [])
    while let bytes = try fromStorage(rows.storage.placedValue(after: last)) {
      last = bytes
      guard bytes.count == ValueID.byteCount, let place = try known(ValueID(bytes.span)) else {
        continue
      }
      let isMarked = try fromStorage(rows.storage.isOrphan(bytes.span))
      let isHere = try rows.storage.chunk(0, of: place.value.value) != nil
      found.append(KnownPlace(place: place, isHeld: isHere && !isMarked))
    }
    return found
  }

  /// Forgets where a value stood that is gone, unless its objects are this copy's: those are of no use to anybody, and
  /// who writes the next head has to know of them. Within a write transaction.
  mutating func forgetPlace(of value: ValueID) throws(VaultError) {
    let place = try known(value)
    guard try rows.storage.chunk(0, of: value) == nil else { return }
    guard let place, place.value.device == trust.root.copy?.device else {
      let value = value.bytes
      return try fromStorage(rows.storage.deletePlace(of: value.span))
    }
  }
}
