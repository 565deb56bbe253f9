// SPDX-License-Identifier: MIT

/// Says what is done with each item, before anything is.
struct Plan: Equatable, Sendable {
  /// Says what is done with an item.
  enum Action: Equatable, Sendable {
    case new
    /// The vault has it as it is.
    case same
    /// The vault has another one of that name, which stays.
    case skip
    /// It takes another name than this one.
    case rename(String)
    case replace
    /// Its value stands over the vault's, or goes to the history below it.
    case merge(isNewer: Bool)
    /// The vault has one of that name that takes the passcode, which stays.
    case protected
  }

  /// Says what is done with one item.
  struct Step: Equatable, Sendable {
    /// What of it is to be stored.
    var item: ImportedItem
    var action: Action
    /// What is not.
    var lost: [Loss] = []
  }

  /// Says what of an item is not stored though the item is.
  struct Loss: Equatable, Sendable {
    var field: String
    var reason: Leaving.Reason
  }

  private(set) var steps: [Step] = []
  let policy: DuplicatePolicy

  /// Plans for all items.
  init(
    _ items: [ImportedItem], _ policy: DuplicatePolicy, known: inout some KnownItems
  ) throws(ImportFailure) {
    self.policy = policy
    steps.reserveCapacity(items.count)
    let names = Set(items.map(\.name))
    var start = 0
    while start < items.count {
      var end = start + 1
      // What became of one entry stays together.
      while end < items.count, items[end].place == items[start].place { end += 1 }
      try add(Array(items[start..<end]), names, &known)
      start = end
    }
  }

  /// What is not stored because of what the vault has.
  var kept: [Leaving] {
    steps.compactMap { step in
      let reason: Leaving.Reason
      switch step.action {
      case .skip: reason = .skipped
      case .protected: reason = .protectedThere
      case .new, .same, .rename, .replace, .merge: return nil
      }
      return Leaving(place: step.item.place, entry: step.item.name, field: "", reason: reason)
    }
  }

  /// What of items that are stored, or are there, is not.
  var lost: [Leaving] {
    steps.flatMap { step in
      step.lost.map { loss in
        Leaving(
          place: step.item.place, entry: step.item.name, field: loss.field, reason: loss.reason)
      }
    }
  }

  private mutating func add(
    _ group: [ImportedItem], _ names: Set<String>, _ known: inout some KnownItems
  ) throws(ImportFailure) {
    var actions: [Action] = []
    for item in group { actions.append(try action(for: item, &known)) }
    guard policy == .rename, actions.contains(where: { $0 == .skip || $0 == .protected }) else {
      for (item, action) in zip(group, actions) { try append(item, action, &known) }
      return
    }
    let base = group[0].name
    var number = 2
    while true {
      let renamed = Self.renamed(group, base, "\(base) (\(number))")
      number += 1
      if renamed.contains(where: { names.contains($0.name) }) { continue }
      var again: [Action] = []
      for item in renamed { again.append(try action(for: item, &known)) }
      if again.contains(where: { $0 == .skip || $0 == .protected }) { continue }
      for ((item, first), action) in zip(zip(renamed, group), again) {
        try append(item, action == .new ? .rename(first.name) : action, &known)
      }
      return
    }
  }

  private mutating func append(
    _ item: ImportedItem, _ action: Action, _ known: inout some KnownItems
  ) throws(ImportFailure) {
    var step = Step(item: item, action: action)
    try fit(&step, &known)
    steps.append(step)
  }

  private static func renamed(
    _ group: [ImportedItem], _ base: String, _ name: String
  ) -> [ImportedItem] {
    group.map { item in
      var item = item
      item.name =
        item.name.hasPrefix(base) ? name + item.name.dropFirst(base.count) : name + "/" + item.name
      return item
    }
  }

  private func hasSecrets(
    of item: ImportedItem, _ known: inout some KnownItems
  ) throws(ImportFailure) -> Bool {
    if item.secrets.isEmpty { return true }
    let there = try known.secrets(item.name)
    return item.secrets.allSatisfy { there.contains($0) }
  }

  private func action(
    for item: ImportedItem, _ known: inout some KnownItems
  ) throws(ImportFailure) -> Action {
    guard let there = known.item(item.name) else { return .new }
    if item.isDeleted { return .skip }
    let value = there.isProtected ? nil : try known.value(item.name)
    let hasAttributes = item.attributes.allSatisfy { there.attributes.contains($0) }
    if value == item.value, hasAttributes, there.isCode == item.isCode,
      try hasSecrets(of: item, &known)
    {
      return .same
    }
    switch policy {
    case .skip, .rename: return .skip
    case .replace: return .replace
    case .merge:
      guard value != nil else { return .protected }
      return .merge(isNewer: item.modified > there.modified)
    }
  }
}
