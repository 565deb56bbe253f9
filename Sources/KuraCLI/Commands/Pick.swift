// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura pick`: has a person choose an item on the whole terminal, and prints its name.
enum Pick {
  static let command = Command(
    "pick", [.init("QUERY", .any)], abstract: "choose an item by a few letters, and print its name",
    options: [
      Option(.copy, help: "copy its value in place of that, as copy does"),
      Option(.otp, help: "print its one-time code in place of that"),
      Option(.linear, help: "lines and questions in place of a screen"),
    ], run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try arguments.refuse(.copy, with: .otp) }
    var words = ["--pick"]
    if arguments.has(.linear) { words.append("--linear") }
    if arguments.has(.copy) { words.append("--copy") }
    if arguments.has(.otp) { words.append("--otp") }
    words.append("--")
    for operand in arguments.operands { words.append(try Invocation.text(operand)) }
    throw try Ui.become(words, try invocation.agentAccess(verb: command.verb))
  }
}
