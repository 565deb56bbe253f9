// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

/// Keeps the secret half of this copy's pair on this machine, beside the secrets of codes and in no vault.
struct DeviceSeedFile {
  private let devices: DeviceSecrets
  private let name: String

  init(of vault: VaultID, in stateDirectory: String) {
    devices = DeviceSecrets(stateDirectory: stateDirectory)
    name = vault.hexadecimal + ".sync"
  }

  /// Where the seed stands that is to count from the next vault key on.
  private var nextName: String { name + ".new" }

  /// The seed of a copy; nil where this machine has none that opens.
  func seed(
    of device: DeviceID, in vault: VaultID, under key: borrowing Key
  ) throws(VaultError) -> DeviceSeed? {
    if let seed = try seed(in: name, device, vault, key) { return seed }
    // The vault was put under another key by an engine that was killed right then.
    guard let seed = try seed(in: nextName, device, vault, key) else { return nil }
    try publish()
    return seed
  }

  private func seed(
    in name: String, _ device: DeviceID, _ vault: VaultID, _ key: borrowing Key
  ) throws(VaultError) -> DeviceSeed? {
    let bytes: [UInt8]
    do throws(StorageError) {
      let place = try StatePlace.file(name, in: devices.directory)
      try place.checkFile()
      bytes = try StateFile.peek(place, DeviceSeed.byteCount + 1)
    } catch {
      guard error == .missing else {
        throw VaultError(error, ofState: name, in: devices.directory)
      }
      return nil
    }
    do throws(FormatError) {
      return try DeviceSeed.open(bytes.span, under: key, vault: vault, device: device)
    } catch {
      guard error == .damaged else { throw VaultError(error, about: .header) }
      return nil
    }
  }

  /// Whether any stands there.
  var isThere: Bool {
    guard let place = try? StatePlace.file(name, in: devices.directory) else { return false }
    return (try? place.identity()) != nil
  }

  /// Puts a seed in the place of what stands there; it is on the disk when this returns.
  func store(_ seed: borrowing DeviceSeed, under key: borrowing Key) throws(VaultError) {
    try prepare(seed, under: key)
    try publish()
  }

  /// Writes a seed beside the one that counts.
  func prepare(_ seed: borrowing DeviceSeed, under key: borrowing Key) throws(VaultError) {
    let bytes = try fromFormat(.header, seed.file(under: key))
    do throws(StorageError) {
      try FilePlace.makeDirectory(devices.directory)
      let place = try StatePlace.file(nextName, in: devices.directory)
      try devices.tag(place)
      place.remove()
      try place.createFile()
      try place.overwrite(with: bytes.span)
      try place.syncDirectory()
    } catch { throw VaultError(error, ofState: nextName, in: devices.directory) }
  }

  /// Takes away the seed that was written last, and does not count yet.
  func withdraw() { (try? StatePlace.file(nextName, in: devices.directory))?.remove() }

  /// Has the seed count that was written last.
  func publish() throws(VaultError) {
    do throws(StorageError) {
      let draft = try StatePlace.file(nextName, in: devices.directory)
      try draft.sibling(name).replace(with: draft)
    } catch { throw VaultError(error, ofState: name, in: devices.directory) }
  }
}

extension UnlockedVault {
  private var seedFile: DeviceSeedFile {
    DeviceSeedFile(of: id, in: options.stateDirectory)
  }

  /// The secret half of a copy's pair; nil where this machine has none.
  func seed(of device: DeviceID) throws(VaultError) -> DeviceSeed? {
    try seedFile.seed(of: device, in: id, under: keys.sync)
  }

  /// Whether this machine has the secret half of a pair for this vault, and it is another copy's.
  func isSeedOfAnother(than device: DeviceID) throws(VaultError) -> Bool {
    guard seedFile.isThere else { return false }
    return if try seed(of: device) != nil { false } else { true }
  }

  /// Keeps the secret half of a copy's pair, in place of any other that this machine has for this vault.
  func store(_ seed: borrowing DeviceSeed) throws(VaultError) {
    try seedFile.store(seed, under: keys.sync)
  }

  /// Writes the seed for another vault key, which is about to be committed.
  ///
  /// - Returns: Whether there is one.
  func prepareSeed(for next: borrowing Keyring) throws(VaultError) -> Bool {
    guard trust.copies?.remote != nil, let device = trust.root.copy?.device,
      let seed = try seed(of: device)
    else { return false }
    try seedFile.prepare(seed, under: next.sync)
    return true
  }

  /// Writes the seed of who this copy is about to be.
  func prepare(_ seed: borrowing DeviceSeed) throws(VaultError) {
    try seedFile.prepare(seed, under: keys.sync)
  }

  /// Has the seed count that ``prepareSeed(for:)`` or ``prepare(_:)`` wrote.
  func publishSeed() { try? seedFile.publish() }
}
