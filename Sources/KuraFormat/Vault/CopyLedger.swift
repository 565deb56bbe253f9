// SPDX-License-Identifier: MIT

/// Keeps what a ring of format 2 has for copies of the vault: on which machine this one is, what was done to slots
/// and settings, and what waits.
public struct CopyLedger: Equatable, Sendable {
  /// The most sides of the slot table or of a setting: as many as their count can say.
  public static let mostSides = 255

  /// Stands for the machine that this copy is on; zero where it cannot be told.
  public var machine: MachineID
  /// The remote's epoch; zero where there is none.
  public var epoch: DeviceTable.Epoch = .zero
  /// The changes of the slot table that nothing followed, ascending by the ids of their revisions.
  public var slots: [SlotTableSide] = []
  /// Those of settings, ascending by their keys.
  public var settings: [SettingSides] = []
  /// Slots that found no room.
  public var waiting: [WaitingSlot] = []
  /// Halves that a body may still be sealed to, ascending by the public one.
  public var formerHalves: [FormerHalf] = []

  /// Marks 16 bytes as a machine's, as one vault knows it.
  public enum MachineSubject: Sendable {}
  /// A machine, as one vault knows it.
  public typealias MachineID = Identifier<MachineSubject>

  /// What a vault has that was just taken over.
  public init(machine: MachineID) { self.machine = machine }

  /// The same for other slots under another key: what was known of those before is of no use.
  var withoutSlots: CopyLedger {
    var ledger = self
    (ledger.slots, ledger.waiting) = ([], [])
    return ledger
  }

  /// The same for another vault, whose keys and remotes are its own: what was done to settings.
  public func cloned(to machine: MachineID) -> CopyLedger {
    var ledger = CopyLedger(machine: machine)
    ledger.settings = settings
    return ledger
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    machine = try reader.identifier()
    epoch = try reader.identifier()
    let slotSides = Int(try reader.integer(UInt8.self))
    for _ in 0..<slotSides {
      let side = try SlotTableSide(&reader)
      if let last = slots.last, last.lineage.stamp.id >= side.lineage.stamp.id { throw .damaged }
      slots.append(side)
    }
    let settingCount = try CopyLedger.count(&reader, upTo: Policy.mostEntries)
    for _ in 0..<settingCount {
      let setting = try SettingSides(&reader)
      if let last = settings.last, last.key >= setting.key { throw .damaged }
      settings.append(setting)
    }
    let waitingCount = try CopyLedger.count(&reader, upTo: WaitingSlot.most)
    for _ in 0..<waitingCount { waiting.append(try WaitingSlot(&reader)) }
    let halfCount = try CopyLedger.count(&reader, upTo: FormerHalf.most)
    for _ in 0..<halfCount {
      let half = try FormerHalf(&reader)
      if let last = formerHalves.last, !last.publicHalf.lexicographicallyPrecedes(half.publicHalf) {
        throw .damaged
      }
      formerHalves.append(half)
    }
  }

  private static func count(
    _ reader: inout ByteReader, upTo most: Int
  ) throws(FormatError) -> Int {
    let count = Int(try reader.integer(UInt8.self))
    guard count <= most else { throw .damaged }
    return count
  }

  var encoded: [UInt8] {
    var bytes: [UInt8] = []
    bytes.append(machine)
    bytes.append(epoch)
    bytes.append(UInt8(slots.count))
    for side in slots { side.append(to: &bytes) }
    bytes.append(UInt8(settings.count))
    for setting in settings { setting.append(to: &bytes) }
    bytes.append(UInt8(waiting.count))
    for slot in waiting { slot.append(to: &bytes) }
    bytes.append(UInt8(formerHalves.count))
    for half in formerHalves { half.append(to: &bytes) }
    return bytes
  }
}
