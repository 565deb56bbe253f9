// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import Synchronization

/// Opens what one protected body holds, its value and its secret attributes, each as it is now, and no other; wiped
/// when dropped.
public final class BodyKey: Sendable {
  private let item: ItemID
  /// The value's is the first.
  private let seals: [SealKey]

  /// How many keys it is made of: that of the value, and one for each secret attribute.
  public var count: Int { seals.count }

  init(of item: ItemID, _ seals: [SealKey]) {
    self.item = item
    self.seals = seals
  }

  /// Whether it opens all that the other one does.
  public func covers(_ other: BodyKey) -> Bool {
    item == other.item
      && other.seals.allSatisfy { seal in seals.contains { $0.ephemeral == seal.ephemeral } }
  }

  /// The key of what stands beside an ephemeral half in an item; nil where it opens others.
  func seal(beside ephemeral: Span<UInt8>, of item: ItemID) -> SealKey? {
    seals.first { $0.opens(item == self.item, ephemeral) }
  }

  /// Whether it opens the value beside that ephemeral half.
  func opensValue(beside ephemeral: Span<UInt8>, of item: ItemID) -> Bool {
    seals.first?.opens(item == self.item, ephemeral) ?? false
  }
}

/// Opens a single value or attribute.
final class SealKey: Sendable {
  let ephemeral: [UInt8]
  let key: Key

  init(beside ephemeral: Span<UInt8>, _ key: consuming Key) {
    self.ephemeral = [UInt8](copying: ephemeral)
    self.key = key
  }

  func opens(_ isOfItem: Bool, _ ephemeral: Span<UInt8>) -> Bool {
    let own = self.ephemeral
    return isOfItem && ephemeral.isEqual(to: own.span)
  }
}

/// Counts the values and attributes that single keys opened, for who may open so many and no more.
public final class OpenedSeals: Sendable {
  private let opened = Atomic(0)

  /// How many there were so far.
  public var count: Int { opened.load(ordering: .relaxed) }

  /// Nothing was opened yet.
  public init() {}

  func add() { opened.add(1, ordering: .relaxed) }
}

extension UnlockedVault {
  /// The state of the vault that was looked at last: another one has another number.
  public var lastEpoch: UInt64 { trust.root.epoch }

  /// Whether the key opens the value that an item has now.
  ///
  /// - Parameters:
  ///   - body: What opened the item's value once.
  ///   - name: The item's name; normalised here.
  /// - Returns: False, too, where another item or none has the name.
  /// - Throws: Those of reading.
  public mutating func isCurrent(
    _ body: BodyKey, of name: Span<UInt8>
  ) throws(VaultError) -> Bool {
    let tag = try tag(of: name)
    return try reading { vault throws(VaultError) in
      let found = try vault.rows.withCurrent(tag, under: vault.trust.root, vault.keys) {
        found, keys throws(VaultError) in
        let facts = found.facts
        guard facts.protection == .protected, facts.kind != .deleted else { return false }
        let parts = try keys.parts(found.row.body, facts)
        let value = try keys.protectedBody(parts.value, facts)
        return body.opensValue(beside: value.ephemeral, of: facts.id)
      }
      return found ?? false
    }
  }
}
