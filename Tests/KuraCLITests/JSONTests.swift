// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraCLI

/// The document that `body` writes, read by Foundation.
private func document(
  _ body: (inout Output) throws(CommandError) -> Void
) throws -> [String: Any] {
  var output = try Output.page(isTerminal: false)
  try output.openDocument()
  try body(&output)
  try output.closeDocument()
  var data = Data()
  output.take { bytes in data = bytes.withUnsafeBytes { Data($0) } }
  #expect(data.last == UInt8(ascii: "\n"))
  return try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
}

@Suite struct JSONTests {
  @Test func `a document carries the version of its schema`() throws {
    #expect(try document { _ in }["schema"] as? Int == 1)
  }

  @Test func `every character survives`() throws {
    let scalars = (0...0x2FFF).compactMap(Unicode.Scalar.init) + ["🗝", "\u{10FFFF}"]
    var text = String.UnicodeScalarView()
    text.append(contentsOf: scalars)
    let bytes = Array(String(text).utf8)
    let read = try document { output throws(CommandError) in
      try output.member("text", String(text))
      try output.member("bytes", bytes: bytes.span)
    }
    #expect((read["text"] as? String).map { Array($0.utf8) } == bytes)
    #expect((read["bytes"] as? String).map { Array($0.utf8) } == bytes)
  }

  @Test(arguments: 0...7)
  func `bytes that are no text are base64, of any length`(_ count: Int) throws {
    let bytes = [0xFF] + (0..<UInt8(count)).map { $0 &* 37 &+ 200 }
    let read = try document { output throws(CommandError) in
      try output.member("value", bytes: bytes.span)
    }
    let member = try #require(read["value"] as? [String: String])
    #expect(member["base64"] == Data(bytes).base64EncodedString())
  }

  @Test func `base64 is the same however the bytes come in`() throws {
    let bytes = (0..<100).map { UInt8($0) }
    for size in 1...7 {
      var output = try Output.page(isTerminal: false)
      var base64 = Base64()
      for start in stride(from: 0, to: bytes.count, by: size) {
        let part = Array(bytes[start..<min(start + size, bytes.count)])
        try output.append(part.span, &base64)
      }
      try output.finish(&base64)
      output.take { written in
        let text = written.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
        #expect(text == Data(bytes).base64EncodedString())
      }
    }
  }

  @Test func `objects and arrays nest, with commas between and none behind`() throws {
    let read = try document { output throws(CommandError) in
      try output.key("items")
      try output.openArray()
      for number in 0..<3 as Range<UInt64> {
        try output.openObject()
        try output.member("n", number)
        try output.member("is", number == 1)
        try output.closeObject()
      }
      try output.closeArray()
      try output.key("none")
      try output.openArray()
      try output.closeArray()
      try output.member("max", UInt64.max)
      try output.member("moment", moment: 0)
    }
    let items = try #require(read["items"] as? [[String: Any]])
    #expect(items.map { $0["n"] as? Int } == [0, 1, 2])
    #expect(items.map { $0["is"] as? Bool } == [false, true, false])
    #expect((read["none"] as? [Any])?.isEmpty == true)
    #expect((read["max"] as? NSNumber)?.uint64Value == .max)
    #expect(read["moment"] as? String == "1970-01-01T00:00:00.000Z")
  }

  @Test func `a terminal gets no control bytes of a string`() throws {
    var output = try Output.page(isTerminal: true)
    try output.element("a\u{1B}[31m\u{7F}")
    output.take { written in
      let text = written.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      #expect(text == "\"a\\u001B[31m\\u007F\"")
    }
  }
}
