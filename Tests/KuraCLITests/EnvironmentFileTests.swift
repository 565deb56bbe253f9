// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

/// What a file's text comes to: `NAME=value`, with `<name of an item>` in the place of its value.
private func read(
  _ text: [UInt8], _ dialect: ReferenceDialect = .plain
) throws(CommandError) -> [String] {
  var list = try VariableList.make(dialect)
  var buffer: SecretBuffer
  do { buffer = try SecretBuffer(capacity: text.count) } catch { throw .outOfMemory }
  do { try buffer.append(text.span) } catch { throw .outOfMemory }
  try list.add(buffer, of: "env")
  var found: [String] = []
  for entry in list.entries {
    let name = String(decoding: entry.name, as: UTF8.self)
    switch entry.source {
    case .text(let pieces):
      var value = ""
      for piece in pieces {
        switch piece {
        case .text(let range):
          value += list.text.extracting(range).withUnsafeBytes {
            String(decoding: $0, as: UTF8.self)
          }
        case .placeholder(let placeholder): value += "<\(placeholder.source.reference.name)>"
        }
      }
      found.append(name + "=" + value)
    case .file: found.append(name + "!")
    }
  }
  return found
}

private func read(_ text: String) throws(CommandError) -> [String] { try read(Array(text.utf8)) }

@Suite struct EnvironmentFileTests {
  @Test(arguments: [
    ("A=b", ["A=b"]),
    ("A=b\n", ["A=b"]),
    ("A=b\r\nC=d\r\n", ["A=b", "C=d"]),
    ("\u{FEFF}A=b", ["A=b"]),
    ("", []),
    ("\n\n# all of it\n   # a comment\n\t\n", []),
    ("export A=b\nexport\tC=d", ["A=b", "C=d"]),
    ("export=x", ["export=x"]),
    ("export =x", ["export=x"]),
    ("  A = b  ", ["A=b"]),
    ("A=", ["A="]),
    ("A=\n", ["A="]),
    ("A=b c  d", ["A=b c  d"]),
    ("A=b # c", ["A=b"]),
    ("A=b#c", ["A=b#c"]),
    ("A=#c", ["A=#c"]),
    ("A= #c", ["A="]),
    ("A=b=c==", ["A=b=c=="]),
    ("A=C:\\new\\dir", ["A=C:\\new\\dir"]),
    ("A={\"b\": 'c'}", ["A={\"b\": 'c'}"]),
    ("A='b # c'  # d", ["A=b # c"]),
    ("A='$b `c` \\n \"'", ["A=$b `c` \\n \""]),
    ("A='b\nc'\nD=e", ["A=b\nc", "D=e"]),
    ("A=\"b\nc\"", ["A=b\nc"]),
    ("A=\"\\n\\t\\r\\\\\\\"\\$\\`\"", ["A=\n\t\r\\\"$`"]),
    ("A=''", ["A="]),
    ("A=100$ b", ["A=100$ b"]),
    ("A=pa%s$", ["A=pa%s$"]),
    ("_a9=b", ["_a9=b"]),
    ("A=1\nB=2\nA=3", ["A=3", "B=2"]),
    ("A=kura://db/password", ["A=<db/password>"]),
    ("A=\"kura://db/pass word\" # c", ["A=<db/pass word>"]),
    ("A=kura://x\nA=plain", ["A=plain"]),
    ("A=postgres://u:{{ kura://x }}@h/{{kura://y}} # c", ["A=postgres://u:<x>@h/<y>"]),
    ("A='{{ kura://x }}$y'\nB=\\{{ kura://x }}", ["A=<x>$y", "B={{ kura://x }}"]),
    ("A=\"{{ kura://x }}\\n{{ y }}\"", ["A=<x>\n{{ y }}"]),
  ])
  func `lines that mean variables`(_ text: String, _ expected: [String]) throws {
    #expect(try read(text) == expected)
  }

  @Test(arguments: [
    ("A", SyntaxFlaw.notAVariable, 1), ("A=b\nB", .notAVariable, 2), ("A B=c", .notAVariable, 1),
    ("export A", .notAVariable, 1), ("=b", .variableName, 1), ("1A=b", .variableName, 1),
    ("A-B=c", .variableName, 1), ("é=c", .variableName, 1), ("A.B=c", .variableName, 1),
    ("A='b", .openQuote, 1), ("\nA=\"b\nc\nd", .openQuote, 2), ("A=\"b\\", .openQuote, 1),
    ("A='b'c", .behindQuote, 1), ("A='b'#c", .behindQuote, 1), ("A='b'\n'c'=d", .variableName, 2),
    ("A=\"\\x\"", .escape, 1), ("A=$B", .substitution, 1), ("A=x${B}", .substitution, 1),
    ("A=$(id)", .substitution, 1), ("A=`id`", .substitution, 1), ("A=\"$B\"", .substitution, 1),
    ("A=$$", .substitution, 1), ("A=b\0c", .nul, 1), ("A='b\0'", .nul, 1),
    ("A=x kura://b", .referenceInside, 1), ("A=postgres://kura://b", .referenceInside, 1),
    ("A='x\nKURA://b'", .referenceInside, 1), ("A=xkura://b", .referenceInside, 1),
    ("A={{ kura://a", .openBraces, 1), ("A={{ kura://a | x }}", .filterUnknown, 1),
    ("A={{ kura://a ?? $B }}", .substitution, 1), ("A=kura://${B}", .substitution, 1),
  ])
  func `lines that mean nothing are told by their number`(
    _ text: String, _ flaw: SyntaxFlaw, _ line: Int
  ) {
    #expect(throws: CommandError.placed(.line(line, of: "env"), .syntax(flaw))) { try read(text) }
  }

  @Test(arguments: [
    ("A=kura://${E}/x", "A=<dev/x>"), ("A='kura://${E}/x'", "A=<dev/x>"),
    ("A=u:{{ kura://${E}/x }}", "A=u:<dev/x>"), ("A=kura://${N:-a b}", "A=<a b>"),
    ("A='${E}'", "A=${E}"), ("A=kura://x${W}", "A=<x@b?attr=%2F${E}/>"),
  ])
  func `variables stand in references where that is wanted`(_ text: String, _ expected: String)
    throws
  {
    #expect(try read(Array(text.utf8), expanding) == [expected])
  }

  @Test(arguments: [
    ("A=${E}", SyntaxFlaw.substitution), ("A=\"${E} {{ kura://a }}\"", .substitution),
    ("A=kura://$E", .substitution), ("A=kura://${E", .expansion), ("A=kura://${}", .expansion),
    ("A=kura://${E-x}", .expansion), ("A=kura://${N}", .unset(Array("N".utf8))),
  ])
  func `a variable elsewhere, or that is none, is told`(_ text: String, _ flaw: SyntaxFlaw) throws {
    let expanding = try expanding
    #expect(throws: CommandError.placed(.line(1, of: "env"), .syntax(flaw))) {
      try read(Array(text.utf8), expanding)
    }
  }

  private var expanding: ReferenceDialect {
    get throws {
      let known = ["E": "dev", "W": "@b?attr=%2F${E}/"]
      return try ReferenceDialect(expands: true, Variables { known[$0] })
    }
  }

  @Test(arguments: ["A=kura://", "A=KURA://b", "\nA=kura://b%2", "A=kura://b?c=d", "A=kura://@b"])
  func `a broken reference is never passed on`(_ text: String) {
    #expect(throws: CommandError.self) { try read(text) }
  }

  @Test func `what a message says of a line is not what stands in it`() {
    let secret = "hunter2"
    for text in [
      "A=$(\(secret))", "\(secret)", "A='\(secret)", "A=kura://\(secret)%", "\(secret)-\(secret)=x",
      "A=x kura://\(secret)", "A='\(secret)'\(secret)",
    ] {
      do {
        _ = try read(text)
        Issue.record("\(text) was read")
      } catch {
        let shown = Diagnostic(error)
        #expect(!(shown.message + (shown.hint ?? "")).contains(secret), "\(shown.message)")
        #expect(shown.message.hasPrefix("line 1 of env: "))
        #expect(shown.status == .usage)
      }
    }
  }

  @Test func `there is an end to the number of variables`() {
    let text = (0...VariableList.limit).map { "A\($0)=b\n" }.joined()
    #expect(
      throws: CommandError.placed(
        .line(VariableList.limit + 1, of: "env"), .syntax(.tooMany(VariableList.limit)))
    ) { try read(text) }
  }

  @Test func `any bytes are read or refused`() {
    var state: UInt64 = 3
    let alphabet = Array("A=\n'\"\\$ #kura://x\r\t`".utf8) + [0, 0xFF]
    var (whole, refused) = (0, 0)
    for _ in 0..<5_000 {
      var text: [UInt8] = []
      for _ in 0..<24 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        text.append(alphabet[Int(state >> 33) % alphabet.count])
      }
      do {
        // What is read are names of variables, each once, with what they are to hold.
        let names = try read(text).map { $0.prefix { !"=!".contains($0) } }
        #expect(names.allSatisfy { $0.wholeMatch(of: /[A-Za-z_][A-Za-z0-9_]*/) != nil }, "\(text)")
        if !names.isEmpty { whole += 1 }
      } catch {
        let lines = text.count { $0 == UInt8(ascii: "\n") } + 1
        guard case .placed(.line(let line, of: "env"), _) = error, (1...lines).contains(line) else {
          Issue.record("\(error): \(text)")
          continue
        }
        refused += 1
      }
    }
    #expect(whole > 0 && refused > 0)
  }
}

@Suite struct VariableBindingTests {
  private func refusal(_ words: [String]) -> String? {
    do throws(CommandError) { _ = try bindings(words) } catch { return Diagnostic(error).message }
    return nil
  }

  private func bindings(_ words: [String]) throws(CommandError) -> [VariableBinding] {
    let line = ["run"] + words + ["--", "true"]
    var parser = ArgumentParser(line.map { Array($0.utf8) })
    let result: ArgumentParser.Result
    do throws(UsageError) { result = try parser.run() } catch { throw .usage(error) }
    guard case .run(_, let arguments) = result else { return [] }
    _ = try DescriptorBinding.all(arguments, .plain)
    return try VariableBinding.all(arguments)
  }

  @Test func `a variable and a reference, split at the first equals sign`() throws {
    let found = try bindings(["--env", "A=kura://b?attr=c", "--file", "B=kura://d"])
    #expect(found.map(\.name) == [Array("A".utf8), Array("B".utf8)])
    #expect(found.map(\.option) == [.environment, .file])
    #expect(found.map(\.value) == [Array("kura://b?attr=c".utf8), Array("kura://d".utf8)])
  }

  @Test func `what is none is told without its value`() {
    let rows: [([String], String)] = [
      (["--env", "A"], "--env has no = in it"),
      (["--env", "A=kura://b", "--file", "A=kura://c"], "the variable A is given twice"),
      (["--file", "1=kura://b"], "--file: no variable can be called '1'"),
      (["--fd", "5=kura://a", "--fd", "5=kura://b"], "descriptor 5 is given twice"),
      (["--stdin", "kura://a", "--stdin", "kura://b"], "descriptor 0 is given twice"),
    ]
    for (words, message) in rows { #expect(refusal(words) == message) }
    for number in ["0", "2", "-1", "x", "99999999999", ""] {
      let message = "--fd takes a descriptor from 3 on, not '\(number)'"
      #expect(refusal(["--fd", "\(number)=kura://a"]) == message)
    }
  }
}
