// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

// What effects bring back.

extension Model {
  /// The names are here.
  mutating func loaded(_ table: NameTable) -> [Effect] {
    list.load(table)
    guard let wanted = resumed else { return [] }
    resumed = nil
    guard page == .item else { return page == .settings ? [.settings] : [] }
    for index in 0..<table.count where ItemList.mark(table.name(index)) == wanted {
      return [.show(table.name(index))]
    }
    page = .list
    return []
  }

  /// An item is here, all but its value.
  mutating func opened(_ shown: ShownItem, _ secrets: [OpenItem.Secret]) -> [Effect] {
    let opened = OpenItem(shown, secrets)
    let givesCodes = opened.givesCodes
    item = consume opened
    page = .item
    list.choose(shown.item.name)
    return givesCodes ? [.code(shown.item.name)] : []
  }

  /// Has what is shown of the open item be an attribute, or the value.
  ///
  /// - Returns: Whether it has that.
  mutating func choose(_ key: String?) -> Bool { item?.choose(key) ?? false }

  /// A value is here.
  mutating func revealed(_ value: consuming SecretBytes, revision: UInt64, now: UInt64) {
    item?.show(value, revision: revision, until: now + Self.shown)
    page = .item
  }

  /// A code is here.
  mutating func coded(_ code: consuming SecretBytes, left: UInt64, now: UInt64) {
    item?.show(code: code, until: left == 0 ? 0 : now + left)
  }

  mutating func versionsLoaded(_ items: [Item]) {
    versions = items.reversed()
    version = 0
    page = .history
  }

  mutating func settingsLoaded(_ values: [SettingValue]) {
    settings = values.filter { Setting(rawValue: $0.key) != nil }
    setting = min(setting, max(settings.count - 1, 0))
    page = .settings
  }

  /// An item is gone, and can be brought back.
  mutating func removed(_ name: String) -> [Effect] {
    removed = name
    message = "deleted; u brings it back"
    item = nil
    page = .list
    return [.load]
  }

  /// A value was made, in the line where one would have been typed.
  mutating func generated(_ value: borrowing SecretBytes) {
    field?.removeAll()
    try? field?.begin(with: value.bytes)
    message = "made by chance: Enter stores it, Tab shows it"
  }

  /// An effect takes the owner's passcode.
  mutating func needsOwner(_ effect: Effect) {
    let kind = ways.owner
    field = try? Field(.owner(effect), kind.label, isHidden: true)
    message = "this takes your " + kind.label
  }

  /// An item was changed since it was read: what was typed waits for an answer.
  mutating func conflicted(_ name: String, current: UInt64, _ value: consuming SecretBytes) {
    give(value)
    question = .overwrite(name, current: current)
  }
}
