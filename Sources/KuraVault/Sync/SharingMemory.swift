// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Holds what copies of a vault know of each other, opened, beside the bytes that it was read from.
struct SharingMemory {
  let parts: CopyParts
  /// Part 3; nil where there is none.
  let devices: DeviceTable?
  /// Part 4; nil where the vault is not shared.
  let remote: RemoteMemory?
}

/// Carries a head as it stood in the store, to be kept or forgotten.
struct KeptHead {
  /// Whose it is; zero for the own one that is being written.
  let device: DeviceID
  /// All of its bytes; nil to forget the one that is kept.
  let bytes: [UInt8]?
}

extension HeadID {
  /// Names a head by its bytes.
  init(of head: Span<UInt8>) throws(VaultError) {
    let name = try fromFormat(.header, RemoteObject.name(of: head))
    self.init(name.span.extracting(first: HeadID.byteCount))
  }
}

// MARK: - Sealed

extension Keyring {
  /// Opens what copies know of each other; its root was verified.
  borrowing func open(_ parts: CopyParts) throws(VaultError) -> SharingMemory {
    var devices: DeviceTable?
    if !parts.devices.isEmpty {
      let place = AssociatedData.devices(vault: vault)
      let plain = try place.openPadded(parts.devices.span, under: sync, .header)
      devices = try fromFormat(.header, DeviceTable(decoding: plain.bytes))
    }
    guard let sealed = parts.remote else {
      return SharingMemory(parts: parts, devices: devices, remote: nil)
    }
    let place = AssociatedData.remoteMemory(vault: vault)
    let plain = try place.openPadded(sealed.span, under: sync, .header)
    let remote = try fromFormat(.header, RemoteMemory(decoding: plain.bytes))
    guard devices != nil else { throw .damaged(.header) }
    return SharingMemory(parts: parts, devices: devices, remote: remote)
  }

  /// Seals what copies know of each other.
  borrowing func seal(
    _ devices: DeviceTable, _ remote: RemoteMemory?
  ) throws(VaultError) -> CopyParts {
    let plain = try fromFormat(.header, devices.encode())
    var parts = CopyParts(
      devices: try AssociatedData.devices(vault: vault).sealPadded(
        plain.bytes, under: sync, .header))
    guard let remote else { return parts }
    let memory = try fromFormat(.header, remote.encode())
    parts.remote = try AssociatedData.remoteMemory(vault: vault).sealPadded(
      memory.bytes, under: sync, .header)
    return parts
  }

  /// Opens what is remembered of where a long value stands.
  borrowing func open(
    place sealed: Span<UInt8>, of value: ValueID
  ) throws(VaultError) -> ValuePlace {
    let place = AssociatedData.valuePlace(vault: vault, value: value)
    let plain = try place.openPadded(sealed, under: sync, .header)
    return try fromFormat(.header, ValuePlace(decoding: plain.bytes, of: value))
  }

  /// Seals where a long value stands.
  borrowing func seal(_ value: ValuePlace) throws(VaultError) -> [UInt8] {
    let place = AssociatedData.valuePlace(vault: vault, value: value.value.value)
    return try place.sealPadded(value.encoded.span, under: sync, .header)
  }
}

extension Storage {
  /// Writes what copies know of each other.
  mutating func store(_ parts: CopyParts) throws(StorageError) {
    if !parts.devices.isEmpty { try storePart(.devices, parts.devices.span) }
    if let remote = parts.remote { try storePart(.remote, remote.span) }
  }
}

extension RekeyKeys {
  /// Seals what copies know of each other anew, as it is in the next epoch; where long values stand is forgotten.
  func resealCopies(
    _ parts: CopyParts?, in storage: inout Storage, for epoch: EpochChange?
  ) throws(VaultError) -> CopyParts? {
    guard let parts, parts != CopyParts() else { return parts }
    let memory = try old.open(parts)
    guard var devices = memory.devices else { return parts }
    var remote = memory.remote
    if let epoch { try epoch.change(&remote, &devices) }
    let sealed = try next.seal(devices, remote)
    try fromStorage(storage.store(sealed))
    guard epoch != nil else { return sealed }
    while let value = try fromStorage(storage.placedValue(after: [])) {
      try fromStorage(storage.deletePlace(of: value.span))
    }
    return sealed
  }
}

extension Storage {
  /// What is remembered of where a long value stands; nil for nothing.
  ///
  /// - Throws: ``VaultError/damaged(_:)`` for a row that is none.
  mutating func place(
    of value: [UInt8], under keys: borrowing Keyring
  ) throws(VaultError) -> ValuePlace? {
    guard value.count == ValueID.byteCount else { throw .damaged(.header) }
    guard let sealed = try fromStorage(copiedPlace(of: value)) else { return nil }
    return try keys.open(place: sealed.span, of: ValueID(value.span))
  }

  private mutating func copiedPlace(of value: [UInt8]) throws(StorageError) -> [UInt8]? {
    guard let found = try place(of: value.span) else { return nil }
    return [UInt8](copying: found)
  }
}
