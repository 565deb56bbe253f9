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
      Option(.grant, .required("NAME"), help: "let it read a protected item; may be repeated"),
      Option(.grantFrom, .required("FILE"), help: "what the references in FILE name"),
      Option(.forTime, .required("TIME"), help: "for TIME; without it, as long as it runs"),
      Option(.uses, .required("N"), help: "for N values that are read"),
      Option(.mask, help: "names in the place of values in what it writes"),
      Option(.sandbox, help: "in a room that leads nowhere"),
      Option(.allow, .required("NAME"), help: "an item that the room may have; may be repeated"),
      Option(.network, help: "the room has a network of its own"),
      Option(.writable, help: "the room may write to this directory"),
    ] + ReferenceDialect.options,
    unlocking: .whenLocked, failure: .runFailed, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try checkSeparator(arguments) }
    let room = try RoomPlan.make(invocation)
    let plan = try LaunchPlan.make(invocation, isInRoom: room != nil)
    try grant(invocation)
    let values = try plan.read(invocation)
    guard room == nil, !arguments.has(.mask) else {
      return try MaskedCommand.run(plan, values, in: room, invocation)
    }
    let variables = try plan.environment(values, of: kura_process_id())
    throw try plan.launch(arguments, variables)
  }

  /// Has the command, which this process becomes, and what is below it let read what was asked for.
  private static func grant(_ invocation: borrowing Invocation) throws(CommandError) {
    let arguments = invocation.arguments
    let names = arguments.values(.grant) + (try DeclaredItems.names(invocation))
    guard !names.isEmpty else {
      for option in [OptionName.forTime, .uses] where arguments.has(option) {
        throw .usage(option.spelling + " goes with --grant", hint: "name what is granted")
      }
      return
    }
    var wish = try GrantWish(
      names, to: .client, lasting: ProtocolLimit.grantTime,
      reader: Diagnostic.shown(arguments.operands[0]), arguments)
    if arguments.has(.grantFrom) {
      (wish.isDeclared, wish.set) = (true, GrantedSet(of: arguments.operands))
    }
    _ = try invocation.agentAccess(verb: "run --grant").grant(wish)
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
