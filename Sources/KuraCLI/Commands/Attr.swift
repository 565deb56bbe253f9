// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura attr`: changes what stands beside a value.
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
    let deleted = arguments.values(.delete)
    let (pairs, revision) = try parsing { () throws(UsageError) in
      if arguments.operands.count == 1, deleted.isEmpty {
        throw UsageError(
          "attr was given nothing to change",
          hint: "give KEY=VALUE or -d KEY; 'kura show NAME' lists attributes")
      }
      return (
        try AttributePair.all(arguments.operands.dropFirst(), besides: deleted),
        try arguments.number(.ifRevision, as: UInt64.self) ?? 0
      )
    }
    var set: [Attribute] = []
    for pair in pairs { set.append(try pair.attribute()) }
    var delete: [String] = []
    for key in deleted { delete.append(try Invocation.text(key)) }
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
