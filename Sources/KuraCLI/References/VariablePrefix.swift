// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Makes a variable of each item below a prefix, as `--env-from` asks for it.
struct VariablePrefix {
  /// Holds a variable's name, and the item that it is made of.
  struct Variable {
    let name: [UInt8]
    let placeholder: Placeholder
    fileprivate let item: String
  }

  private let reference: ItemReference
  private let place: Place
  /// What stands before each name.
  private let head: [UInt8]

  /// All that the options give.
  static func all(_ arguments: Arguments) throws(CommandError) -> [VariablePrefix] {
    let head = arguments.values(.prefix).last ?? []
    guard head.isEmpty || VariableName.isValid(head) else {
      throw .usage(
        OptionName.prefix.spelling + ": no variable can begin with " + Diagnostic.quoted(head),
        hint: "a name has letters, digits and _, and begins with no digit")
    }
    var prefixes: [VariablePrefix] = []
    for text in arguments.values(.environmentFrom) {
      prefixes.append(try VariablePrefix(text, head))
    }
    if prefixes.isEmpty, !head.isEmpty {
      throw .usage(
        OptionName.prefix.spelling + " says nothing without " + OptionName.environmentFrom.spelling,
        hint: "write --env-from kura://PREFIX/ beside it")
    }
    return prefixes
  }

  private init(_ text: [UInt8], _ head: [UInt8]) throws(CommandError) {
    // What is no reference may be a secret by mistake.
    let isTold = ItemReference.begins(text.span, at: 0)
    place = .option(.environmentFrom, isTold ? text : [])
    reference = try PlacedReference(text, at: place).reference
    self.head = head
    guard reference.part == .value, reference.name.utf8.last == UInt8(ascii: "/") else {
      throw .placed(
        place,
        .usage(
          "this is no prefix: it does not end with /",
          hint: "kura://app/ means all items whose names begin with app/"))
    }
  }
}

// MARK: - Its items

extension VariablePrefix {
  /// The variables of the items that are there, sorted by name. Seeds of one-time codes are none.
  ///
  /// - Throws: Also when there is no item, an item gives no variable's name, or two give the same.
  func variables(_ invocation: borrowing Invocation) throws(CommandError) -> [Variable] {
    let access = try placing(place) { () throws(CommandError) in
      try invocation.access(of: reference)
    }
    var names: [String] = []
    var isTooMany = false
    do throws(CommandError) {
      try access.unlocked { connection throws(ClientError) in
        names = []
        var order = ListOrder()
        order.prefix = reference.name
        try connection.list(order) { item throws(ClientError) in
          guard item.facts.kind != .otp else { return }
          isTooMany = names.count == VariableList.limit
          if isTooMany { throw .stopped }
          names.append(item.name)
        }
      }
    } catch { throw isTooMany ? .placed(place, .syntax(.tooMany(VariableList.limit))) : error }
    guard !names.isEmpty else { throw .placed(place, Self.nothing(below: reference.name)) }
    return try variables(of: names)
  }

  private static func nothing(below prefix: String) -> CommandError {
    .failure(
      "no item's name begins with " + Diagnostic.shown(prefix),
      hint: "'kura list' shows the names; one-time codes give no variables", .notFound)
  }

  private func variables(of names: [String]) throws(CommandError) -> [Variable] {
    var found: [Variable] = []
    for item in names {
      let name = variable(of: item)
      guard VariableName.isValid(name) else {
        throw .placed(
          place,
          .failure(
            "the item " + Diagnostic.shown(item) + " gives no variable's name: "
              + Diagnostic.shown(name),
            hint: "a name begins with no digit and has less than 256: --prefix puts text before it")
        )
      }
      let source = PlacedReference(reference.naming(item), at: place)
      found.append(Variable(name: name, placeholder: Placeholder(source), item: item))
    }
    // The agent lists in an order of its own, and what is told of two is the same each time.
    found.sort {
      $0.name == $1.name
        ? $0.item.utf8.lexicographicallyPrecedes($1.item.utf8)
        : $0.name.lexicographicallyPrecedes($1.name)
    }
    for (one, other) in zip(found, found.dropFirst()) where one.name == other.name {
      throw .placed(
        place,
        .failure(
          "the items " + Diagnostic.shown(one.item) + " and " + Diagnostic.shown(other.item)
            + " would both be " + Diagnostic.shown(one.name),
          hint: "name them one by one, with --env"))
    }
    return found
  }

  /// What stands behind the prefix, in upper case, with `_` for all but ASCII letters and digits.
  private func variable(of item: String) -> [UInt8] {
    head
      + VariableName.made(
        of: item.unicodeScalars.dropFirst(reference.name.unicodeScalars.count))
  }
}
