// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

// What is typed, at the list and at an item.

extension Linear {
  /// As many names are said at once.
  private static let most = 20

  /// Asks what to do, and does it.
  mutating func command() {
    let name = model.openName
    guard let line = ask((name ?? model.vault) + "> "), !line.allSatisfy({ $0 == " " }) else {
      return
    }
    if let name { item(name, line) } else { list(line) }
    if model.cover == nil { sayMessage() }
  }

  /// Says what fits a query, and asks for a number, or another query.
  ///
  /// - Parameter query: Is looked for first; nil: that was done.
  /// - Returns: The name of a number; nil: not yet.
  mutating func choose(_ query: inout String?) -> String? {
    if let query { find(query) }
    query = nil
    guard model.cover == nil, let line = ask("number, or letters to look for> ") else { return nil }
    if let number = Int(line), names.indices.contains(number - 1) { return names[number - 1] }
    if line.allSatisfy({ $0 == " " }) { more() } else { query = line }
    return nil
  }

  private mutating func list(_ line: String) {
    if let number = Int(line), names.indices.contains(number - 1) { return open(names[number - 1]) }
    let typed = TypedLine<ListWord>(line)
    guard let word = typed.word else { return say("no such word here: help says what there is") }
    switch word {
    case .find: find(typed.operand)
    case .list: list(folder: typed.operand)
    case .more: more()
    case .open: open(typed.operand)
    case .add, .generate: add(typed.operand, byChance: word == .generate)
    case .undo:
      guard let name = model.removed else { return say("nothing was deleted") }
      model.removed = nil
      perform([.restore(name, revision: 0)])
      sayItem()
    case .lock: perform([.lock])
    case .quit: status = 0
    case .help: for word in ListWord.allCases { say(word.help) }
    }
  }

  private mutating func item(_ name: String, _ line: String) {
    let typed = TypedLine<ItemWord>(line)
    guard let word = typed.word else { return say("no such word here: help says what there is") }
    switch word {
    case .show:
      perform([.show(name)])
      sayItem()
    case .reveal: reveal(name, typed.operand)
    case .copy:
      let key = typed.operand
      let whole: Copied = facts?.kind == .otp ? .code : .value
      let isProtected = facts?.protection == .protected
      perform([.copy(name, key.isEmpty ? whole : .field(key), isProtected: isProtected)])
    case .code:
      perform([.code(name)])
      sayCode()
    case .edit, .generate: store(name, over: facts?.revision, byChance: word == .generate)
    case .editor: perform([.edit(name)])
    case .set: set(name, typed.operand)
    case .protect: perform([.protect(name)])
    case .unprotect: perform([.unprotect(name)])
    case .history:
      perform([.history(name)])
      sayHistory()
    case .restore:
      guard let revision = UInt64(typed.operand) else { return say("restore takes a revision") }
      perform([.restore(name, revision: revision)])
      sayItem()
    case .delete: delete(name)
    case .save:
      guard !typed.operand.isEmpty else { return say("save takes a file") }
      perform([.save(name, path: typed.operand)])
    case .back: close()
    case .lock: perform([.lock])
    case .quit: status = 0
    case .help: for word in ItemWord.allCases { say(word.help) }
    }
  }

  private var facts: ItemFacts? {
    switch model.item {
    case .some(let open): open.item.facts
    case .none: nil
    }
  }

  private mutating func close() {
    model.item = nil
    model.page = .list
    say(count)
  }
}

// MARK: - The list

extension Linear {
  private mutating func find(_ text: String) {
    perform([.load])
    guard model.cover == nil else { return }
    let table = model.list.names
    say(names: FuzzySearch(text).matches(in: table).map { table.name($0.index) })
  }

  private mutating func list(folder: String) {
    perform([.load])
    guard model.cover == nil else { return }
    let table = model.list.names
    let prefix = folder.isEmpty || folder.hasSuffix("/") ? folder : folder + "/"
    say(names: (0..<table.count).map { table.name($0) }.filter { $0.hasPrefix(prefix) })
  }

  private mutating func say(names found: [String]) {
    (names, unsaid) = (found, 0)
    if found.isEmpty {
      return say(model.list.names.count == 0 ? "nothing is stored here yet" : "nothing fits")
    }
    more()
  }

  private mutating func more() {
    guard unsaid < names.count else { return say("that was all") }
    let end = min(unsaid + Self.most, names.count)
    for index in unsaid..<end { say("\(index + 1) " + names[index]) }
    unsaid = end
    if end < names.count { say("\(names.count - end) more: more says them") }
  }

  private mutating func open(_ text: String) {
    var name = text
    if let number = Int(text), names.indices.contains(number - 1) { name = names[number - 1] }
    guard !name.isEmpty else { return say("open takes a number or a name") }
    perform([.show(name)])
    sayItem()
  }

  private mutating func add(_ name: String, byChance: Bool) {
    guard !name.isEmpty else { return say((byChance ? "generate" : "add") + " takes a name") }
    store(name, over: 0, byChance: byChance)
  }
}

// MARK: - An item

extension Linear {
  /// Says all of the open item but its value.
  private mutating func sayItem() {
    guard model.cover == nil else { return }
    switch model.item {
    case .some(let open):
      let facts = open.item.facts
      say(
        open.item.name + ", revision \(facts.revision), changed "
          + Clock.local(facts.modified, "%Y-%m-%d %H:%M") + ", " + Amount.size(facts.size) + ", "
          + facts.protection.name)
      for attribute in open.item.attributes {
        say(attribute.key + ": " + String(decoding: attribute.value, as: UTF8.self))
      }
      for secret in open.secrets { say(secret.key + ": secret, " + Amount.size(secret.size)) }
      if open.givesCodes { say("it gives one-time codes: code says one") }
    case .none: break
    }
  }

  private mutating func reveal(_ name: String, _ operand: String) {
    let revision = UInt64(operand) ?? 0
    let field = operand.isEmpty || revision > 0 ? nil : operand
    // Of a protected item they are known when its owner was there.
    guard model.choose(field) || facts?.protection == .protected else {
      return say("reveal takes a revision, the key of a secret attribute, or nothing")
    }
    if operand.isEmpty, let size = facts?.size, size > OpenItem.longest {
      return say("the value has \(Amount.size(size)) and is not said: save writes it to a file")
    }
    perform([.reveal(name, revision: revision, field: field)])
    guard model.cover == nil else { return }
    switch model.item {
    case .some(let open):
      switch open.value {
      case .some(let value):
        if value.count == 0 { say("the value is empty") } else { lines.say(value.bytes) }
      case .none: break
      }
    case .none: break
    }
    model.item?.hide()
  }

  private mutating func sayCode() {
    guard model.cover == nil else { return }
    switch model.item {
    case .some(let open):
      switch open.code {
      case .some(let code):
        lines.say(code.bytes)
        let now = Clock.boot()
        if open.codeUntil > now { say("good for \((open.codeUntil - now + 999) / 1_000) s") }
      case .none: break
      }
    case .none: break
    }
    model.item?.hideCode()
  }

  private mutating func store(_ name: String, over: UInt64?, byChance: Bool) {
    var value: SecretBytes?
    if byChance {
      value = try? RandomValue.make()
    } else {
      value = askHidden("value, unseen as it is typed: ")
    }
    guard model.cover == nil, status == nil else { return }
    guard let value, value.count > 0 else { return say("nothing was stored") }
    model.give(value)
    perform([.store(name, over: over)])
  }

  private mutating func set(_ name: String, _ operand: String) {
    let parts = operand.split(separator: " ", maxSplits: 1)
    guard let key = parts.first else { return say("set takes a key and a value") }
    let value = parts.count > 1 ? String(parts[1]) : nil
    perform([.attribute(name, key: String(key), value: value)])
    sayItem()
  }

  private mutating func sayHistory() {
    guard model.cover == nil else { return }
    for item in model.versions {
      let facts = item.facts
      say(
        "revision \(facts.revision), " + Clock.local(facts.modified, "%Y-%m-%d %H:%M") + ", "
          + (facts.kind == .deleted ? "deleted" : Amount.size(facts.size)))
    }
    model.page = .item
  }

  private mutating func delete(_ name: String) {
    guard let revision = facts?.revision, let answer = ask("delete " + name + "? y or n: ") else {
      return
    }
    guard answer == "y" || answer == "yes" else { return say("nothing was changed") }
    perform([.remove(name, revision: revision)])
    if model.openName == nil, model.cover == nil { model.message = "deleted; undo brings it back" }
  }
}
