// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura helper pass`: is the program `pass` to those that call it, as kura-helpers(7) describes it.
enum PassFront {
  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let words = Array(invocation.arguments.operands.dropFirst())
    let store = try PassStore(invocation)
    do throws(CommandError) { return try perform(words, store, &invocation) } catch {
      throw store.told(error)
    }
  }

  private static func perform(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    guard let first = words.first, let verb = Verb.named(first) else {
      // pass itself takes a name, or nothing, for show.
      return try PassReading.show(words, store, &invocation)
    }
    let rest = Array(words.dropFirst())
    switch verb {
    case .show: return try PassReading.show(rest, store, &invocation)
    case .find: return try PassReading.find(rest, store, &invocation)
    case .grep: return try PassSearch.grep(rest, store, &invocation)
    case .insert: return try PassWriting.insert(rest, store, &invocation)
    case .generate: return try PassGenerating.generate(rest, store, &invocation)
    case .edit: return try PassWriting.edit(rest, store, &invocation)
    case .remove: return try PassMoving.remove(rest, store, &invocation)
    case .move: return try PassMoving.move(rest, store, &invocation, copies: false)
    case .copy: return try PassMoving.move(rest, store, &invocation, copies: true)
    case .otp: return try PassCodes.run(rest, store, &invocation)
    case .help:
      try invocation.output.write(Self.help)
    case .version:
      try invocation.output.write("pass: kura " + Release.version + ", speaking pass 1.7.4\n")
    case .initialize:
      // Without a vault it is an error, as for all others.
      _ = try store.access.connect()
      invocation.messages.write(
        "kura keeps no keys of gpg's: there is nothing to initialize. 'kura init' makes a vault.\n")
    case .git: try git(rest.first, invocation)
    }
    return .ok
  }

  /// What `git init` is for is so already; what else git does would be missed.
  private static func git(
    _ verb: [UInt8]?, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let words = "kura keeps the history of its items itself, and no git repository."
    guard let verb, verb.elementsEqual("init".utf8) else { throw refusal(words, invocation) }
    invocation.messages.write(words + "\n")
  }

  /// Has a person agree, or ends it.
  static func ask(
    _ question: String, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    var questioner = try store.access.asking.questioner()
    let answer = try prompting { () throws(PromptError) in
      try questioner.prompt?.confirms(question)
    }
    guard let answer else {
      throw refusal("nobody can be asked, and nothing was done: -f does not ask.", invocation)
    }
    guard answer else { throw .told(Diagnostic("", hint: nil, .failure)) }
  }

  /// Says what is wrong in the place of a message of kura's.
  static func refusal(
    _ text: String, _ invocation: borrowing Invocation
  ) -> CommandError {
    invocation.messages.write("Error: " + text + "\n")
    return .told(Diagnostic("", hint: nil, .failure))
  }

  private static let help = """
    pass: the standard unix password manager's commands, over a vault of kura's
      ls|list|show [FOLDER]            list names
      show [-c[LINE]] NAME             print a value, or copy a line of it
      find|search TEXT...              list names that have a text in them
      grep [-iEv] PATTERN              print lines of values
      insert [-e|-m] [-f] NAME         store a value
      edit NAME                        edit a value
      generate [-n] [-c] [-i|-f] NAME [LENGTH]
      rm [-r] [-f] NAME                remove
      mv|cp [-f] OLD NEW               rename or copy
      otp [code|insert|append|uri|validate] ...
      version
    kura-helpers(7) tells what is different.

    """
}

// MARK: - Verbs

extension PassFront {
  private enum Verb {
    case show, find, grep, insert, generate, edit, remove, move, copy, otp, help, version
    case initialize, git

    private static let names: [(String, Verb)] = [
      ("show", .show), ("ls", .show), ("list", .show), ("find", .find), ("search", .find),
      ("grep", .grep), ("insert", .insert), ("add", .insert), ("generate", .generate),
      ("edit", .edit), ("rm", .remove), ("remove", .remove), ("delete", .remove), ("mv", .move),
      ("rename", .move), ("cp", .copy), ("copy", .copy), ("otp", .otp), ("help", .help),
      ("--help", .help), ("-h", .help), ("version", .version), ("--version", .version),
      ("init", .initialize), ("git", .git),
    ]

    static func named(_ word: [UInt8]) -> Verb? {
      names.first { word.elementsEqual($0.0.utf8) }?.1
    }
  }
}
