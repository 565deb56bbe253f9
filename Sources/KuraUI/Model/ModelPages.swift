// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

// What keys do on each page.

extension Model {
  /// The rows of a list that are in view.
  var listHeight: Int { max(rows - 4, 1) }

  /// Moves within a list; false: the key is another one.
  private mutating func moves(_ key: Key) -> Bool {
    switch key {
    case .up, .control("P"): list.move(by: -1)
    case .down, .control("N"): list.move(by: 1)
    case .pageUp: list.move(by: -listHeight)
    case .pageDown: list.move(by: listHeight)
    case .home: list.move(by: -list.rows.count)
    case .end: list.move(by: list.rows.count)
    case .wheelUp: list.move(by: -3)
    case .wheelDown: list.move(by: 3)
    case .click(let row, _):
      guard row >= 2, row < 2 + listHeight else { return true }
      list.select(list.top + row - 2)
    default: return false
    }
    return true
  }

  mutating func searchKey(_ key: Key) -> [Effect] {
    switch key {
    case .character(let scalar):
      list.look(for: list.search + String(Character(scalar)))
    case .backspace:
      list.look(for: String(String.UnicodeScalarView(list.search.unicodeScalars.dropLast())))
    case .control("U"): list.look(for: "")
    case .enter: return open()
    case .escape:
      if isPicker { return [.quit] }
      list.isSearching = false
    default: if moves(key) { list.show(height: listHeight) }
    }
    return []
  }

  mutating func listKey(_ key: Key) -> [Effect] {
    let before = list.selected
    if moves(key) {
      list.show(height: listHeight)
      if case .click(let row, _) = key, list.top + row - 2 == before { return open() }
      return []
    }
    switch key {
    case .enter, .right: return open()
    case .left, .backspace: _ = list.leave()
    case .escape: if !list.leave() { list.look(for: "") }
    case .character("j"): list.move(by: 1)
    case .character("k"): list.move(by: -1)
    case .character("/"): list.isSearching = true
    case .character("t"): list.toggleTree()
    case .character("q"): return [.quit]
    case .character("r"): return [.load]
    case .character("n"): field = try? Field(.newName, "name", isHidden: false)
    case .character("u"):
      guard let name = removed else { return [] }
      removed = nil
      return [.restore(name, revision: 0)]
    case .character("c"), .character("y"):
      guard let name = list.name else { return [] }
      let mark = list.names.mark(list.rows[list.selected].index)
      let copied: Copied = mark.contains(.code) ? .code : .value
      return [.copy(name, copied, isProtected: mark.contains(.protected))]
    default: break
    }
    list.show(height: listHeight)
    return []
  }

  private mutating func open() -> [Effect] {
    if list.enter() { return [] }
    guard let name = list.name else { return [] }
    list.isSearching = isPicker
    return [isPicker ? .pick(name) : .show(name)]
  }

  mutating func settingsKey(_ key: Key) -> [Effect] {
    switch key {
    case .up, .character("k"): setting = max(setting - 1, 0)
    case .down, .character("j"): setting = min(setting + 1, max(settings.count - 1, 0))
    case .escape, .left, .backspace, .character("q"): page = .list
    case .enter:
      guard settings.indices.contains(setting),
        let chosen = Setting(rawValue: settings[setting].key)
      else {
        return []
      }
      if chosen.unit == .flag { return [.set(chosen, settings[setting].value == 0 ? 1 : 0)] }
      field = try? Field(.setting(chosen), chosen.name, isHidden: false)
    default: break
    }
    return []
  }

  mutating func historyKey(_ key: Key) -> [Effect] {
    switch key {
    case .up, .character("k"): version = max(version - 1, 0)
    case .down, .character("j"): version = min(version + 1, max(versions.count - 1, 0))
    case .escape, .left, .backspace, .character("q"): page = hasItem ? .item : .list
    case .enter, .character("v"):
      guard versions.indices.contains(version), versions[version].facts.size <= OpenItem.longest
      else {
        return []
      }
      let old = versions[version]
      return [.reveal(old.name, revision: old.facts.revision, field: nil)]
    case .character("R"):
      guard versions.indices.contains(version), version > 0 else { return [] }
      return [.restore(versions[version].name, revision: versions[version].facts.revision)]
    default: break
    }
    return []
  }
}

// MARK: - An item

extension Model {
  mutating func itemKey(_ key: Key) -> [Effect] {
    guard let (name, facts) = openFacts else {
      page = .list
      return []
    }
    switch key {
    case .escape, .left, .backspace, .character("q"):
      item = nil
      page = .list
    case .up, .wheelUp: item?.scroll(by: -1)
    case .down, .wheelDown: item?.scroll(by: 1)
    case .pageUp: item?.scroll(by: -rows)
    case .pageDown: item?.scroll(by: rows)
    case .enter, .character("v"): return reveal(name)
    case .tab: item?.chooseNext()
    case .character("c"), .character("y"): return [copy(name, facts, code: facts.kind == .otp)]
    case .character("o"): return [copy(name, facts, code: true)]
    case .character("e"):
      item?.hide()
      field = try? Field(.value(name, over: facts.revision), "new value", isHidden: true)
      message = facts.kind == .otp ? "this is an otpauth URI, which codes are made of" : ""
    case .character("E"):
      item?.hide()
      return [.edit(name)]
    case .character("a"): field = try? Field(.attributeKey(name), "attribute", isHidden: false)
    case .character("p"):
      guard facts.protection == .protected else { return [.protect(name)] }
      question = .unprotect(name)
    case .character("h"):
      item?.hide()
      return [.history(name)]
    case .character("d"): question = .remove(name, revision: facts.revision)
    case .character("s"):
      item?.hide()
      field = try? Field(.path(name), "save to file", isHidden: false)
    default: break
    }
    return []
  }

  private var openFacts: (String, ItemFacts)? {
    switch item {
    case .some(let item): (item.item.name, item.item.facts)
    case .none: nil
    }
  }

  private mutating func reveal(_ name: String) -> [Effect] {
    if isShown {
      item?.hide()
      return []
    }
    let (field, size) = chosen
    guard size <= OpenItem.longest else {
      message = "the value has \(Amount.size(size)) and is not shown; s saves it to a file"
      return []
    }
    return [.reveal(name, revision: 0, field: field)]
  }

  private func copy(_ name: String, _ facts: ItemFacts, code: Bool) -> Effect {
    let copied = chosen.field.map { .field($0) } ?? Copied.value
    return .copy(name, code ? .code : copied, isProtected: facts.protection == .protected)
  }

  /// What Enter shows of the open item, and how many bytes that has.
  private var chosen: (field: String?, size: UInt64) {
    switch item {
    case .some(let item): (item.field, item.size)
    case .none: (nil, 0)
    }
  }

  /// Whether a value is shown.
  var isShown: Bool {
    switch item {
    case .some(let item): item.isShown
    case .none: false
    }
  }
}
