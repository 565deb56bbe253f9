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
    guard case .welcome = try ArgumentParser.parse([]) else {
      Issue.record("no welcome")
      return
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

  @Test func `bytes that are no text are kept as they are`() throws {
    let odd: [UInt8] = [0x61, 0xFF]
    let result = try ArgumentParser.parse([bytes("get"), odd])
    guard case .run(_, let arguments) = result else { return }
    #expect(arguments.operands == [odd])
  }
}

@Suite struct HelpAndVersionTests {
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
    guard case .version(true) = try ArgumentParser.parse([bytes("--version"), bytes("--json")]),
      case .version(false) = try ArgumentParser.parse([bytes("--version")])
    else {
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
      #expect(throws: UsageError("--revision takes a whole number, not '\(text)'")) {
        try arguments(.revision, text).number(.revision, as: UInt64.self)
      }
    }
    #expect(throws: UsageError("--passcode-fd takes a whole number, not '2147483648'")) {
      try arguments(.passcodeFD, "2147483648").number(.passcodeFD, as: Int32.self)
    }
  }

  @Test func `an attribute is split at the first equals sign`() throws {
    let pair = try AttributePair(bytes("sign=a=b=c"))
    #expect(pair.key == bytes("sign") && pair.value == bytes("a=b=c"))
    #expect(try AttributePair(bytes("empty=")).value == [])
    for text in ["", "nonsense", "=value"] {
      #expect(throws: UsageError("'\(text)' is not KEY=VALUE")) { try AttributePair(bytes(text)) }
    }
  }

  @Test func `an attribute is given once`() throws {
    let pairs = [bytes("a=1"), bytes("b=2"), bytes("a=3")]
    #expect(throws: UsageError("the attribute 'a' is given twice")) { try AttributePair.all(pairs) }
    #expect(throws: UsageError("the attribute 'b' is given twice")) {
      try AttributePair.all(pairs[..<2], besides: [bytes("b")])
    }
    #expect(try AttributePair.all(pairs[..<2], besides: [bytes("c")]).count == 2)
  }

  @Test func `a duration that is none is refused`() {
    for (text, flaw) in [("0s", ""), ("soon", ""), ("15", ": it has no unit")] {
      let words = "'\(text)' is not a length of time" + flaw
      #expect(throws: UsageError(words, hint: "write 30s, 15m, 8h or 1h30m")) {
        try arguments(.idleTimeout, text).duration(.idleTimeout)
      }
    }
  }

  @Test func `options that contradict each other are refused`() {
    var arguments = arguments(.file, "f")
    arguments.options.append(Arguments.Given(name: .fileDescriptor, value: bytes("0")))
    let words = "--file and --fd contradict each other"
    #expect(throws: UsageError(words, hint: "give one of them")) {
      try arguments.refuse(.file, with: .fileDescriptor)
    }
  }

  @Test func `no revision and no pass is none at all`() throws {
    let revision = try parse("get", "n", "--revision", "0").1
    #expect(throws: UsageError("--revision is 1 at least, not '0'")) {
      _ = try revision.number(.revision, atLeast: UInt64(1))
    }
    let passes = try parse("init", "--kdf-passes", "0").1
    #expect(throws: UsageError("--kdf-passes is 1 at least, not '0'")) {
      _ = try passes.cost()
    }
    let memory = try parse("init", "--kdf-memory", "7KiB").1
    #expect(throws: UsageError("--kdf-memory is 8KiB at least, not '7KiB'")) {
      _ = try memory.cost()
    }
    let least = try parse("init", "--kdf-memory", "8KiB", "--kdf-passes", "1").1.cost()
    #expect(least.memory == 8_192 && least.passes == 1)
  }

  @Test func `the passcode and the value come from two descriptors`() throws {
    for (number, words) in [
      (0, ["--passcode-fd", "0"]), (3, ["--passcode-fd", "3", "--fd", "3"]),
    ] {
      let arguments = try parse(["put", "x"] + words)
      let refusal = #expect(throws: UsageError.self) { try Put.checkDescriptors(arguments) }
      #expect(refusal?.message.hasSuffix("both come from descriptor \(number)") == true)
    }
    for words in [
      [], ["--fd", "0"], ["--passcode-fd", "3"], ["--passcode-fd", "0", "--fd", "3"],
      ["--passcode-fd", "0", "--file", "f"],
    ] {
      try Put.checkDescriptors(try parse(["put", "x"] + words))
    }
  }
}
