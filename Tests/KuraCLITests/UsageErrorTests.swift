// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

extension ArgumentParser {
  /// Why a command line is not understood; nil where it is.
  static func refusal(_ words: [String]) -> UsageError? {
    do throws(UsageError) {
      _ = try parse(words.map { Array($0.utf8) })
      return nil
    } catch { return error }
  }
}

/// What the parser refuses. What a verb refuses, too, stands in the story `usage-words`.
@Suite struct UsageErrorTests {
  private static let verbs = "'kura help' lists the verbs"
  private static func help(_ verb: String) -> String {
    "'kura help " + verb + "' shows what it takes"
  }
  private static let separator = "write kura run [OPTION]... -- CMD [ARG]..."
  private static let noFile = "a variable that is not set gives an empty name"

  static let lines: [([String], message: String, hint: String?)] = [
    (["run", "sh", "-c", "true"], "run needs -- before the command", separator),
    (["run", "-c", "true"], "unknown option '-c' of run", help("run")),
    (["-q"], "no verb given", verbs),
    (["frobnicate"], "unknown verb 'frobnicate'", verbs),
    (["fr\u{1B}b\n"], "unknown verb 'fr\\x1Bb\\x0A'", verbs),
    (["get"], "get needs NAME", help("get")),
    (["get", "a", "b"], "get does not take 'b'", help("get")),
    (
      ["lock", "now"], "lock does not take 'now'",
      "it is about the whole vault; --vault before the verb names another one"
    ),
    (["rm"], "rm needs NAME", help("rm")),
    (["config", "a", "b", "c"], "config does not take 'c'", help("config")),
    (["get", "a", "-o"], "--output needs a value", nil),
    (["get", "a", "--revision"], "--revision needs a value", nil),
    (["get", "a", "-o", ""], "--output names no file", noFile),
    (["reset", "--recovery-key-file="], "--recovery-key-file names no file", noFile),
    (["get", "a", "--json=yes"], "--json takes no value", nil),
    (["get", "a", "-Z"], "unknown option '-Z' of get", help("get")),
    (["--frob", "get"], "unknown option '--frob'", verbs),
    (["get", "--", "a", "-q"], "get does not take '-q'", help("get")),
    // A value is never an argument.
    (["put", "a", "--value"], "unknown option '--value' of put", help("put")),
    (["--passcode-file", "f", "lock"], "unknown option '--passcode-file' of lock", help("lock")),
    // A long option is spelled in full.
    (["get", "--out", "f", "n"], "unknown option '--out' of get", "did you mean --output?"),
    // The value of one that is unknown may be a secret.
    (["get", "--passcode=secret", "n"], "unknown option '--passcode' of get", help("get")),
  ]

  @Test(arguments: lines)
  func `a wrong command line is refused with its reason, a hint and status 2`(
    _ line: ([String], message: String, hint: String?)
  ) throws {
    let error = try #require(ArgumentParser.refusal(line.0))
    #expect(error == UsageError(line.message, hint: line.hint))
    #expect(Diagnostic(.usage(error)) == Diagnostic(line.message, hint: line.hint, .usage))
  }

  @Test(arguments: ["slot", "slot add", "slot list", "slot remove"])
  func `the help that is hinted at is there`(_ verb: String) {
    let hint = UsageError.operandMissing("KIND", verb: verb).hint
    #expect(hint == "'kura help slot' shows what it takes")
  }
}

@Suite struct NearWordTests {
  @Test(arguments: [
    ("statsu", "status"), ("unlokc", "unlock"), ("lst", "list"), ("inti", "init"), ("gget", "get"),
    ("passcod", "passcode"),
  ])
  func `a verb that was nearly right is named`(_ row: (String, String)) {
    #expect(ArgumentParser.refusal([row.0])?.hint == "did you mean 'kura \(row.1)'?")
  }

  @Test(arguments: ["frobnicate", "x", "", "teg", "ssh"])
  func `a verb that was far off is not guessed at`(_ word: String) {
    #expect(ArgumentParser.refusal([word])?.hint == "'kura help' lists the verbs")
  }

  @Test(arguments: [
    (["get", "--otuput"], "--output"), (["get", "--outpu"], "--output"),
    (["get", "--out"], "--output"), (["put", "--replce"], "--replace"),
    (["get", "--quite"], "--quiet"), (["--verson"], "--version"),
  ])
  func `an option that was nearly right is named`(_ row: ([String], String)) {
    #expect(ArgumentParser.refusal(row.0)?.hint == "did you mean \(row.1)?")
  }

  @Test(arguments: ["--frobnicate", "-Z", "--p", "--="])
  func `an option that was far off is not guessed at`(_ text: String) {
    #expect(ArgumentParser.refusal(["put", text])?.hint == "'kura help put' shows what it takes")
  }
}
