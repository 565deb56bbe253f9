// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Does `kura help`: prints from the command table.
enum Help {
  static let command = Command(
    "help", [.init("TOPIC", .optional)], abstract: "help on a verb, on start, or on exit-status",
    run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    guard let topic = invocation.arguments.operands.first else {
      try HelpText(for: invocation.output).write(nil, to: &invocation.output)
      return .ok
    }
    if topic.elementsEqual("exit-status".utf8) {
      try HelpText(for: invocation.output).writeStatuses(to: &invocation.output)
    } else if topic.elementsEqual("start".utf8) {
      try HelpText(for: invocation.output).writeFirstSteps(to: &invocation.output)
    } else if let command = CommandTable.command(topic) {
      try HelpText(for: invocation.output).write(command, to: &invocation.output)
    } else {
      throw .usage("no help on " + Diagnostic.quoted(topic), hint: UsageError.verbsHint)
    }
    return .ok
  }
}
