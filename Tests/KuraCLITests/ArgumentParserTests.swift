// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

/// Parses words as a shell would hand them over.
private func parse(_ words: String...) throws(UsageError) -> (verb: String, Arguments) {
  let result = try ArgumentParser.parse(words.map { Array($0.utf8) })
  guard case .run(let command, let arguments) = result else { return ("", Arguments()) }
  return (command.verb, arguments)
}

private func parse(_ words: [String]) throws(UsageError) -> Arguments {
  let result = try ArgumentParser.parse(words.map { Array($0.utf8) })
  guard case .run(_, let arguments) = result else { return Arguments() }
  return arguments
}

private func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

@Suite struct ArgumentParserTests {
  @Test func `options and operands come in any order`() throws {
    for words in [["get", "-o", "file", "note"], ["get", "note", "-o", "file"]] {
      let result = try ArgumentParser.parse(words.map(bytes))
      guard case .run(let command, let arguments) = result else {
        Issue.record("not a command")
        return
      }
      #expect(command.verb == "get")
      #expect(arguments.operands == [bytes("note")])
      #expect(arguments.value(.output) == bytes("file"))
    }
  }

  @Test func `a value stands behind its option, or attached to it`() throws {
    #expect(try parse("get", "n", "--output=f").1.value(.output) == bytes("f"))
    #expect(try parse("get", "n", "--output", "f").1.value(.output) == bytes("f"))
    #expect(try parse("get", "n", "-of").1.value(.output) == bytes("f"))
    #expect(try parse("get", "n", "--attr=").1.value(.attribute) == [])
    #expect(try parse("get", "n", "--output=a=b").1.value(.output) == bytes("a=b"))
  }

  @Test func `short options are bundled`() throws {
    let (_, arguments) = try parse("list", "-lq0")
    #expect(arguments.has(.long) && arguments.has(.quiet) && arguments.has(.null))
    let (_, withValue) = try parse("get", "-qofile", "n")
    #expect(withValue.has(.quiet))
    #expect(withValue.value(.output) == bytes("file"))
  }

  @Test func `two dashes end the options`() throws {
    #expect(try parse("get", "--", "-x").1.operands == [bytes("-x")])
    #expect(try parse("--", "get", "note").0 == "get")
  }

  @Test func `one dash is an operand`() throws {
    #expect(try parse("get", "-").1.operands == [bytes("-")])
  }

  @Test func `an optional value is only taken when attached`() throws {
    let (_, bare) = try parse("get", "--wait", "30s")
    #expect(bare.has(.wait) && bare.value(.wait) == nil)
    #expect(bare.operands == [bytes("30s")])
    #expect(try parse("get", "--wait=30s", "n").1.value(.wait) == bytes("30s"))
  }

  @Test func `general options stand before the verb, too`() throws {
    let (verb, arguments) = try parse("--vault", "work", "-q", "--no-agent", "list")
    #expect(verb == "list")
    #expect(arguments.value(.vault) == bytes("work"))
    #expect(arguments.has(.quiet) && arguments.has(.noAgent))
    #expect(try parse("--passcode-file", "f", "list").1.value(.passcodeFile) == bytes("f"))
  }

  @Test(arguments: CommandTable.all.map(\.verb))
  func `every verb takes --no-input`(_ verb: String) throws {
    guard
      case .help(let command) = try ArgumentParser.parse(
        [verb, "--no-input", "--help"].map(bytes))
    else {
      Issue.record("not understood")
      return
    }
    #expect(command?.verb == verb)
  }

  @Test func `no word at all asks for help`() throws {
    guard case .help(nil) = try ArgumentParser.parse([]) else {
      Issue.record("not help")
      return
    }
  }

  @Test func `an option before a verb that does not take it is refused`() {
    #expect(throws: UsageError.unknownOption(bytes("--passcode-file"), verb: "lock")) {
      try parse("--passcode-file", "f", "lock")
    }
  }

  @Test func `of several values the last counts, and all are kept`() throws {
    let (_, arguments) = try parse("put", "n", "--attr", "a=1", "--attr=b=2")
    #expect(arguments.value(.attribute) == bytes("b=2"))
    #expect(arguments.values(.attribute) == [bytes("a=1"), bytes("b=2")])
  }

  @Test func `a value may begin with a dash`() throws {
    #expect(try parse("put", "n", "--if-revision", "-1").1.value(.ifRevision) == bytes("-1"))
  }

  @Test func `a long option is spelled in full`() {
    #expect(throws: UsageError.unknownOption(bytes("--out"), verb: "get")) {
      try parse("get", "--out", "f", "n")
    }
  }

  @Test func `the value of an unknown option is not kept`() {
    #expect(throws: UsageError.unknownOption(bytes("--passcode"), verb: "get")) {
      try parse("get", "--passcode=secret", "n")
    }
  }

  @Test func `bytes that are no text are kept as they are`() throws {
    let odd: [UInt8] = [0x61, 0xFF]
    let result = try ArgumentParser.parse([bytes("get"), odd])
    guard case .run(_, let arguments) = result else { return }
    #expect(arguments.operands == [odd])
  }
}

@Suite struct RefusedCommandLineTests {
  static let cases: [([String], UsageError)] = [
    (["run", "sh", "-c", "true"], .separatorMissing(verb: "run")),
    (["run", "-c", "true"], .unknownOption(bytes("-c"), verb: "run")),
    (["-q"], .noVerb),
    (["frobnicate"], .unknownVerb(bytes("frobnicate"))),
    (["get"], .operandMissing("NAME", verb: "get")),
    (["get", "a", "b"], .operandUnexpected(bytes("b"), verb: "get")),
    (["lock", "now"], .operandUnexpected(bytes("now"), verb: "lock")),
    (["rm"], .operandMissing("NAME", verb: "rm")),
    (["config", "a", "b", "c"], .operandUnexpected(bytes("c"), verb: "config")),
    (["get", "a", "-o"], .valueMissing(.output)),
    (["get", "a", "--revision"], .valueMissing(.revision)),
    (["get", "a", "-o", ""], .fileMissing(.output)),
    (["reset", "--recovery-key-file="], .fileMissing(.recoveryKeyFile)),
    (["get", "a", "--json=yes"], .valueUnexpected(.json)),
    (["get", "a", "-Z"], .unknownOption(bytes("-Z"), verb: "get")),
    (["--frob", "get"], .unknownOption(bytes("--frob"), verb: "")),
    (["get", "--", "a", "-q"], .operandUnexpected(bytes("-q"), verb: "get")),
    // A value is never an argument.
    (["put", "a", "--value"], .unknownOption(bytes("--value"), verb: "put")),
  ]

  @Test(arguments: cases)
  func `a wrong command line is refused with its reason`(_ line: ([String], UsageError)) {
    #expect(throws: line.1) { try ArgumentParser.parse(line.0.map(bytes)) }
  }

  @Test func `help and version need no operands`() throws {
    guard case .help(let command) = try ArgumentParser.parse([bytes("get"), bytes("--help")]) else {
      Issue.record("no help")
      return
    }
    #expect(command?.verb == "get")
    guard case .help(nil) = try ArgumentParser.parse([bytes("-h")]) else {
      Issue.record("no help")
      return
    }
    guard case .version = try ArgumentParser.parse([bytes("--version")]) else {
      Issue.record("no version")
      return
    }
  }
}

@Suite struct ArgumentsTests {
  private func arguments(_ name: OptionName, _ value: String?) -> Arguments {
    var arguments = Arguments()
    arguments.options = [Arguments.Given(name: name, value: value.map(bytes))]
    return arguments
  }

  @Test func `a number has digits only and fits`() throws {
    #expect(try arguments(.revision, "0").number(.revision, as: UInt64.self) == 0)
    #expect(
      try arguments(.revision, "18446744073709551615").number(.revision, as: UInt64.self) == .max)
    for text in ["", "-1", "+1", "1 ", "one", "0x1", "18446744073709551616"] {
      #expect(throws: UsageError.notANumber(.revision, bytes(text))) {
        try arguments(.revision, text).number(.revision, as: UInt64.self)
      }
    }
    #expect(throws: UsageError.notANumber(.passcodeFD, bytes("2147483648"))) {
      try arguments(.passcodeFD, "2147483648").number(.passcodeFD, as: Int32.self)
    }
  }

  @Test func `an attribute is split at the first equals sign`() throws {
    let pair = try AttributePair(bytes("sign=a=b=c"))
    #expect(pair.key == bytes("sign") && pair.value == bytes("a=b=c"))
    #expect(try AttributePair(bytes("empty=")).value == [])
    for text in ["", "nonsense", "=value"] {
      #expect(throws: UsageError.notAnAttribute(bytes(text))) { try AttributePair(bytes(text)) }
    }
  }

  @Test func `an attribute is given once`() throws {
    let pairs = [bytes("a=1"), bytes("b=2"), bytes("a=3")]
    #expect(throws: UsageError.attributeTwice(bytes("a"))) { try AttributePair.all(pairs) }
    #expect(throws: UsageError.attributeTwice(bytes("b"))) {
      try AttributePair.all(pairs[..<2], besides: [bytes("b")])
    }
    #expect(try AttributePair.all(pairs[..<2], besides: [bytes("c")]).count == 2)
  }

  @Test func `a duration of nothing is refused`() {
    #expect(throws: UsageError.notADuration(bytes("0s"))) {
      try arguments(.idleTimeout, "0s").duration(.idleTimeout)
    }
  }

  @Test func `options that contradict each other are refused`() {
    var arguments = arguments(.file, "f")
    arguments.options.append(Arguments.Given(name: .fileDescriptor, value: bytes("0")))
    #expect(throws: UsageError.conflict(.file, .fileDescriptor)) {
      try arguments.refuse(.file, with: .fileDescriptor)
    }
  }

  @Test func `no revision and no pass is none at all`() throws {
    let revision = try parse("get", "n", "--revision", "0").1
    #expect(throws: UsageError.tooSmall(.revision, bytes("0"), least: "1")) {
      _ = try revision.number(.revision, atLeast: UInt64(1))
    }
    let passes = try parse("init", "--kdf-passes", "0").1
    #expect(throws: UsageError.tooSmall(.kdfPasses, bytes("0"), least: "1")) {
      _ = try passes.cost()
    }
    let memory = try parse("init", "--kdf-memory", "7KiB").1
    #expect(throws: UsageError.tooSmall(.kdfMemory, bytes("7KiB"), least: "8KiB")) {
      _ = try memory.cost()
    }
    let least = try parse("init", "--kdf-memory", "8KiB", "--kdf-passes", "1").1.cost()
    #expect(least.memory == 8_192 && least.passes == 1)
  }

  @Test func `the passcode and the value come from two descriptors`() throws {
    for words in [["--passcode-fd", "0"], ["--passcode-fd", "3", "--fd", "3"]] {
      let arguments = try parse(["put", "x"] + words)
      #expect(throws: UsageError.self) { try Put.checkDescriptors(arguments) }
    }
    for words in [
      [], ["--fd", "0"], ["--passcode-fd", "3"], ["--passcode-fd", "0", "--fd", "3"],
      ["--passcode-fd", "0", "--file", "f"],
    ] {
      try Put.checkDescriptors(try parse(["put", "x"] + words))
    }
  }
}
