// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat

/// Tells who shares a vault, as far as this copy knows.
public struct SharingState: Sendable {
  /// Tells of one machine.
  public struct Device: Sendable {
    /// Its id.
    public let id: DeviceID
    /// What its owner calls it, UTF-8; empty where that is not known.
    public let label: [UInt8]
    /// The number of its head that was taken last; of this one, that arrived last.
    public let number: UInt64
    /// When it was heard last, by this machine's clock, in milliseconds since 1970; 0 for never.
    public let heardTime: UInt64
    /// Whether it is the copy that tells.
    public let isThis: Bool
    /// Whether its owner took it out.
    public let isRemoved: Bool
    /// Whether it shares the vault, and nothing was heard of it in the epoch that the vault is in.
    public let isBehind: Bool
  }

  /// The epoch that the vault is in.
  public let epoch: DeviceTable.Epoch
  /// All of them, ascending by their ids.
  public let devices: [Device]
  /// What machines that know the same heads tell each other by; 16 bytes.
  public let heads: [UInt8]
  /// The same without this machine's own: what another one tells that has not heard of it.
  public let otherHeads: [UInt8]
  /// How many changes of this copy no head of its own has brought to the store.
  public let waiting: UInt64
  /// Whether the store gets recovery keys alone.
  public let isSparing: Bool
}

extension UnlockedVault {
  /// Has the others call this copy something else, from its next head on.
  ///
  /// - Throws: ``VaultError/notShared``; ``VaultError/labelInvalid(_:)``; those of the file.
  public mutating func relabel(_ label: [UInt8]) throws(VaultError) {
    let prepared = try fromFormat(.header, SlotLabel.prepare(label.span))
    let device = try settledSeed().device
    try remember { _, table throws(VaultError) in
      guard var note = table[device] else { throw .damaged(.header) }
      note.label = prepared
      guard table.set(note) else { throw .damaged(.header) }
      return []
    }
  }

  /// Who shares the vault; nil where nobody does.
  public mutating func sharingState() throws(VaultError) -> SharingState? {
    try reading { _ throws(VaultError) in }
    guard let memory = try remoteMemory(), let copy = trust.root.copy else { return nil }
    let epoch = try epoch()
    let devices = try tableOfShared().notes.map { note in
      let isThis = note.device == copy.device
      return SharingState.Device(
        id: note.device, label: note.label,
        number: isThis ? memory.standing.place.number : note.taken.number,
        heardTime: note.heardTime, isThis: isThis, isRemoved: note.removedAt != nil,
        isBehind: !isThis && note.removedAt == nil && note.epoch != epoch)
    }
    let sent = memory.covered.counter(of: copy.device)
    return SharingState(
      epoch: epoch, devices: devices, heads: try heads(memory, but: nil),
      otherHeads: try heads(memory, but: copy.device),
      waiting: copy.counter > sent ? copy.counter - sent : 0, isSparing: try sparesStore())
  }

  /// A hash over the last head of each machine that was taken, and the own one: see kura-sync-format(5).
  private mutating func heads(
    _ memory: RemoteMemory, but left: DeviceID?
  ) throws(VaultError) -> [UInt8] {
    var bytes = Array("kura1/heads".utf8)
    for note in try tableOfShared().notes where note.removedAt == nil && note.device != left {
      let place = note.device == memory.device ? memory.standing.place : note.taken
      guard place.number > 0 else { continue }
      bytes += note.device.bytes
      bytes += (0..<8).map { UInt8(truncatingIfNeeded: place.number >> (8 * $0)) }
      bytes += place.id.bytes
    }
    do throws(CryptoError) {
      var hash = try KeyedHash(key: keys.remote, byteCount: 16)
      hash.update(bytes.span)
      return hash.finalize().bytes
    } catch { throw .outOfMemory }
  }
}
