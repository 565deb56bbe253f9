// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Prints items as `list` and `find` show them: sorted by the bytes of their names, unless that is
/// not wanted.
enum Listing {
  /// Says how an item is written.
  enum Form {
    case names, nulSeparated, long, json

    init(_ arguments: Arguments) throws(UsageError) {
      try arguments.refuse(.json, with: .long, .null)
      if arguments.has(.json) {
        self = .json
      } else if arguments.has(.long) {
        self = .long
      } else {
        self = arguments.has(.null) ? .nulSeparated : .names
      }
    }
  }

  static let options = [
    Option(.long, letter: "l", help: "with revision, size and time"),
    Option(.null, letter: "0", help: "end each name with NUL"),
    Option(.unsorted, help: "as they come, without waiting for the last"),
    Option.json,
  ]

  /// Writes the items that `order` asks for.
  static func write(
    _ order: ListOrder, _ invocation: inout Invocation
  ) throws(CommandError) {
    let access = try invocation.access()
    let form = try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      try Form(arguments)
    }
    var order = order
    if form == .json { order.flags.insert(.attributes) }
    if invocation.arguments.has(.unsorted) {
      try writeUnsorted(order, form, access, &invocation.output)
    } else {
      try writeSorted(order, form, access, &invocation.output)
    }
  }
}

// MARK: - Order

extension Listing {
  private static func writeUnsorted(
    _ order: ListOrder, _ form: Form, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    guard form.needsFacts else { return try writeNames(order, form, access, &output) }
    var isOpen = false
    try access.unlocked { connection throws(ClientError) in
      try connection.list(order) { item throws(ClientError) in
        try writing { () throws(CommandError) in
          if !isOpen { try open(form, &output) }
          isOpen = true
          try write(item, form, &output)
        }
      }
    }
    if !isOpen { try open(form, &output) }
    try close(form, &output)
  }

  private static func writeNames(
    _ order: ListOrder, _ form: Form, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    try access.unlocked { connection throws(ClientError) in
      try connection.listNames(
        order,
        idle: { () throws(ClientError) in
          // Whoever reads along waits for no name that is here.
          try writing { () throws(CommandError) in try output.flush() }
        },
        each: { name throws(ClientError) in
          try writing { () throws(CommandError) in try write(name: name, form, &output) }
        })
    }
  }

  private static func writeSorted(
    _ order: ListOrder, _ form: Form, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    let sorter = try form.needsFacts ? facts(order, form, access, output) : names(order, access)
    try open(form, &output)
    try sorter.visit { name, rest throws(CommandError) in
      if form.needsFacts {
        try output.element(written: rest, isJSON: form == .json)
      } else {
        try write(name: name, form, &output)
      }
    }
    try close(form, &output)
  }

  private static func names(
    _ order: ListOrder, _ access: VaultAccess
  ) throws(CommandError) -> ItemSorter {
    var sorter = ItemSorter()
    try access.unlocked { connection throws(ClientError) in
      try connection.listNames(order) { name throws(ClientError) in sorter.append(name, Span()) }
    }
    return sorter
  }

  /// The items with what is to be written of each.
  private static func facts(
    _ order: ListOrder, _ form: Form, _ access: VaultAccess, _ output: borrowing Output
  ) throws(CommandError) -> ItemSorter {
    var sorter = ItemSorter()
    var page = try Output.page(isTerminal: output.isTerminal)
    try access.unlocked { connection throws(ClientError) in
      try connection.list(order) { item throws(ClientError) in
        try writing { () throws(CommandError) in try write(item, form, &page) }
        page.take { sorter.append(item.name.utf8.span, $0) }
      }
    }
    return sorter
  }
}

// MARK: - One item

extension Listing {
  private static func open(_ form: Form, _ output: inout Output) throws(CommandError) {
    if form == .long, output.isTerminal {
      try output.write(
        padded("rev", 4) + padded("size", 12) + "  " + HelpText.pad("class", 11)
          + HelpText.pad("changed", Moment.local(0).utf8.count) + "  name\n")
    }
    guard form == .json else { return }
    try output.openDocument()
    try output.key("items")
    try output.openArray()
  }

  private static func close(_ form: Form, _ output: inout Output) throws(CommandError) {
    guard form == .json else { return }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func write(
    _ item: Item, _ form: Form, _ output: inout Output
  ) throws(CommandError) {
    switch form {
    case .names, .nulSeparated: try write(name: item.name.utf8.span, form, &output)
    case .long:
      let facts = item.facts
      try output.write(
        padded("\(facts.revision)", 4) + padded(ByteSize(count: facts.size).words, 12) + "  "
          + HelpText.pad(facts.protection.name, 11) + Moment.local(facts.modified) + "  ")
      try write(name: item.name.utf8.span, .names, &output)
    case .json:
      try output.openObject()
      try output.members(of: item)
      try output.closeObject()
    }
  }

  private static func write(
    name: Span<UInt8>, _ form: Form, _ output: inout Output
  ) throws(CommandError) {
    guard form == .nulSeparated else { return try output.write(wholeLine: name) }
    try output.write(name)
    try output.write("\0")
  }

  static func padded(_ text: String, _ width: Int) -> String {
    String(repeating: " ", count: max(0, width - text.utf8.count)) + text
  }
}

extension Listing.Form {
  /// Whether more than names is written.
  fileprivate var needsFacts: Bool { self == .long || self == .json }
}

extension Output {
  /// What all verbs say of an item.
  mutating func members(of item: Item) throws(CommandError) {
    try member("name", item.name)
    try member("revision", item.facts.revision)
    try member("size", item.facts.size)
    try member("created", moment: item.facts.created)
    try member("modified", moment: item.facts.modified)
    try member("class", item.facts.protection.name)
    try member("kind", item.facts.kind.name)
    try attributes(of: item)
  }

  mutating func attributes(of item: Item) throws(CommandError) {
    try key("attributes")
    try openObject()
    for attribute in item.attributes {
      try member(attribute.key, bytes: attribute.value.span)
    }
    try closeObject()
  }
}
