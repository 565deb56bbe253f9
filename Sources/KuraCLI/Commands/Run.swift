// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Does `kura run`: reads what references name, then becomes a command that is given the values.
enum Run {
  static let command = Command(
    "run", [.init("-- CMD", .atLeastOne)], abstract: "run a command with the values of references",
    options: [
      Option(.environment, .required("VAR=REF"), help: "a variable; may be repeated"),
      Option(.environmentFile, .required("FILE"), help: "variables from the lines of FILE"),
      Option(.environmentFrom, .required("REF"), help: "a variable for each item below it"),
      Option(.prefix, .required("TEXT"), help: "what their names begin with"),
      Option(.file, .required("VAR=REF"), help: "a file in memory; VAR is its path"),
      Option(.stdin, .required("REF"), help: "the command's stdin"),
      Option(.fileDescriptor, .required("N=REF"), help: "the command's descriptor N"),
      Option(.only, help: "pass on no variables of the environment"),
      Option(.keep, .required("VAR,..."), help: "pass on no variables but these"),
      Option(.mask, help: "names in the place of values in what it writes"),
    ] + ReferenceDialect.options,
    unlocking: .whenLocked, failure: .runFailed, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try checkSeparator(arguments) }
    let plan = try LaunchPlan.make(invocation)
    let values = try plan.read(invocation)
    guard !arguments.has(.mask) else {
      return try MaskedCommand.run(plan, values, invocation)
    }
    let variables = try plan.environment(values, of: kura_process_id())
    throw try plan.launch(arguments, variables)
  }

  /// What the command is must never depend on which options this release knows.
  static func checkSeparator(_ arguments: Arguments) throws(UsageError) {
    guard let before = arguments.operandsBeforeSeparator else {
      throw .separatorMissing(verb: command.verb)
    }
    guard before == 0 else {
      throw .operandUnexpected(arguments.operands[0], verb: command.verb)
    }
  }
}
