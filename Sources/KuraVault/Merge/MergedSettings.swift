// SPDX-License-Identifier: MIT

internal import KuraFormat

extension Sequence where Element: Revised {
  /// The sides of what has no history, a setting or the slot table, with those of another copy.
  func taking(_ other: some Sequence<Element>) -> [Element] {
    let known = Set(self.map { $0.lineage.stamp.id })
    return (self + other.filter { !known.contains($0.lineage.stamp.id) }).sides
  }
}

extension Setting {
  /// The value that is in force of those that sides have: the strictest, so that a copy which did not hear of a
  /// stricter one loosens nothing.
  ///
  /// - Returns: Nil for a setting of one machine, which does not travel, and for no value.
  func strictest(of values: some Sequence<UInt64>) -> UInt64? {
    switch self {
    case .idleTimeout, .maxSession, .reuseWindow: values.min()
    case .lockOnSleep, .historyDepth: values.max()
    case .logSync, .eraseLocalAfter, .logEntries: nil
    }
  }
}

extension Sequence<SlotTableSide> {
  /// The slots that stand: those that every side has that knew of them.
  ///
  /// If no passcode and no recovery key stood so, those that any side has stand, and the owner is told: nobody shall
  /// be locked out by two removals that did not know of each other.
  var standing: [SlotTableSide.Slot] {
    var every: [SlotID: SlotTableSide.Slot] = [:]
    for side in self { for slot in side.slots { every[slot.id] = slot } }
    let agreed = every.values.filter { slot in
      self.allSatisfy { $0.slots.contains(slot) || !$0.lineage.vector.covers(slot.made) }
    }
    let opens = { (slot: SlotTableSide.Slot) in
      slot.kind == .passcode || slot.kind == .recoveryKey
    }
    let back = agreed.contains(where: opens) ? [] : every.values.filter(opens)
    return (agreed + back).sorted { $0.id < $1.id }
  }
}
