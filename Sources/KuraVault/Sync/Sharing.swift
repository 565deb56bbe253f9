// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// What is remembered of the store that the vault is shared through, as of the last call that read the vault; nil
  /// where it is not shared.
  mutating func remoteMemory() throws(VaultError) -> RemoteMemory? {
    try openedSharing(trust.copies)?.remote
  }

  /// The copies of this vault that were heard of, likewise; nil where it was never shared.
  mutating func deviceTable() throws(VaultError) -> DeviceTable? {
    try openedSharing(trust.copies)?.devices
  }

  /// All of it, likewise.
  mutating func openedSharing() throws(VaultError) -> SharingMemory? {
    try openedSharing(trust.copies)
  }

  private mutating func openedSharing(
    _ parts: CopyParts?
  ) throws(VaultError) -> SharingMemory? {
    guard let parts else { return nil }
    let memory = if let sharing, sharing.parts == parts { sharing } else { try keys.open(parts) }
    sharing = memory
    return memory
  }

  /// The copy that this file is, once nothing may go on elsewhere under the same name.
  ///
  /// - Throws: ``VaultError/takesNewFormat``, and those of the file.
  mutating func ownDevice() throws(VaultError) -> DeviceID {
    try reading { _ throws(VaultError) in }
    let machine = try machine()
    if isUnproved(trust.root.copy) || keys.ring.ledger?.machine != machine {
      try writing { _, _ throws(VaultError) in }
    }
    guard let copy = trust.root.copy else { throw .takesNewFormat }
    return copy.device
  }

  /// Begins to share the vault: from now on it remembers a store.
  ///
  /// - Parameters:
  ///   - record: That of the epoch, as it stands in the store.
  ///   - epoch: The epoch.
  ///   - key: The public half of this copy's pair.
  ///   - label: What its owner calls it; by itself as the machine is.
  /// - Throws: ``VaultError/takesNewFormat``; ``VaultError/busy`` where it is shared already;
  ///   ``VaultError/labelInvalid(_:)``; those of the file.
  mutating func beginSharing(
    record: [UInt8], in epoch: DeviceTable.Epoch, key: [UInt8], label: [UInt8]? = nil
  ) throws(VaultError) {
    let label = try Sharing.label(label)
    try writing { vault, draft throws(VaultError) in
      guard let copy = draft.root.copy else { throw .takesNewFormat }
      guard vault.trust.copies?.remote == nil else { throw .busy }
      try fromStorage(vault.rows.storage.beginSharing())
      let note = try fromFormat(
        .header, DeviceNote(device: copy.device, label: label, key: key))
      var memory = RemoteMemory(device: copy.device, record: record)
      (memory.mustRewrite, memory.mustWalk, memory.mustPlaceNames) = (true, true, true)
      vault.keys.ring.ledger?.epoch = epoch
      try vault.store(DeviceTable(note), memory, &draft)
      try vault.storeRing(&draft)
    }
  }

  /// Changes what is remembered of the store, in one transaction; what the change throws undoes all.
  ///
  /// - Parameter change: Returns heads to keep beside it; each is noted with its device, and the one that is being
  ///   written goes with its note.
  /// - Throws: ``VaultError/noVault`` where the vault is not shared; those of the file.
  mutating func remember(
    _ change: (inout RemoteMemory, inout DeviceTable) throws(VaultError) -> [KeptHead]
  ) throws(VaultError) {
    try writing { vault, draft throws(VaultError) in try vault.remember(&draft, change) }
  }

  /// The same within a write transaction.
  mutating func remember(
    _ draft: inout Draft,
    _ change: (inout RemoteMemory, inout DeviceTable) throws(VaultError) -> [KeptHead]
  ) throws(VaultError) {
    let known = try openedSharing(draft.copies ?? trust.copies)
    guard var memory = known?.remote, var devices = known?.devices else { throw .noVault }
    let wasWriting = memory.pending != nil
    for head in try change(&memory, &devices) {
      try keep(head, memory, &devices)
    }
    if wasWriting, memory.pending == nil { try forgetHead(of: .zero) }
    try store(devices, memory, &draft)
  }

  private mutating func keep(
    _ head: KeptHead, _ memory: RemoteMemory, _ devices: inout DeviceTable
  ) throws(VaultError) {
    let id = if let bytes = head.bytes { try HeadID(of: bytes.span) } else { HeadID.zero }
    if head.device == .zero {
      precondition(memory.pending?.place.id ?? .zero == id, "the head is the one being written")
    } else {
      guard var note = devices[head.device] else {
        preconditionFailure("a head is kept of a device that was noted")
      }
      note.kept = id
      _ = devices.set(note)
    }
    guard let bytes = head.bytes else { return try forgetHead(of: head.device) }
    let device = head.device.bytes
    try fromStorage(rows.storage.storeHead(of: device.span, bytes.span))
  }

  private mutating func forgetHead(of device: DeviceID) throws(VaultError) {
    let device = device.bytes
    try fromStorage(rows.storage.deleteHead(of: device.span))
  }

  /// The head of a device that is kept, as it stood in the store; nil for none.
  ///
  /// - Parameter device: Zero for the own one that is being written.
  /// - Throws: ``VaultError/damaged(_:)`` for another one than was kept.
  mutating func keptHead(of device: DeviceID) throws(VaultError) -> [UInt8]? {
    try reading { vault throws(VaultError) in
      let memory = try vault.openedSharing(vault.trust.copies)
      let id =
        device == .zero ? memory?.remote?.pending?.place.id : memory?.devices?[device]?.kept
      guard let id, id != .zero else { return nil }
      return try vault.rows.storage.head(of: device, named: id)
    }
  }

  /// Notes that something came otherwise than by the store, where there is one.
  mutating func noteForeign(_ draft: inout Draft) throws(VaultError) {
    try change(&draft) { ($0.mustWalk, $0.leavesOld) = (true, false) }
  }

  /// Notes that this copy has another name from now on, and has what that had whose file it was.
  mutating func noteCopied(_ draft: inout Draft) throws(VaultError) {
    try change(&draft) { memory in
      memory.leaveOld()
      memory.mustWalk = true
    }
  }

  /// Notes that names are to be placed again: others do that where they hear of the change, and this copy hears nothing.
  mutating func noteFreedName(_ draft: inout Draft) throws(VaultError) {
    try change(&draft) { $0.mustPlaceNames = true }
  }

  /// Notes that names were placed again.
  mutating func notePlacedNames(_ draft: inout Draft) throws(VaultError) {
    try change(&draft) { $0.mustPlaceNames = false }
  }

  /// Notes that the slots are those of a slot table.
  mutating func noteSlots(_ draft: inout Draft) throws(VaultError) {
    try change(&draft) { $0.awaitsSlots = false }
  }

  private mutating func change(
    _ draft: inout Draft, _ change: (inout RemoteMemory) -> Void
  ) throws(VaultError) {
    let known = try openedSharing(draft.copies ?? trust.copies)
    guard var memory = known?.remote, let devices = known?.devices else { return }
    change(&memory)
    if memory != known?.remote { try store(devices, memory, &draft) }
  }
}

extension RemoteMemory {
  /// Leaves what was written in format 1 to that copy whose file this one was, if it had all of it in the store.
  mutating func leaveOld() {
    if standing.place != .none, pending == nil, !mustWalk { leavesOld = true }
  }
}

extension Storage {
  /// A head that is kept, which is the one that was.
  mutating func head(of device: DeviceID, named id: HeadID) throws(VaultError) -> [UInt8] {
    let device = device.bytes
    let bytes: [UInt8]
    do throws(StorageError) {
      guard let found = try head(of: device.span) else { throw .damaged(.part) }
      bytes = [UInt8](copying: found)
    } catch { throw VaultError(error) }
    guard try HeadID(of: bytes.span) == id else { throw .damaged(.header) }
    return bytes
  }
}

/// Finds what a copy that shares a vault is called.
enum Sharing {
  /// - Parameter typed: As its owner calls it; nil for what the machine calls itself, where that can be a label.
  /// - Throws: ``VaultError/labelInvalid(_:)``.
  static func label(_ typed: [UInt8]?) throws(VaultError) -> [UInt8] {
    guard let typed else {
      let name = Machine.hostName()
      return (try? SlotLabel.prepare(name.span)) ?? []
    }
    return try typed.isEmpty ? [] : fromFormat(.header, SlotLabel.prepare(typed.span))
  }
}
