// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Runs the program: reads the command line, runs the command, says what went wrong.
public enum Entry {
  /// Does all of it.
  ///
  /// - Returns: The status to exit with.
  public static func run() -> Int32 {
    ProcessHardening.apply()
    kura_fill_descriptors()
    var messages = Messages()
    let words = System.arguments()
    var parser = ArgumentParser(ProgramName.arguments(words))
    do throws(CommandError) {
      if RoomEntry.isCalled(words) { return try RoomEntry.run(words) }
      switch try parsing({ () throws(UsageError) in try parser.run() }) {
      case .version(let isJSON):
        if isJSON { try writeRelease() } else { try Output.tell("kura " + Release.version + "\n") }
      case .help(let command):
        var output = try Output.standard()
        try HelpText(for: output).write(command, to: &output)
        try output.flush()
      case .welcome:
        var invocation = Invocation(
          arguments: Arguments(), variables: Variables.process, messages: messages,
          output: try Output.standard())
        try Welcome.write(&invocation)
        try invocation.output.flush()
      case .run(let command, let arguments):
        messages = try parsing { () throws(UsageError) in
          try Messages(arguments, Variables.process)
        }
        var invocation = Invocation(
          arguments: arguments, variables: Variables.process, messages: messages,
          output: try Output.standard())
        let status: ExitStatus
        do throws(CommandError) { status = try command.run(&invocation) } catch {
          throw invocation.naming(error)
        }
        try invocation.output.flush()
        return Int32(status.rawValue)
      }
      return Int32(ExitStatus.ok.rawValue)
    } catch {
      let diagnostic = Diagnostic(error)
      messages.report(diagnostic)
      let status = parser.command?.status(of: diagnostic) ?? diagnostic.status
      return Int32(status.rawValue)
    }
  }

  /// What programs ask that look for a release, or a library, with a known weakness.
  private static func writeRelease() throws(CommandError) {
    var output = try Output.standard()
    try output.openDocument()
    try output.member("release", Release.version)
    try output.key("linked")
    try output.openArray()
    for library in LinkedLibrary.all {
      try output.openObject()
      try output.member("name", library.name)
      try output.member("version", library.version)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
    try output.flush()
  }
}
