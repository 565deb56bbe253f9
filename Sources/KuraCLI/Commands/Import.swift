// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura import`: unlocks the vault, and becomes the program that reads what other programs wrote.
enum Import {
  static let command = Command(
    "import", [.init("FORMAT"), .init("FILE", .optional)],
    abstract: "bring in what other programs exported",
    options: [
      Option(.into, .required("FOLDER"), help: "put all of it below FOLDER"),
      Option(
        .onDuplicate, .required("WAY"),
        help: "skip, rename, replace or merge where one exists"),
      Option(
        .passwordFile, .required("FILE"), help: "read the export's own password from FILE"),
      Option(.dryRun, help: "say what would happen, and change nothing"),
      Option(.yes, help: "with auto: do not ask"),
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let format = try Invocation.text(arguments.operands[0])
    guard format.utf8.elementsEqual("auto".utf8) || ImportFormat(rawValue: format) != nil else {
      throw .usage(
        "there is no format " + Diagnostic.shown(format),
        hint: "'kura help import' lists those that there are")
    }
    if format.utf8.elementsEqual(ImportFormat.secretService.rawValue.utf8),
      arguments.operands.count > 1
    {
      throw .usage(
        "secret-service is read from the session bus, not from a file",
        hint: "'kura import secret-service' takes what the desktop keeps now")
    }
    try checkInput(format, invocation)
    let access = try invocation.agentAccess(verb: command.verb)
    guard let program = System.companion("kura-import") else {
      throw .failure(
        "the program kura-import is not installed beside kura",
        hint: "it is the package kura-import; all else works without it")
    }
    var words = [program, "--vault", access.vault.name ?? access.vault.path]
    if invocation.messages.isQuiet { words.append("-q") }
    if let folder = try invocation.text(.into) { words += ["--into", folder] }
    if let way = try invocation.text(.onDuplicate) { words += ["--on-duplicate", way] }
    if arguments.has(.dryRun) { words.append("--dry-run") }
    if arguments.has(.yes) { words.append("--yes") }
    if arguments.has(.noInput) { words.append("--no-input") }
    if let file = try invocation.text(.passwordFile) { words += ["--password-file", file] }
    words += ["--", format]
    if arguments.operands.count > 1 { words.append(try Invocation.text(arguments.operands[1])) }
    try access.unlocked { connection throws(ClientError) in try connection.askForBatches() }
    return try become(program, words)
  }

  /// One stream cannot give both the passcode and what is imported.
  private static func checkInput(
    _ format: String, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let arguments = invocation.arguments
    let file = arguments.operands.count > 1 ? try Invocation.text(arguments.operands[1]) : "-"
    let isOfStream = ImportFormat(rawValue: format)?.isOfStream ?? true
    guard file == "-", isOfStream else { return }
    if let password = try invocation.text(.passwordFile), System.isSameStream(password, 0) {
      throw .usage(
        "the password and what is imported cannot both come from descriptor 0",
        hint: "give the password in a file, or the export")
    }
    try parsing { () throws(UsageError) in try Put.checkDescriptors(arguments) }
  }

  private static func become(
    _ program: String, _ words: [String]
  ) throws(CommandError) -> ExitStatus {
    let failed = System.become(program, words)
    throw .client(.programUnstartable(path: program, errno: -failed))
  }
}
