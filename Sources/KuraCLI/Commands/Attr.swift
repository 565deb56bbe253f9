// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura attr`: changes what stands beside a value.
enum Attr {
  static let command = Command(
    "attr", [.init("NAME"), .init("KEY=VALUE", .any)],
    abstract: "set or delete an item's attributes",
    options: [
      Option(.delete, letter: "d", .required("KEY"), help: "delete an attribute; may be repeated"),
      Option.ifRevision,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let name = try invocation.operand(0)
    var set: [Attribute] = []
    for text in arguments.operands.dropFirst() {
      set.append(try parsing { () throws(UsageError) in try AttributePair(text) }.attribute())
    }
    var delete: [String] = []
    for key in arguments.values(.delete) { delete.append(try Invocation.text(key)) }
    let revision = try parsing { () throws(UsageError) -> UInt64 in
      if set.isEmpty, delete.isEmpty { throw .nothingToChange }
      return try arguments.number(.ifRevision) ?? 0
    }
    _ = try invocation.access().unlocked { connection throws(ClientError) in
      try connection.setAttributes(of: name, set: set, delete: delete, ifRevision: revision)
    }
    return .ok
  }
}

extension AttributePair {
  /// The same with a key that is text.
  func attribute() throws(CommandError) -> Attribute {
    Attribute(key: try Invocation.text(key), value: value)
  }
}
