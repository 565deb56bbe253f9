// SPDX-License-Identifier: MIT

import KuraClient
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI

@Suite struct `A line of a batch` {
  /// A line as a test looks at it.
  private struct Seen {
    var name: [UInt8]
    var value: [UInt8]
    var isProtected: Bool
    var flags: BatchItem.Flags
    var order: PutOrder
  }

  private func read(_ text: String) throws(CommandError) -> Seen? {
    let bytes = Array(text.utf8)
    var line = try ItemLine.make()
    guard try line.read(bytes.span) else { return nil }
    return Seen(
      name: Self.array(line.name), value: Self.array(line.value), isProtected: line.isProtected,
      flags: line.flags, order: try line.order(.replace))
  }

  private func flaw(_ text: String) -> String? {
    do throws(CommandError) {
      _ = try read(text)
      return nil
    } catch { return Diagnostic(error).message }
  }

  @Test func `is an item with what belongs to it`() throws {
    let line = try #require(
      try read(
        #" {"value":"v\u00fc\n","name":"a\/b","protect":true,"attributes":{"k":"1","l":""}}"#))
    let order = line.order
    #expect(line.name == Array("a/b".utf8))
    #expect(line.value == Array("vü\n".utf8))
    #expect(line.isProtected)
    #expect(order.name == "a/b")
    #expect(order.attributes.map(\.key) == ["k", "l"])
    #expect(order.flags == [.replace, .protect])
  }

  @Test func `says whether its value goes on, and whether it may be the rest of one`() throws {
    var line = try ItemLine.make()
    func facts(_ text: String) throws -> [Bool] {
      let bytes = Array(text.utf8)
      #expect(try line.read(bytes.span))
      return [line.goesOn, line.isPiece]
    }
    #expect(
      try facts(
        #"{"name":"a","value":"b","more":true,"created":"2020-01-02T03:04:05Z","#
          + #""modified":"2020-01-02T03:04:05Z"}"#) == [true, false])
    #expect(try facts(#"{"schema":1,"name":"a","value":"b","more":true}"#) == [true, true])
    #expect(try facts(#"{"name":"a","value":"b","more":false}"#) == [false, true])
    #expect(try facts(#"{"name":"a","value":"b","protect":false}"#) == [false, false])
    #expect(flaw(#"{"name":"a","value":"b","more":1}"#) == "its more is neither true nor false")
  }

  @Test func `can be what get --json writes`() throws {
    let line = try #require(
      try read(#"{"schema":1,"name":"a","revision":3,"size":4,"value":{"base64":"YQD/Yg=="}}"#))
    #expect(line.value == [0x61, 0, 0xFF, 0x62])
    #expect(!line.isProtected)
  }

  @Test func `keeps class, kind and attributes of what get --json writes`() throws {
    let line = try #require(
      try read(
        #"{"schema":1,"name":"a","revision":3,"size":1,"class":"protected","kind":"otp","#
          + #""attributes":{"u":"ada"},"value":"b"}"#))
    #expect(line.order.flags == [.replace, .protect, .otp])
    #expect(line.order.attributes == [Attribute(key: "u", value: [0x61, 0x64, 0x61])])
    let plain = try #require(
      try read(#"{"name":"a","class":"standard","kind":"value","value":"b"}"#))
    #expect(plain.order.flags == [.replace])
  }

  @Test(arguments: [
    #""protect":false,"class":"protected""#, #""class":"protected","protect":false"#,
  ])
  func `is protected where one member says so`(_ members: String) throws {
    let line = try #require(try read(#"{"name":"a","value":"b",\#(members)}"#))
    #expect(line.isProtected)
  }

  @Test(arguments: [
    (#""class":"secret""#, "its class is neither standard nor protected"),
    (#""class":true"#, "its class is neither standard nor protected"),
    (#""kind":"gone""#, "its kind is neither value nor otp nor deleted"),
    (#""kind":2"#, "its kind is neither value nor otp nor deleted"),
    (#""kind":"deleted""#, "it is deleted, and has no modified"),
    (
      #""kind":"deleted","modified":"2026-11-21T14:02:10.250Z""#,
      "it is deleted, and has a value"
    ),
    (#""created":"2026-11-21T14:02:10.250Z""#, "it has created, and no modified"),
    (#""modified":"yesterday""#, "its times are not as in 2026-11-21T14:02:10.250Z"),
    (#""modified":5"#, "its times are not as in 2026-11-21T14:02:10.250Z"),
  ])
  func `has no class, kind or time that there is not`(_ row: (String, String)) {
    #expect(flaw(#"{"name":"a","value":"b",\#(row.0)}"#) == row.1)
  }

  @Test func `tells all of a revision where it has its time`() throws {
    let line = try #require(
      try read(
        #"{"name":"a","value":"b","created":"1970-01-01T00:00:01.500Z","#
          + #""modified":"1970-01-01T00:00:02Z"}"#))
    #expect(line.order.times == ItemTimes(created: 1_500, modified: 2_000))
    #expect(line.order.flags == [.replace, .replaceAttributes])
    let deleted = try #require(
      try read(#"{"name":"a","kind":"deleted","modified":"1970-01-01T00:00:02Z"}"#))
    #expect(deleted.order.times == ItemTimes(created: 2_000, modified: 2_000))
    #expect(deleted.flags == [.replaceAttributes, .delete])
  }

  @Test func `may spell its members with escapes`() throws {
    let line = try #require(
      try read(
        #"{"n\u0061me":"a","\u0076alue":{"b\u0061se64":"Zg=="},"attributes":{"\u006b":"1"}}"#))
    #expect(line.name == Array("a".utf8))
    #expect(line.value == Array("f".utf8))
    #expect(line.order.attributes.map(\.key) == ["k"])
    #expect(flaw(#"{"nam":"a","value":"b"}"#) == "it has a member of another name")
    #expect(flaw(#"{"names":"a","value":"b"}"#) == "it has a member of another name")
    #expect(
      flaw(#"{"name":"a","n\u0061me":"b"}"#) == "a key stands twice in one object (byte 13)")
  }

  @Test func `has nothing of the one before it`() throws {
    var line = try ItemLine.make()
    let texts = [
      #"{"name":"first","value":"a value of some length","protect":true,"attributes":{"k":"1"}}"#,
      "[", #"{"name":"b","value":"w"}"#,
    ]
    for text in texts {
      let bytes = Array(text.utf8)
      _ = try? line.read(bytes.span)
    }
    let (name, value) = (Self.array(line.name), Self.array(line.value))
    #expect(name == Array("b".utf8))
    #expect(value == Array("w".utf8))
    let (isProtected, order) = (line.isProtected, try line.order(.replace))
    #expect(!isProtected)
    #expect(order.attributes.isEmpty)
  }

  @Test func `of blanks is none`() throws {
    for text in ["", " ", "\t\r", "  \r"] { #expect(try read(text)?.name == nil) }
  }

  @Test func `that is no item is told from one`() {
    #expect(flaw("[]") == "it is no JSON object")
    #expect(flaw(#"{"name":"a"}"#) == "it has no value")
    #expect(flaw(#"{"value":"a"}"#) == "it has no name")
    #expect(flaw(#"{"name":"a","value":"b","x":1}"#) == "it has a member of another name")
    #expect(flaw(#"{"name":1,"value":"b"}"#) == "its name is no string")
    #expect(
      flaw(#"{"name":"a","value":["b"]}"#)
        == "its value is neither a string nor {\"base64\": \"...\"}")
    #expect(
      flaw(#"{"name":"a","value":{"base64":"","x":""}}"#)
        == "its value is neither a string nor {\"base64\": \"...\"}")
    #expect(
      flaw(#"{"name":"a","value":"b","protect":null}"#) == "its protect is neither true nor false")
    #expect(
      flaw(#"{"name":"a","value":"b","attributes":{"k":1}}"#)
        == "its attributes are no object of strings")
    #expect(flaw(#"{"name":"a","value":"b","schema":2}"#) == "it is of another schema than 1")
    #expect(
      flaw(#"{"name":"a","name":"b"}"#) == "a key stands twice in one object (byte 13)")
  }

  @Test(arguments: [
    ("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYg==", "foob"),
    ("Zm9vYmE=", "fooba"), ("Zm9vYmFy", "foobar"),
  ])
  func `has the base64 of RFC 4648`(_ written: String, _ meant: String) throws {
    let line = try #require(try read(#"{"name":"a","value":{"base64":"\#(written)"}}"#))
    #expect(line.value == Array(meant.utf8))
  }

  @Test(arguments: [
    "Zg", "Zg=", "Zh==", "Zm9=", "Z===", "====", "Zg==Zg==", "Zm 9", "Zm9-",
    "Zm9v\n",
  ])
  func `has base64 in one spelling only`(_ written: String) {
    let escaped = written == "Zm9v\n" ? "Zm9v\\n" : written
    #expect(flaw(#"{"name":"a","value":{"base64":"\#(escaped)"}}"#) == "its value is not base64")
  }

  private static func array(_ buffer: borrowing SecretBuffer) -> [UInt8] {
    var bytes: [UInt8] = []
    let span = buffer.bytes
    for index in span.indices { bytes.append(span[index]) }
    return bytes
  }
}
