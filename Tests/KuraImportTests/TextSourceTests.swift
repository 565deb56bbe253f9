// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// Files of variables, and Kura's own lines.
@Suite struct TextSourceTests {
  @Test func `variables in each way of writing them`() throws {
    let items = try items(try fixture("app.env"), .dotenv, into: "app")
    #expect(items.names == ["app/DB_URL", "app/TOKEN", "app/RAW", "app/EMPTY", "app/MULTI"])
    #expect(items[0].value.text == "postgres://app:pw@db/app")
    #expect(items[1].value.text == "two\nlines \"quoted\" $HOME")
    #expect(items[2].value.text == "as it $stands\\n")
    #expect(items[3].value == [])
    #expect(items[4].value.text == "first\nsecond")
  }

  @Test(arguments: [
    ("A=1\nno assignment\n", ReadingFlaw(.assignment, at: 2)),
    ("A=\"open\nB=2\n", ReadingFlaw(.quoting, at: 1)), ("A='x'y\n", ReadingFlaw(.quoting, at: 1)),
    ("=x\n", ReadingFlaw(.assignment, at: 1)),
  ])
  func `what is no file of variables is refused with its line`(
    _ text: String, _ expected: ReadingFlaw
  ) throws {
    #expect(try flaw(text, .dotenv) == expected)
  }

  @Test func `Kura's own lines are what they were`() throws {
    let items = try items(try fixture("items.jsonl"), .jsonLines)
    #expect(items.names == ["mail/ada", "bytes", "code"])
    #expect(items[0].value.text == "secret")
    #expect(items[0]["user"] == "ada" && items[0]["url"] == "imap://x")
    #expect(items[1].value == [0x61, 0x00, 0xFF, 0x62] && items[1].isProtected)
    #expect(items[2].isCode)
  }

  @Test func `a value that goes on is one`() throws {
    let text =
      "{\"name\":\"a\",\"value\":\"x\",\"more\":true}\n\n"
      + "{\"name\":\"a\",\"value\":{\"base64\":\"AP8=\"},\"more\":true}\n"
      + "{\"name\":\"a\",\"value\":\"y\"}\n{\"name\":\"b\",\"value\":\"z\",\"more\":false}\n"
    let items = try items(Array(text.utf8), .jsonLines)
    #expect(items.names == ["a", "b"])
    #expect(items[0].value == [0x78, 0x00, 0xFF, 0x79])
  }

  @Test(arguments: [
    ("{\"name\":\"a\",\"value\":\"b\",\"more\":true}\n", ReadingFlaw(.member, at: 1, "more")),
    (
      "{\"name\":\"a\",\"value\":\"b\",\"more\":true}\n{\"name\":\"c\",\"value\":\"b\"}",
      ReadingFlaw(.member, at: 2, "name")
    ),
    (
      "{\"name\":\"a\",\"value\":\"b\",\"more\":true}\n{\"name\":\"a\"}",
      ReadingFlaw(.member, at: 2, "value")
    ),
    ("{\"name\":\"a\",\"value\":\"b\",\"more\":1}\n", ReadingFlaw(.member, at: 1, "more")),
    ("{\"name\":\"a\"}\n", ReadingFlaw(.member, at: 1, "value")),
    ("{\"value\":\"a\"}\n", ReadingFlaw(.member, at: 1, "name")),
    ("{\"name\":\"a\",\"value\":\"b\",\"class\":\"secret\"}", ReadingFlaw(.member, at: 1, "class")),
    ("{\"name\":\"a\",\"value\":\"b\",\"kind\":7}", ReadingFlaw(.member, at: 1, "kind")),
    ("{\"name\":\"a\",\"value\":{\"base64\":\"YQ\"}}", ReadingFlaw(.member, at: 1, "value")),
    (
      "{\"name\":\"a\",\"value\":\"b\",\"attributes\":{\"k\":1}}",
      ReadingFlaw(.member, at: 1, "attributes")
    ),
    ("\n[1]\n", ReadingFlaw(.notJSON, at: 2)), ("{\"name\"}", ReadingFlaw(.notJSON, at: 1)),
  ])
  func `a line that is no item is refused with its number`(
    _ text: String, _ expected: ReadingFlaw
  ) throws {
    #expect(try flaw(text, .jsonLines) == expected)
  }
}

/// JSON, strictly.
@Suite struct JSONReaderTests {
  private func read(_ text: String) throws(ReadingFlaw) -> JSONValue {
    try JSONReader.read(Array(text.utf8)[...])
  }

  @Test func `values are what stands there`() throws {
    let value = try read(
      " {\"a\":[1,-0.5e+3,true,false,null],\"b\":\"\\u00fc\\n\\\"\\ud83d\\ude00/\\/\",\"c\":{}} ")
    #expect(value["a"]?.elements?.count == 5)
    #expect(value["a"]?.elements?[0].whole == 1)
    #expect(value["a"]?.elements?[1] == .number(Array("-0.5e+3")))
    #expect(value["b"]?.text?.text == "ü\n\"😀//")
    #expect(value["c"]?.members?.isEmpty == true)
  }

  @Test(arguments: [
    "", "{", "[1,]", "{\"a\":1,}", "01", "1.", "-", "\"\u{1}\"", "\"\\x\"", "\"\\ud800\"", "nul",
    "1 2", "'a'", "{a:1}", "[1 2]", "\"\\u12\"", "+1", ".5", "\"", "\"\\ud83d\\u0041\"",
  ])
  func `what is no JSON is refused`(_ text: String) throws {
    #expect(throws: ReadingFlaw(.notJSON, at: 1)) { try read(text) }
  }

  @Test func `nothing is nested deeper than is needed`() throws {
    let most = JSONReader.deepest
    _ = try read(String(repeating: "[", count: most) + String(repeating: "]", count: most))
    #expect(throws: ReadingFlaw(.tooDeep, at: 1)) {
      try read(String(repeating: "[", count: 100_000))
    }
  }
}

/// Bytes in letters.
@Suite struct ArmourTests {
  @Test func `the vectors of RFC 4648`() {
    for (text, bytes) in [
      ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
      ("Zm9vYmE=", "fooba"), ("Zm9vYmFy", "foobar"),
    ] { #expect(Armour.decode(Array(text)) == Array(bytes)) }
  }

  @Test(arguments: [
    "Z", "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9v", "Zm9v\n",
  ])
  func `what is none is refused`(_ text: String) { #expect(Armour.decode(Array(text)) == nil) }
}
