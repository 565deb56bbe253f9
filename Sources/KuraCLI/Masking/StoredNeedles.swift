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
    var reading = NeedleReading(
      set: try allocating { () throws(SecureMemoryError) in try NeedleSet() })
    for item in items {
      guard isComplete || item.facts.protection == .standard else {
        reading.closed += 1
        continue
      }
      try add(item, to: &reading, access, &held)
    }
    return try reading.finish(invocation.messages)
  }

  /// Reads the value of an item.
  private static func add(
    _ item: Item, to reading: inout NeedleReading, _ access: VaultAccess, _ held: inout Held
  ) throws(CommandError) {
    guard item.facts.size <= NeedleSet.longestValue else {
      reading.long += 1
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
    try reading.add(value.bytes, name.span)
  }
}
