// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

/// Keeps the secrets of this machine that `local` slots take beside their codes: one file a slot, read into
/// guarded memory and never written anywhere else.
struct DeviceSecrets: Sendable {
  /// The length of each, in bytes.
  static let byteCount = 32

  /// What keeps backup programs away (bford.info/cachedir): a copy of the secret beside a copy of the
  /// vault leaves only the short code.
  private static let cacheTag = """
    Signature: 8a477f597d28d172789f06886806bc55
    # Secrets of this machine, made by kura; they are of no use anywhere else.

    """

  let directory: String

  /// Which TPMs this machine has had.
  let chips: KnownChips

  init(stateDirectory: String) {
    directory = stateDirectory + "/device"
    chips = KnownChips(stateDirectory: stateDirectory)
  }

  private func place(of slot: SlotID) throws(StorageError) -> FilePlace {
    try StatePlace.file(slot.hexadecimal + ".secret", in: directory)
  }

  /// Whether the slot's secret is on this machine, for this user alone.
  func has(_ slot: SlotID) -> Bool { (try? place(of: slot).checkFile()) != nil }

  /// The slot's secret; nil where this machine does not have it.
  ///
  /// - Throws: ``VaultError/deviceSecretUnsafe(_:)`` when others can read it, and those of the file.
  func secret(of slot: SlotID) throws(VaultError) -> SecretBytes? {
    var secret = try fromMemory(SecretBytes(count: DeviceSecrets.byteCount))
    do throws(StorageError) {
      let place = try place(of: slot)
      try place.checkFile()
      try read(place, into: &secret)
      return secret
    } catch {
      if error == .missing { return nil }
      guard case .exposedFile(let exposure) = error else { throw VaultError(error) }
      throw .deviceSecretUnsafe(UnsafeReason(exposure))
    }
  }

  private func read(
    _ place: FilePlace, into secret: inout SecretBytes
  ) throws(StorageError) {
    var room = secret.mutableBytes
    guard try place.read(into: &room) == DeviceSecrets.byteCount else { throw .missing }
  }
}

// MARK: - What is done about its code

extension DeviceRule.Subject {
  fileprivate var suffix: String {
    switch self {
    case .erase: ".erase"
    case .submit: ".submit"
    }
  }
}

extension DeviceSecrets {
  private func place(
    of subject: DeviceRule.Subject, _ slot: SlotID
  ) throws(StorageError) -> FilePlace {
    try StatePlace.file(slot.hexadecimal + subject.suffix, in: directory)
  }

  /// After how many wrong codes the slot's secret is destroyed; 0 for never, and without a secret here.
  ///
  /// - Throws: ``VaultError/eraseRuleDamaged``, and those of the file.
  func eraseLimit(of slot: SlotID) throws(VaultError) -> UInt64 {
    try value(.erase, of: slot)
  }

  /// At how many characters a prompt sends the slot's code by itself; 0 for not at all.
  func submitLength(of slot: SlotID) -> UInt8 {
    let length = (try? value(.submit, of: slot)) ?? 0
    return Credential.codeLengths.contains(Int(clamping: length)) ? UInt8(length) : 0
  }

  private func value(
    _ subject: DeviceRule.Subject, of slot: SlotID
  ) throws(VaultError) -> UInt64 {
    guard let secret = try secret(of: slot) else { return 0 }
    let bytes: [UInt8]
    do throws(StorageError) {
      bytes = try StateFile.peek(try place(of: subject, slot), DeviceRule.byteCount + 1)
    } catch {
      guard error == .missing else { throw VaultError(error) }
      return 0
    }
    do {
      return try DeviceRule(decoding: bytes.span, subject, secret: secret.bytes, slot: slot).value
    } catch {
      throw error == .outOfMemory ? .outOfMemory : .eraseRuleDamaged
    }
  }

  /// Brings the slot's copy of the setting up to date; nothing is done where its secret is not here.
  func setEraseLimit(_ limit: UInt64, of slot: SlotID) throws(VaultError) {
    guard has(slot) else { return }
    let isKnown = (try? eraseLimit(of: slot)) == limit
    if !isKnown { try set(.erase, limit, of: slot) }
  }

  /// Has prompts send the slot's code by itself.
  func setSubmitLength(_ length: Int, of slot: SlotID) throws(VaultError) {
    try set(.submit, UInt64(length), of: slot)
  }

  private func set(
    _ subject: DeviceRule.Subject, _ value: UInt64, of slot: SlotID
  ) throws(VaultError) {
    guard let secret = try secret(of: slot) else { return }
    let bytes = try fromFormat(
      .slot, DeviceRule(subject, slot: slot, value: value).encode(secret: secret.bytes))
    do {
      let place = try place(of: subject, slot)
      let isNew = (try? place.identity()) == nil
      let file = try StateFile.open(place, lock: .exclusive, creating: true, patience: 50)
      try file.write(bytes.span, at: 0, length: DeviceRule.byteCount)
      if isNew { try place.syncDirectory() }
    } catch { throw VaultError(error) }
  }
}

// MARK: - Making and ending

extension DeviceSecrets {
  /// Puts a slot's secret into its file, which is on the disk when this returns.
  func store(_ secret: borrowing SecretBytes, of slot: SlotID) throws(VaultError) {
    do throws(StorageError) {
      try FilePlace.makeDirectory(directory)
      let place = try place(of: slot)
      try tag(place)
      try place.createFile()
      do throws(StorageError) {
        try place.overwrite(with: secret.bytes)
        try place.syncDirectory()
      } catch {
        place.remove()
        throw error
      }
    } catch { throw VaultError(error) }
  }

  /// Destroys a slot's secret: overwritten as far as the file system does that, then removed.
  func remove(_ slot: SlotID) {
    guard let place = try? place(of: slot), (try? place.checkFile()) != nil else { return }
    let zeros = [UInt8](repeating: 0, count: DeviceSecrets.byteCount)
    try? place.overwrite(with: zeros.span)
    place.remove()
    for subject in [DeviceRule.Subject.erase, .submit] {
      (try? self.place(of: subject, slot))?.remove()
    }
    try? place.syncDirectory()
  }

  func tag(_ sibling: FilePlace) throws(StorageError) {
    let tag = sibling.sibling("CACHEDIR.TAG")
    do { try tag.createFile() } catch {
      guard error == .exists else { throw error }
      return
    }
    try tag.overwrite(with: Array(DeviceSecrets.cacheTag.utf8).span)
  }
}
