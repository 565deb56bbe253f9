// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Reads the values of a vault, to find them in texts.
enum StoredNeedles {
  static let options = [
    Option(.name, .required("PREFIX"), help: "only of items named so"),
    Option(.protected, help: "of protected items, too"),
  ]

  /// Reads what the options name, and says of which values none is found.
  static func read(_ invocation: borrowing Invocation) throws(CommandError) -> NeedleSet {
    let access = try invocation.access()
    let isComplete = invocation.arguments.has(.protected)
    var order = ListOrder()
    order.prefix = try invocation.text(.name) ?? ""
    var held = Held()
    var items: [Item] = []
    try access.unlocked(authorizing: isComplete, holding: &held) { connection throws(ClientError) in
      items = []
      try connection.list(order) { item throws(ClientError) in items.append(item) }
    }
    var reading = Reading(set: try allocating { () throws(SecureMemoryError) in try NeedleSet() })
    for item in items {
      guard isComplete || item.facts.protection == .standard else {
        reading.closed += 1
        continue
      }
      try reading.add(item, access, &held)
    }
    return try reading.finish(invocation.messages)
  }

  /// Counts what is not looked for, and why.
  private struct Reading: ~Copyable {
    var set: NeedleSet
    var closed = 0
    private var short = 0
    private var long = 0

    init(set: consuming NeedleSet) { self.set = set }

    mutating func add(
      _ item: Item, _ access: VaultAccess, _ held: inout Held
    ) throws(CommandError) {
      let limit = NeedleSet.longestValue
      guard item.facts.size <= limit else {
        long += 1
        return
      }
      var value = try allocating { () throws(SecureMemoryError) in
        try SecretBuffer(capacity: Int(item.facts.size))
      }
      do throws(CommandError) {
        try access.unlocked(authorizing: true, holding: &held) { connection throws(ClientError) in
          value.removeAll()
          _ = try connection.getWhole(item.name, revision: 0) { part throws(ClientError) in
            do throws(SecureMemoryError) { try value.append(part) } catch { throw .outOfMemory }
          }
        }
      } catch {
        // It was removed meanwhile.
        guard case .client(.refused(.notFound)) = error else { throw error }
        return
      }
      let name = Array(Diagnostic.shown(item.name).utf8)
      let outcome = try allocating { () throws(SecureMemoryError) in
        try set.add(value.bytes, named: name.span)
      }
      switch outcome {
      case .added: break
      case .tooShort: short += 1
      case .tooLong: long += 1
      }
    }

    consuming func finish(_ messages: Messages) throws(CommandError) -> NeedleSet {
      note(short, "of less than 6 bytes not looked for: too much would look like them", messages)
      note(long, "of more than 65,536 bytes not looked for", messages)
      note(closed, "of protected items not looked for: --protected reads them, too", messages)
      var set = set
      try allocating { () throws(SecureMemoryError) in try set.finish() }
      return set
    }

    private func note(_ count: Int, _ words: String, _ messages: Messages) {
      if count > 0 { messages.note("\(count) " + (count == 1 ? "value " : "values ") + words) }
    }
  }
}
