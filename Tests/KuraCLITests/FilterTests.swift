// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

@Suite struct FilterTests {
  private func written(_ value: [UInt8], _ filter: Filter) throws -> [UInt8] {
    var result = try SecretBuffer(capacity: 16)
    try filter.write(value.span, to: &result)
    return result.bytes.withUnsafeBytes { Array($0) }
  }

  @Test(arguments: [
    ("", Filter.url, ""), ("aZ09-._~", .url, "aZ09-._~"),
    ("a b&=/?#%+é", .url, "a%20b%26%3D%2F%3F%23%25%2B%C3%A9"),
    ("\0\n", .url, "%00%0A"), ("[`{@", .url, "%5B%60%7B%40"),
    ("", .json, "\"\""), ("a\"b\\c/é\u{7F}", .json, "\"a\\\"b\\\\c/é\u{7F}\""),
    ("\0\n\u{1F}", .json, "\"\\u0000\\u000A\\u001F\""),
    ("", .shell, "''"), ("a'b\\\n$(id)\"", .shell, "'a'\\''b\\\n$(id)\"'"),
    ("", .dotenv, "''"), ("a b # \"$c`\n", .dotenv, "'a b # \"$c`\n'"),
    ("it's", .dotenv, "\"it's\""), ("a\\\"b", .dotenv, "\"a\\\\\\\"b\""),
    ("a\r\n", .dotenv, "\"a\\r\n\""),
    ("", .base64, ""), ("a", .base64, "YQ=="), ("ab", .base64, "YWI="),
    ("abc\u{FFFD}", .base64, "YWJj77+9"),
  ])
  func `a value is written for its place`(_ value: String, _ filter: Filter, _ expected: String)
    throws
  {
    #expect(String(decoding: try written(Array(value.utf8), filter), as: UTF8.self) == expected)
  }

  @Test(arguments: [
    ([0x61, 0xFF], Filter.json), ([0xED, 0xA0, 0x80], .json), ([0x61, 0], .shell), ([0], .dotenv),
    ([0xC3], .dotenv), (Array("a${b}".utf8), .dotenv), (Array("'$b".utf8), .dotenv),
    (Array("\\`".utf8), .dotenv), (Array("a\\".utf8), .dotenv), (Array("x kura://a".utf8), .dotenv),
    (Array("KURA://a".utf8), .dotenv),
  ])
  func `what the place cannot hold is refused`(_ value: [UInt8], _ filter: Filter) {
    #expect(throws: CommandError.self) { try written(value, filter) }
  }

  @Test func `any bytes are written as base64 and percent signs`() throws {
    let all = (0...255).map { UInt8($0) }
    #expect(try written(all, .base64).count == 344)
    #expect(try written(all, .url).count == 66 + 190 * 3)
    #expect(try written([0xFF], .shell) == [0x27, 0xFF, 0x27])
  }
}
