// SPDX-License-Identifier: MIT

public import KuraProtocol

/// Holds an attribute of an item. It is given on command lines and shown in lists: no place for a
/// secret.
public struct Attribute: Equatable, Sendable {
  /// UTF-8 without `=`, at most 255 bytes.
  public var key: String
  /// Any bytes.
  public var value: [UInt8]

  /// An attribute with any bytes.
  public init(key: String, value: [UInt8]) {
    self.key = key
    self.value = value
  }
}

/// Describes an item, all but its value.
public struct Item: Equatable, Sendable {
  /// The normalised name.
  public var name: String
  /// Revision, size, times, class and kind.
  public var facts: ItemFacts
  /// In the order of the vault: ascending by the bytes of their keys.
  public var attributes: [Attribute]

  /// An item that nobody stored.
  package init(name: String, facts: ItemFacts, attributes: [Attribute]) {
    self.name = name
    self.facts = facts
    self.attributes = attributes
  }

  init(_ entry: borrowing Entry) {
    name = String(repairing: entry.name.bytes)
    facts = entry.facts
    var attributes: [Attribute] = []
    attributes.reserveCapacity(entry.attributes.count)
    entry.attributes.forEach { key, value in
      attributes.append(Attribute(key: String(repairing: key), value: Array(copying: value)))
    }
    self.attributes = attributes
  }
}

/// Holds what `show` tells.
public struct ShownItem: Equatable, Sendable {
  /// The item as it is now.
  public var item: Item
  /// The earlier revisions that are kept, ascending.
  public var revisions: [UInt64]

  package init(item: Item, revisions: [UInt64]) {
    self.item = item
    self.revisions = revisions
  }
}

/// Says what to store, but for the value.
public struct PutOrder: Equatable, Sendable {
  /// The item's name.
  public var name: String
  /// When to store, and how.
  public var flags: PutRequest.Flags
  /// The revision the item must have, with `PutRequest.Flags.ifRevision`; else 0.
  public var revision: UInt64
  /// The attributes to set.
  public var attributes: [Attribute]
  /// When it was made and changed; nil: now.
  public var times: ItemTimes?

  /// A value for that name.
  public init(
    name: String, flags: PutRequest.Flags = [], revision: UInt64 = 0,
    attributes: [Attribute] = [], times: ItemTimes? = nil
  ) {
    self.name = name
    self.flags = flags
    self.revision = revision
    self.attributes = attributes
    self.times = times
  }
}

/// Says what to list; what is empty asks for nothing.
public struct ListOrder: Equatable, Sendable {
  /// Which items, and what of them.
  public var flags: ListRequest.Flags
  /// What names begin with.
  public var prefix: String
  /// An attribute that items have, with ``filterValue``.
  public var filterKey: String
  /// The bytes that the attribute has.
  public var filterValue: [UInt8]
  /// What a name or an attribute holds.
  public var text: String

  /// All items, but for what is asked.
  public init(
    flags: ListRequest.Flags = [], prefix: String = "", filterKey: String = "",
    filterValue: [UInt8] = [], text: String = ""
  ) {
    self.flags = flags
    self.prefix = prefix
    self.filterKey = filterKey
    self.filterValue = filterValue
    self.text = text
  }
}

/// Holds what an agent says of itself.
public struct AgentSummary: Equatable, Sendable {
  /// Its process id.
  public let processID: UInt32
  /// Its release, such as `0.1.0`.
  public let release: String
  /// Vaults that are unlocked.
  public let sessionCount: UInt16
  /// Bytes of guarded memory that cannot reach swap.
  public let lockedBytes: UInt64
  /// Bytes of guarded memory that can.
  public let unlockedBytes: UInt64

  init(_ report: AgentReport, in payload: Span<UInt8>) {
    processID = report.processID
    release = String(repairing: payload.extracting(report.release))
    sessionCount = report.sessionCount
    lockedBytes = report.lockedBytes
    unlockedBytes = report.unlockedBytes
  }
}
