// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura find`: prints the items that have a text in their name or in an attribute.
enum Find {
  static let command = Command(
    "find", [.init("TEXT")], abstract: "list the items with TEXT in their name or attributes",
    options: Listing.options, unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let text = try invocation.operand(0)
    let limit = ProtocolLimit.searchText
    guard text.utf8.count <= limit else {
      throw .usage(
        "the text to be found has more than \(limit) bytes",
        hint: "a part of it finds the same items")
    }
    try Listing.write(ListOrder(text: text), &invocation)
    return .ok
  }
}
