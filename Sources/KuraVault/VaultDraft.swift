// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage
public import SecureMemory

/// Holds a new vault that is complete, and has no name yet: it becomes one with ``commit()``, once its owner
/// has written down the recovery key. Dropping it removes the file.
public struct VaultDraft: ~Copyable, Sendable {
  private let file: DraftFile
  private let target: FilePlace
  private let seen: FirstSight
  private let text: SecretBytes?
  private var device: DraftDevice

  init(
    _ file: consuming DraftFile, _ target: FilePlace, _ seen: FirstSight,
    _ device: consuming DraftDevice,
    text: consuming SecretBytes? = nil
  ) {
    (self.target, self.seen) = (target, seen)
    self.file = file
    self.device = device
    self.text = text
  }

  /// The recovery key as it is to be written down; without bytes when none was wanted.
  public var recoveryKeyText: Span<UInt8> {
    @_lifetime(borrow self) borrowing get {
      switch text {
      case .some(let text): text.bytes
      case .none: Span()
      }
    }
  }

  /// Gives the vault its name, and notes that this machine has seen it. What stands there is never
  /// overwritten.
  ///
  /// - Throws: ``VaultError/pathTaken`` and other errors of the file; the draft is gone.
  public consuming func commit() throws(VaultError) {
    try publish()
    device.keep()
  }

  private borrowing func publish() throws(VaultError) {
    guard !target.hasWAL else { throw .walLeftBehind }
    try fromStorage(target.publish(file.place))
    // A machine that keeps no state will say that it sees the vault for the first time.
    try? seen.write()
  }
}

// MARK: - Making

extension VaultDraft {
  /// Writes a new vault beside the path that it is to have; slow.
  ///
  /// - Parameters:
  ///   - path: Absolute; directories that are missing are made, with mode 0700.
  ///   - options: Where this machine's state stands, and the time.
  ///   - passcode: As typed, without a line end; only borrowed.
  ///   - kdf: What a guess at the passcode is to cost.
  ///   - allowsWeak: Whether it may cost less than `KDFLimits.floor`.
  ///   - wantsRecoveryKey: Whether there is to be a recovery key.
  ///   - isCode: Whether the passcode is a code for this machine alone; the recovery key opens the vault
  ///     on others, and must be wanted.
  /// - Throws: ``VaultError/pathTaken``, ``VaultError/walLeftBehind``,
  ///   ``VaultError/directoryUnsafe(_:)``, ``VaultError/passcodeInvalid(_:)``,
  ///   ``VaultError/kdfTooWeak`` and other errors of the file; nothing is left behind.
  public static func make(
    at path: String, options: VaultOptions, passcode: borrowing SecretBytes, kdf: KDFParameters,
    allowsWeak: Bool = false, wantsRecoveryKey: Bool, isCode: Bool = false
  ) throws(VaultError) -> VaultDraft {
    guard wantsRecoveryKey || !isCode else { throw .lastSlot }
    let target = try freePlace(path)
    let slots = try FirstSlots.prepare(
      isCode
        ? try PreparedSlot.local(passcode, kdf: kdf, allowsWeak: allowsWeak)
        : try PreparedSlot.passcode(passcode, kdf: kdf, allowsWeak: allowsWeak),
      wantsRecoveryKey: wantsRecoveryKey)
    try StatePlace.check(options.stateDirectory)
    let file = try DraftFile.make(beside: target)
    let seen = try slots.writeVault(at: file.place, for: target, options)
    let device = try DraftDevice.make(for: slots.passcode, in: options.stateDirectory)
    return VaultDraft(file, target, seen, device, text: try slots.copiedText())
  }

  /// Checks that a vault can be made at a path.
  static func freePlace(_ path: String) throws(VaultError) -> FilePlace {
    let target = try fromStorage(FilePlace.resolve(path, makingDirectory: true))
    try fromStorage(target.checkDirectory())
    guard (try? target.identity()) == nil else { throw .pathTaken }
    guard !target.hasWAL else { throw .walLeftBehind }
    return target
  }
}

/// Removes a file when it is dropped, unless that was given another name before.
struct DraftFile: ~Copyable {
  let place: FilePlace

  deinit { place.remove() }

  /// Makes an empty file beside the one that is to be.
  static func make(beside target: FilePlace) throws(VaultError) -> DraftFile {
    let place = target.sibling("\(target.name).new-\(try SlotID.fresh().hexadecimal)")
    try fromStorage(place.createFile())
    return DraftFile(place: place)
  }
}

/// Removes what this machine keeps of a new vault, a secret for its first slot or the seed of the copy, unless the vault
/// was given its name.
struct DraftDevice: ~Copyable {
  private let devices: DeviceSecrets
  private var slot: SlotID?
  private var seed: DeviceSeedFile?

  deinit {
    if let slot { devices.remove(slot) }
    seed?.withdraw()
  }

  /// Writes the seed of a new copy beside the one that counts.
  static func make(
    for copy: borrowing DeviceSeed, under key: borrowing Key, in stateDirectory: String
  ) throws(VaultError) -> DraftDevice {
    let file = DeviceSeedFile(of: copy.vault, in: stateDirectory)
    try file.prepare(copy, under: key)
    return DraftDevice(
      devices: DeviceSecrets(stateDirectory: stateDirectory), slot: nil, seed: file)
  }

  static func make(
    for slot: borrowing PreparedSlot, in stateDirectory: String
  ) throws(VaultError) -> DraftDevice {
    let devices = DeviceSecrets(stateDirectory: stateDirectory)
    switch slot.deviceSecret {
    case .some(let secret):
      try devices.store(secret, of: slot.header.id)
      return DraftDevice(devices: devices, slot: slot.header.id)
    case .none: return DraftDevice(devices: devices, slot: nil)
    }
  }

  /// Leaves the secret where it is, and has the seed count.
  mutating func keep() {
    slot = nil
    // Who finds it where it was written takes it from there.
    try? seed.take()?.publish()
  }
}

extension PreparedSlot {
  /// A copy of the recovery key's text.
  fileprivate borrowing func copiedText() throws(VaultError) -> SecretBytes {
    try fromMemory(SecretBytes(copying: recoveryKeyText))
  }
}

/// Makes the first rows of a vault.
private struct FirstSlots: ~Copyable {
  let passcode: PreparedSlot
  let recovery: PreparedSlot?

  static func prepare(
    _ lock: consuming PreparedSlot, wantsRecoveryKey: Bool
  ) throws(VaultError) -> FirstSlots {
    guard wantsRecoveryKey else { return FirstSlots(passcode: lock, recovery: nil) }
    return FirstSlots(passcode: lock, recovery: try PreparedSlot.recoveryKey())
  }

  /// A copy of the recovery key's text.
  borrowing func copiedText() throws(VaultError) -> SecretBytes? {
    switch recovery {
    case .some(let recovery): return try recovery.copiedText()
    case .none: return nil
    }
  }

  /// Writes a whole vault into an empty file.
  ///
  /// - Returns: What this machine is to remember of it.
  borrowing func writeVault(
    at place: FilePlace, for target: FilePlace, _ options: VaultOptions
  ) throws(VaultError) -> FirstSight {
    let now = options.now()
    let header = VaultHeader(vault: try VaultID.fresh())
    let vaultKey = try Key.fresh()
    let pair = try fromCrypto(.ring, ProtectedPair.random())
    var ring = Ring(dataKey: try Key.fresh(), created: now, protectedHalf: pair.publicHalf)
    try noteSlots(in: &ring, now)
    let slots = try rows(vaultKey, pair, header.vault, now)
    let sealedRing = try Keyring.sealFirst(ring, under: vaultKey, vault: header.vault)
    let keys = try Keyring.derive(from: vaultKey, of: header, sealedRing: sealedRing)
    let root = RootRecord(
      epoch: 1, itemCount: 0, deletedCount: 0, depth: 1, treeRoot: .zero,
      headerDigest: try keys.headerDigest(
        header: header.encoded, ring: sealedRing, copies: nil, slots: slots),
      previous: .zero, writer: try WriterID.fresh(), time: now)
    try store(header.encoded, sealedRing, try keys.seal(root), slots, in: place)
    return try FirstSight(root, at: target, keys, in: options.stateDirectory)
  }

  private borrowing func noteSlots(in ring: inout Ring, _ now: UInt64) throws(VaultError) {
    ring.notes.set(try passcode.note(created: now, label: []))
    switch recovery {
    case .some(let slot): ring.notes.set(try slot.note(created: now, label: []))
    case .none: break
    }
  }

  private borrowing func rows(
    _ vaultKey: borrowing Key, _ pair: borrowing ProtectedPair, _ vault: VaultID, _ now: UInt64
  ) throws(VaultError) -> [SlotRow] {
    let payload = try SlotPayload.of(vaultKey, created: now)
    var rows = [try passcode.row(0, holding: payload, protected: pair.secretHalf, vault: vault)]
    switch recovery {
    case .some(let recovery):
      rows.append(
        try recovery.row(1, holding: payload, protected: pair.secretHalf, vault: vault))
    case .none: break
    }
    return rows
  }

  private borrowing func store(
    _ header: [UInt8], _ ring: [UInt8], _ root: [UInt8], _ slots: [SlotRow], in place: FilePlace
  ) throws(VaultError) {
    do {
      var storage = try Storage.create(at: place.path)
      try storage.beginWrite()
      try storage.storePart(.header, header.span)
      try storage.storePart(.ring, ring.span)
      try storage.storePart(.root, root.span)
      for slot in slots { try storage.storeSlot(slot) }
      try storage.commit()
      try storage.truncateWAL()
    } catch { throw VaultError(error) }
  }
}
