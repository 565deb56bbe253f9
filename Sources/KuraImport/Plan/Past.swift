// SPDX-License-Identifier: MIT

internal import KuraTerms

/// What of an item joins what the vault has: of earlier values as many as there is room for in its history, so that an
/// import pushes none of that out.
extension Plan {
  /// Leaves a step what is to be stored, and notes what is not.
  mutating func fit(_ step: inout Step, _ known: inout some KnownItems) throws(ImportFailure) {
    let item = step.item
    let depth = item.isProtected ? Int(Setting.historyDepth.range.upperBound) : known.depth
    let isAlone = item.history.isEmpty && item.earlier.isEmpty
    switch step.action {
    case .skip, .protected: return
    case .new, .rename: step.keep(depth)
    case .replace:
      if !isAlone { step.keep(depth - (try known.earlier(item.name).count) - 1) }
    case .same where policy == .merge && !isAlone:
      try join(&step, isNewer: false, depth, &known)
    case .same:
      let count = isAlone ? 0 : try missing(of: item, &known).count
      if count > 0 { step.lose("earlier values", .pastOfSame(count)) }
    case .merge(let isNewer): try join(&step, isNewer: isNewer, depth, &known)
    }
  }

  /// Leaves a step what the vault's item lacks; where that is nothing, they are the same.
  private func join(
    _ step: inout Step, isNewer: Bool, _ depth: Int, _ known: inout some KnownItems
  ) throws(ImportFailure) {
    if step.item.earlier.contains(where: { !$0.attributes.isEmpty || !$0.secrets.isEmpty }) {
      step.lose("earlier values", .pastAttributes)
    }
    var past = try missing(of: step.item, &known)
    var isBelow = !isNewer
    if isBelow { isBelow = !(try known.has(step.item.value, step.item.name)) }
    if isBelow { past.append(step.item.value) }
    (step.item.history, step.item.earlier) = (past, [])
    // The vault's value goes below, too; the source's own is in any case.
    let room = past.isEmpty ? 0 : depth - (try known.earlier(step.item.name).count) - 1
    step.keep(isBelow && depth > 0 ? max(1, room) : room)
    if isNewer { return }
    step.takeAway(from: \.attributes, known.item(step.item.name)?.attributes ?? [])
    if !step.item.secrets.isEmpty {
      step.takeAway(from: \.secrets, try known.secrets(step.item.name))
    }
    let item = step.item
    step.action =
      item.history.isEmpty && item.attributes.isEmpty && item.secrets.isEmpty
      ? .same : .merge(isNewer: false)
  }

  /// The earlier values that the vault has not, each once, the oldest first.
  private func missing(
    of item: ImportedItem, _ known: inout some KnownItems
  ) throws(ImportFailure) -> [[UInt8]] {
    let past = item.history + item.earlier.filter { !$0.isDeleted }.map(\.value)
    if past.isEmpty { return [] }
    var there = Set(try known.earlier(item.name))
    there.insert(item.value)
    if let value = try known.value(item.name) { there.insert(value) }
    return past.filter { there.insert($0).inserted }
  }
}

extension KnownItems {
  /// Whether an item has a value, or once had.
  fileprivate mutating func has(
    _ value: [UInt8], _ name: String
  ) throws(ImportFailure) -> Bool {
    if try self.value(name) == value { return true }
    return try earlier(name).contains(value)
  }
}

extension Plan.Step {
  /// Notes what is not stored.
  fileprivate mutating func lose(_ field: String, _ reason: Leaving.Reason) {
    lost.append(.init(field: field, reason: reason))
  }

  /// Keeps the newest of what is earlier, and notes how many go.
  fileprivate mutating func keep(_ room: Int) {
    let count = item.history.count + item.earlier.count
    let most = max(0, room)
    guard count > most else { return }
    item.history = item.history.suffix(max(0, most - item.earlier.count))
    item.earlier = item.earlier.suffix(most)
    lose("earlier values", .pastBeyond(count - most))
  }

  /// Takes away attributes that the vault has by their keys, and notes those that it has otherwise.
  fileprivate mutating func takeAway(
    from list: WritableKeyPath<ImportedItem, [ImportedItem.Pair]>, _ there: [ImportedItem.Pair]
  ) {
    var rest: [ImportedItem.Pair] = []
    for pair in item[keyPath: list] {
      guard let other = there.first(where: { $0.key == pair.key }) else {
        rest.append(pair)
        continue
      }
      if other != pair { lose(String(decoding: pair.key, as: UTF8.self), .vaultsStays) }
    }
    item[keyPath: list] = rest
  }
}
