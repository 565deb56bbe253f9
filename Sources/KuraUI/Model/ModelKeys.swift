// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

// What keys do, by what is on the screen.

extension Model {
  /// Takes a key.
  mutating func take(_ key: Key, now: UInt64) -> [Effect] {
    lastKey = now
    if key == .control("C") { return [.quit] }
    if key == .control("Z") {
      item?.hide()
      return [.suspend]
    }
    if key == .control("L") { return [.redraw] }
    if cover != nil { return coverKey(key, now: now) }
    message = ""
    if hasField { return fieldKey(key) }
    if let question { return answer(question, key) }
    if list.isSearching, page == .list { return searchKey(key) }
    if let effects = commonKey(key) { return effects }
    switch page {
    case .list: return listKey(key)
    case .item: return itemKey(key)
    case .history: return historyKey(key)
    case .settings: return settingsKey(key)
    case .help:
      page = pageBelow
      return []
    }
  }

  private mutating func commonKey(_ key: Key) -> [Effect]? {
    switch key {
    case .character("?") where page != .help:
      pageBelow = page
      item?.hide()
      page = .help
    case .character("L"): cover(Cover(isLocked: false))
    case .character("l"): return [.lock]
    case .character("S") where page == .list: return [.settings]
    default: return nil
    }
    return []
  }
}

// MARK: - The cover

extension Model {
  private mutating func coverKey(_ key: Key, now: UInt64) -> [Effect] {
    guard let cover, !cover.isBusy else { return [] }
    if cover.waitUntil > now, askedFor == .passcode { return key == .tab ? turn() : [] }
    switch key {
    case .enter: return submit()
    case .tab, .control("R"): return turn()
    case .control("D"), .escape:
      if fieldCount == 0 { return key == .escape ? [] : [.quit] }
      field?.removeAll()
    default: edit(key)
    }
    return []
  }

  private var fieldCount: Int {
    switch field {
    case .some(let field): field.count
    case .none: 0
    }
  }

  /// What Tab asks for next; nil: there is nothing else.
  var nextWay: Credential? {
    let kinds = ways.kinds(isLocked: cover?.isLocked ?? true)
    guard kinds.count > 1, let asked = askedFor else { return nil }
    let index = kinds.firstIndex(of: asked) ?? kinds.count - 1
    return kinds[(index + 1) % kinds.count]
  }

  private mutating func turn() -> [Effect] {
    guard let kind = nextWay else { return [] }
    message = ""
    ask(kind)
    return []
  }

  private mutating func submit() -> [Effect] {
    guard fieldCount > 0, let kind = askedFor, let secret = try? field?.take() else { return [] }
    give(secret)
    message = ""
    cover?.isBusy = true
    cover?.wrongAt = 0
    return [cover?.isLocked == true ? .unlock(kind) : .prove(kind)]
  }

  /// Keys that change a line that is typed.
  private mutating func edit(_ key: Key) {
    switch key {
    case .character(let scalar): try? field?.type(scalar)
    case .backspace: field?.removeLast()
    case .control("U"): field?.removeAll()
    default: break
    }
  }
}

// MARK: - A line

extension Model {
  private mutating func fieldKey(_ key: Key) -> [Effect] {
    switch key {
    case .escape: field = nil
    case .enter: return entered()
    case .tab: field?.isHidden.toggle()
    case .control("G"):
      if case .value(let name, _) = purpose { return [.generate(name)] }
    default: edit(key)
    }
    return []
  }

  private var purpose: Field.Purpose? {
    switch field {
    case .some(let field): field.purpose
    case .none: nil
    }
  }

  private var typed: String {
    switch field {
    case .some(let field): field.shown()
    case .none: ""
    }
  }

  private mutating func entered() -> [Effect] {
    guard let purpose else { return [] }
    switch purpose {
    case .credential: break
    case .owner(let effect):
      guard fieldCount > 0, let secret = try? field?.take() else { return [] }
      give(secret)
      field = nil
      return [.byOwner(effect)]
    case .newName:
      let name = typed
      guard !name.isEmpty else { return [] }
      field = try? Field(.value(name, over: 0), "value", isHidden: true)
    case .value(let name, let over):
      guard fieldCount > 0, let secret = try? field?.take() else { return [] }
      give(secret)
      field = nil
      return [.store(name, over: over)]
    case .attributeKey(let name):
      let key = typed
      guard !key.isEmpty else { return [] }
      field = try? Field(.attributeValue(name, key: key), key, isHidden: false)
    case .attributeValue(let name, let key):
      let value = typed
      field = nil
      return [.attribute(name, key: key, value: value.isEmpty ? nil : value)]
    case .setting(let setting):
      guard let value = Amount.parse(typed, setting) else {
        message = "a number is wanted, for times with s, m, h or d behind it"
        return []
      }
      field = nil
      return [.set(setting, value)]
    case .path(let name):
      let path = typed
      field = nil
      return path.isEmpty ? [] : [.save(name, path: path)]
    }
    return []
  }
}

// MARK: - Questions

extension Model {
  private mutating func answer(_ question: Question, _ key: Key) -> [Effect] {
    self.question = nil
    guard key == .character("y") else {
      _ = takeGiven()
      message = "nothing was changed"
      return []
    }
    switch question {
    case .remove(let name, let revision): return [.remove(name, revision: revision)]
    case .overwrite(let name, let current): return [.store(name, over: current)]
    case .unprotect(let name): return [.unprotect(name)]
    }
  }
}
