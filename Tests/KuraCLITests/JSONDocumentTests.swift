// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import Testing

@testable import KuraCLI

private func buffer(_ bytes: [UInt8]) throws -> SecretBuffer {
  var buffer = try SecretBuffer(capacity: bytes.count)
  try buffer.append(bytes.span)
  return buffer
}

/// The flaw of a text; nil where it is whole.
private func flaw(_ bytes: [UInt8]) throws -> JSONFlaw.Kind? {
  let text = try buffer(bytes)
  do throws(JSONFlaw) {
    let document = try JSONDocument(text)
    _ = document.isObject
    return nil
  } catch { return error.kind }
}

private func flaw(_ text: String) throws -> JSONFlaw.Kind? { try flaw(Array(text.utf8)) }

/// The string at `a`, through both ways out.
private func string(_ text: String) throws -> [UInt8]? {
  let document = try JSONDocument(try buffer(Array(text.utf8)))
  let bytes = try document.bytes("a")
  var secret = try SecretBuffer(capacity: 0)
  try secret.append(7)
  let isThere = try document.read(["a"], into: &secret)
  #expect(isThere == (bytes != nil))
  var copy: [UInt8] = []
  for index in secret.bytes.indices { copy.append(secret.bytes[index]) }
  #expect(copy == bytes ?? [])
  return bytes
}

@Suite struct JSONDocumentTests {
  @Test(arguments: [
    "{}", " [ ] ", "\"\"", "0", "-0.5e+10", "1E9", "true", "false", "null",
    "{\"a\":[1,{\"b\":null}],\"c\":\"\\u00e9\\ud83d\\ude00\\/\"}\n", "[\"é😀\"]",
  ])
  func `a whole text is read`(_ text: String) throws {
    #expect(try flaw(text) == nil)
  }

  @Test(
    arguments: [
      ("", .ended), ("{", .ended), ("[1,", .ended), ("\"a", .ended), ("\"\\", .ended),
      ("{\"a\"", .ended), ("{\"a\":", .ended), ("-", .ended), ("1.", .ended), ("\"\\u12", .ended),
      ("{}x", .unexpected), ("{} {}", .unexpected), ("01", .unexpected), ("+1", .unexpected),
      (".5", .unexpected), ("1.e5", .unexpected), ("nul", .unexpected), ("True", .unexpected),
      ("NaN", .unexpected), ("[1,]", .unexpected), ("{\"a\":1,}", .unexpected),
      ("{a:1}", .unexpected), ("{'a':1}", .unexpected), ("[1 2]", .unexpected),
      ("// x\n1", .unexpected), ("\u{FEFF}{}", .unexpected), ("{\"a\" 1}", .unexpected),
      ("\"\u{1}\"", .controlCharacter), ("\"a\nb\"", .controlCharacter),
      ("\"\\x41\"", .escape), ("\"\\u12g4\"", .escape), ("\"\\'\"", .escape),
      ("\"\\ud800\"", .surrogate), ("\"\\udc00\"", .surrogate), ("\"\\ud800\\n\"", .surrogate),
      ("\"\\ud800\\ud800\"", .surrogate), ("\"\\ude00\\ud83d\"", .surrogate),
      ("{\"a\":1,\"a\":1}", .repeatedKey), ("[{\"a\":1,\"\\u0061\":2}]", .repeatedKey),
    ] as [(String, JSONFlaw.Kind)])
  func `a text that is none is refused for what is wrong`(
    _ text: String, _ kind: JSONFlaw.Kind
  ) throws {
    #expect(try flaw(text) == kind)
  }

  @Test(
    arguments: [
      [0xFF], [0xC3], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0x80],
      [0xC3, 0x22],
    ] as [[UInt8]])
  func `what is not UTF-8 is refused`(_ bytes: [UInt8]) throws {
    #expect(try flaw([0x22] + bytes + [0x22]) == .notUTF8)
  }

  @Test func `depth and number of values have a limit`() throws {
    let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(try flaw(deep(JSONScanner.depth)) == nil)
    #expect(try flaw(deep(JSONScanner.depth + 1)) == .tooDeep)
    #expect(try flaw(deep(60_000)) == .tooDeep)
    let wide = { "[" + Array(repeating: "1", count: $0).joined(separator: ",") + "]" }
    #expect(try flaw(wide(JSONScanner.limit - 1)) == nil)
    #expect(try flaw(wide(JSONScanner.limit)) == .tooMany)
  }

  @Test func `a string comes out as it was meant`() throws {
    #expect(try string(#"{"a":"\"\\\/\b\f\n\r\t"}"#) == [34, 92, 47, 8, 12, 10, 13, 9])
    let escaped = #"{"a":"\u0000\u007F\u00e9\u20AC\ud83d\udE00x"}"#
    #expect(try string(escaped) == Array("\0\u{7F}é€😀x".utf8))
    #expect(try string(#"{"a":"é😀"}"#) == Array("é😀".utf8))
    #expect(try string(#"{"a":null}"#) == nil)
    #expect(try string(#"{"b":{"a":"x"}}"#) == nil)
  }

  @Test func `a member is found by its path`() throws {
    let text = Array(#"{"a":{"b":"x","n":18446744073709551615,"m":-1,"f":1.5},"l":["y"]}"#.utf8)
    let document = try JSONDocument(try buffer(text))
    let found = try document.bytes("a", "b")
    let largest = try document.number("a", "n")
    let missing = [try document.bytes("a", "c"), try document.bytes("l", "")]
    #expect(found == Array("x".utf8))
    #expect(largest == UInt64.max)
    #expect(missing == [nil, nil])
  }

  @Test(arguments: [
    ("{}", 0), ("{\"a\":1}", 1), ("{\"a\":{\"b\":1,\"c\":2},\"d\":[3,4]}", 2),
  ])
  func `only members of the outermost object are counted`(_ text: String, _ count: Int) throws {
    let document = try JSONDocument(try buffer(Array(text.utf8)))
    #expect(document.memberCount == count)
  }

  @Test(arguments: ["m", "f", "b"])
  func `a number is whole, and not negative`(_ key: String) throws {
    let document = try JSONDocument(try buffer(Array(#"{"m":-1,"f":1.5,"b":"x"}"#.utf8)))
    var refused = false
    do throws(CommandError) { _ = try document.number(key) } catch { refused = true }
    #expect(refused)
  }

  @Test(arguments: ["o", "l", "n", "t"])
  func `a string is a string`(_ key: String) throws {
    let document = try JSONDocument(try buffer(Array(#"{"o":{},"l":["x"],"n":1,"t":true}"#.utf8)))
    var refused = false
    do throws(CommandError) { _ = try document.bytes(key) } catch { refused = true }
    #expect(refused)
  }

  @Test func `what Foundation writes is read, whatever the string`() throws {
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<200 {
      var scalars = String.UnicodeScalarView()
      for _ in 0..<Int.random(in: 0...20, using: &generator) {
        let limit: UInt32 = Bool.random(using: &generator) ? 0x80 : 0x10FFFF
        if let scalar = Unicode.Scalar(UInt32.random(in: 0...limit, using: &generator)) {
          scalars.append(scalar)
        }
      }
      let text = String(scalars)
      let json = try JSONSerialization.data(withJSONObject: ["a": text])
      #expect(try string(String(decoding: json, as: UTF8.self)) == Array(text.utf8))
    }
  }

  /// A number may have any exponent (RFC 8259, 6); Foundation refuses what no Double holds.
  @Test func `a number that no machine holds is a number all the same`() throws {
    #expect(try flaw("1e999") == nil)
    #expect(try string(#"{"n":-1.5E+4000,"a":"x"}"#) == Array("x".utf8))
  }

  /// Foundation takes a little more than this reader does, and never less but for long exponents.
  @Test func `a damaged text never crashes, and what is read is JSON to Foundation`() throws {
    let whole = Array(#"{"v":1,"r":{"u":"\u00e9\ud83d\ude00","l":[1.5e3,null,true]},"t":"é"}"#.utf8)
    var generator = Steady()
    var read = 0
    for _ in 0..<5_000 {
      var bytes = whole
      for _ in 0...Int.random(in: 0...2, using: &generator) {
        let index = Int.random(in: 0..<bytes.count, using: &generator)
        switch Int.random(in: 0...2, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes.remove(at: index)
        default: bytes.insert(whole.randomElement(using: &generator) ?? 0, at: index)
        }
      }
      let text = String(decoding: bytes, as: UTF8.self)
      guard try flaw(bytes) == nil, !text.contains(/[eE][+-]?[0-9]{3}/) else { continue }
      read += 1
      let object = try? JSONSerialization.jsonObject(
        with: Data(bytes), options: .fragmentsAllowed)
      #expect(object != nil, "\(text)")
    }
    #expect(read > 100)
  }
}

/// The same numbers in every run, by SplitMix64.
private struct Steady: RandomNumberGenerator {
  private var state: UInt64 = 1

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = (state ^ (state >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
