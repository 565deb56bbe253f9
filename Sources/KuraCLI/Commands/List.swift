// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura list`: prints the names there are.
enum List {
  static let command = Command(
    "list", [.init("PREFIX", .optional)], abstract: "list names, sorted, one a line",
    options: [
      Option(.attribute, .required("KEY=VALUE"), help: "only items with that attribute"),
      Option(.deleted, help: "deleted items, which can be restored"),
    ] + Listing.options,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    var order = ListOrder()
    if !arguments.operands.isEmpty { order.prefix = try invocation.operand(0) }
    if arguments.has(.deleted) { order.flags.insert(.deleted) }
    let pairs = try parsing { () throws(UsageError) in try arguments.attributes(.attribute) }
    if let pair = pairs.last {
      order.filterKey = try Invocation.text(pair.key)
      order.filterValue = pair.value
    }
    try Listing.write(order, &invocation)
    return .ok
  }
}
