// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds all that the screen shows: keys and news go in, effects come out. It calls nobody, and is told
/// the time.
struct Model: ~Copyable {
  /// How long a value is shown, and a screen without a key stays uncovered, in ms.
  static let shown: UInt64 = 10_000
  static let unattended: UInt64 = 120_000

  /// The vault as people call it.
  let vault: String
  /// Whether a name is to be chosen, and no more.
  let isPicker: Bool
  /// Whether what was wrong is shaken.
  let moves: Bool
  var rows = 24
  var cover: Cover? = Cover(isLocked: true)
  var ways = Ways()
  var page = Page.list
  /// What help was asked on.
  var pageBelow = Page.list
  var list = ItemList()
  var item: OpenItem?
  /// Stands for the item that was open when the cover came; nil: none was.
  var resumed: Int?
  /// The revisions of the item that is open, the newest first, and the one that is chosen.
  var versions: [Item] = []
  var version = 0
  var settings: [SettingValue] = []
  var setting = 0
  var field: Field?
  var question: Question?
  /// What is said in the last line.
  var message = ""
  /// The item that was deleted last.
  var removed: String?
  /// What was typed for the effect that was just handed out.
  private var given: SecretBytes?
  var lastKey: UInt64 = 0

  init(vault: String, isPicker: Bool = false, query: String = "", moves: Bool = true) {
    self.vault = vault
    self.isPicker = isPicker
    self.moves = moves
    list.isSearching = isPicker
    list.look(for: query)
  }

  /// What was typed for an effect, once.
  mutating func takeGiven() -> SecretBytes? { given.take() }

  mutating func give(_ secret: consuming SecretBytes) { given = consume secret }

  var hasField: Bool {
    switch field {
    case .some: true
    case .none: false
    }
  }

  /// Whether the open item gives a code that is not shown yet.
  var awaitsCode: Bool {
    switch item {
    case .some(let item): item.givesCodes && !item.hasCode
    case .none: false
    }
  }

  /// Whether an item is open.
  var hasItem: Bool {
    switch item {
    case .some: true
    case .none: false
    }
  }
}

// MARK: - Covering

extension Model {
  /// Covers all. Nothing of what stood below is kept but where it stood.
  mutating func cover(_ cover: Cover) {
    let wasTyping = self.cover != nil
    self.cover = cover
    if let name = openName { resumed = ItemList.mark(name) }
    if page == .help { page = pageBelow }
    if page == .history { page = .item }
    item = nil
    versions = []
    settings = []
    question = nil
    message = ""
    removed = nil
    given = nil
    list.forget()
    let kinds = ways.kinds(isLocked: cover.isLocked)
    if !wasTyping || !(askedFor.map(kinds.contains) ?? false) { ask(kinds[0]) }
  }

  /// What the cover asks for; nil: it has no line.
  var askedFor: Credential? {
    switch field {
    case .some(let field):
      if case .credential(let kind) = field.purpose { kind } else { nil }
    case .none: nil
    }
  }

  /// Has the cover ask for something.
  mutating func ask(_ kind: Credential) {
    // Where a file stands is no secret.
    field = try? Field(.credential(kind), kind.label, isHidden: kind != .keyFile)
    if kind == .keyFile { try? field?.begin(with: ways.keyFile.utf8.span) }
  }

  /// The name of the item that is open.
  var openName: String? {
    switch item {
    case .some(let item): item.item.name
    case .none: nil
    }
  }

  /// Takes the cover away; the names come next.
  mutating func uncover(now: UInt64) -> [Effect] {
    cover = nil
    field = nil
    lastKey = now
    message = ""
    return [.load]
  }

  /// What was typed on the cover did not open it.
  mutating func refuse(_ words: String, wait: UInt64, now: UInt64) {
    message = words
    cover?.isBusy = false
    cover?.wrongAt = moves ? now : 0
    cover?.waitUntil = wait == 0 ? 0 : now + wait
    field?.removeAll()
  }
}

// MARK: - Time

extension Model {
  /// What time alone brings.
  mutating func tick(now: UInt64) -> [Effect] {
    var effects: [Effect] = []
    guard cover == nil else { return [] }
    if now >= lastKey + Self.unattended {
      cover(Cover(isLocked: false))
      return []
    }
    if let hideAt = times.hideAt, now >= hideAt { item?.hide() }
    if let name = openName, times.codeUntil > 0, now >= times.codeUntil {
      item?.hideCode()
      effects.append(.code(name))
    }
    return effects
  }

  /// When the value that is shown is hidden, and until when the code holds.
  private var times: (hideAt: UInt64?, codeUntil: UInt64) {
    switch item {
    case .some(let item): (item.hideAt, item.codeUntil)
    case .none: (nil, 0)
    }
  }

  /// When ``tick(now:)`` or another drawing is wanted next; nil: never.
  func nextTick(now: UInt64) -> UInt64? {
    var ticks: [UInt64] = []
    // Each second another number is shown.
    func count(downTo end: UInt64) {
      if end > now { ticks.append(now + (end - now - 1) % 1_000 + 1) }
    }
    if let cover {
      count(downTo: cover.waitUntil)
      if cover.shakesUntil > now { ticks.append(now + Cover.step) }
      return ticks.min()
    }
    ticks.append(lastKey + Self.unattended)
    count(downTo: times.codeUntil)
    count(downTo: times.hideAt ?? 0)
    return ticks.min()
  }
}
