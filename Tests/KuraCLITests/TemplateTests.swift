// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

private func buffer(_ bytes: [UInt8]) throws -> SecretBuffer {
  var buffer = try SecretBuffer(capacity: bytes.count)
  try buffer.append(bytes.span)
  return buffer
}

/// A template with `<NAME>` in the place of each value.
private func filled(_ bytes: [UInt8]) throws -> [UInt8] {
  let template = try Template(try buffer(bytes), name: nil)
  let placeholders = template.placeholders
  var values = try PlaceholderValues.make(count: placeholders.count)
  for (index, placeholder) in placeholders.enumerated() {
    let name = placeholder.source.reference.name
    guard !name.hasPrefix("missing") else { continue }
    values.begin(index)
    try values.append(Array("<\(name)>".utf8).span, to: index)
  }
  let result = try template.filled(values)
  return result.bytes.withUnsafeBytes { Array($0) }
}

private func filled(_ text: String) throws -> String {
  String(decoding: try filled(Array(text.utf8)), as: UTF8.self)
}

@Suite struct TemplateTests {
  @Test(arguments: [
    ("", ""),
    ("plain\ntext", "plain\ntext"),
    ("a: kura://db/pw\n", "a: <db/pw>\n"),
    ("kura://a", "<a>"),
    ("\"kura://a\",'kura://b'", "\"<a>\",'<b>'"),
    ("kura://a kura://b", "<a> <b>"),
    ("http://h/?t=kura://a&u=1", "http://h/?t=<a>&u=1"),
    ("<p>kura://a</p>", "<p><a></p>"),
    ("{{kura://a}}", "<a>"),
    ("{{ kura://a b, c }}", "<a b, c>"),
    ("{{\tkura://a\t}}x", "<a>x"),
    ("{{ kura://a}b }}", "<a}b>"),
    ("{{{ kura://a }}}", "{<a>}"),
    ("{{ kura://a }}{{ kura://b }}", "<a><b>"),
    ("{{ x }} {% y %} ${z} {{", "{{ x }} {% y %} ${z} {{"),
    ("{{ x }} {{ kura://a }}", "{{ x }} <a>"),
    ("{{\nkura://a }}", "{{\n<a> }}"),
    ("xkura://a 1kura://a _kura://a", "xkura://a 1kura://a _kura://a"),
    ("-kura://a .kura://a +kura://a", "-kura://a .kura://a +kura://a"),
    ("=kura://a :kura://b /kura://c", "=<a> :<b> /<c>"),
    ("\\kura://a", "kura://a"),
    ("\\\\kura://a", "\\<a>"),
    ("\\\\\\kura://a", "\\kura://a"),
    ("\\{{ kura://a }}", "{{ kura://a }}"),
    ("\\\\{{ kura://a }}", "\\<a>"),
    ("\\n \\\\ \\{{ x }}", "\\n \\\\ \\{{ x }}"),
    ("\\", "\\"),
    ("k kur kura: kura:/ kura", "k kur kura: kura:/ kura"),
    ("{{ kura://a ?? b }}", "<a>"),
    ("{{ kura://missing ?? b c }}", "b c"),
    ("{{ kura://missing ?? \"\" }}|", "|"),
    ("{{ kura://missing ?? \" b | url \" }}", " b | url "),
    ("{{ kura://missing ?? b& | url }}", "b%26"),
    ("{{ kura://missing ?? \"b&\" | url }}", "b%26"),
    ("{{ kura://missing ?? a|b }}", "a|b"),
    ("{{kura://a |url}}{{kura://a | json }}", "%3Ca%3E\"<a>\""),
    ("{{ kura://a|url }}", "<a|url>"),
  ])
  func `references are found, and the rest stays as it is`(_ text: String, _ expected: String)
    throws
  {
    #expect(try filled(text) == expected)
  }

  @Test func `all other bytes stay as they are`() throws {
    let odd: [UInt8] = [0, 0xFF, 0x0D, 0x0A]
    let all = (0...255).map { UInt8($0) }
    let bytes = odd + Array("kura://a".utf8) + [0] + all
    let expected = odd + Array("<a>".utf8) + [0] + all
    #expect(try filled(bytes) == expected)
  }

  @Test(arguments: [
    ("{{ kura://a", 1, 1), ("a\nb {{ kura://a }\n}}", 2, 3), ("é{{ kura://a\n", 1, 2),
    ("{{ kura://a }", 1, 1),
  ])
  func `open braces are told by line and column`(_ text: String, _ line: Int, _ column: Int) {
    let place = Place.character(line: line, column: column, of: nil)
    #expect(throws: CommandError.placed(place, .syntax(.openBraces))) { try filled(text) }
  }

  @Test(arguments: [
    "kura://", "KURA://a", "{{ Kura://a }}", "{{ kura:// }}", "kura://a?b", "kura://a%2",
    "{{ kura://a?attr= }}", "x {{kura://@}}",
  ])
  func `a broken reference is never passed through`(_ text: String) {
    #expect(throws: CommandError.self) { try filled(text) }
  }

  @Test(arguments: [
    ("{{ kura://a ?? }}", SyntaxFlaw.fallbackMissing),
    ("{{ kura://a ?? | url }}", .fallbackMissing),
    ("{{ kura://a ?? \"b }}", .openQuote), ("{{ kura://a ?? \"b\"c }}", .behindFallback),
    ("{{ kura://a ?? \"b\"| url }}", .behindFallback), ("{{ kura://a | }}", .filterUnknown),
    ("{{ kura://a | URL }}", .filterUnknown), ("{{ kura://a | url | json }}", .filterUnknown),
  ])
  func `what stands behind a reference is read or told`(_ text: String, _ flaw: SyntaxFlaw) {
    let place = Place.character(line: 1, column: 1, of: nil)
    #expect(throws: CommandError.placed(place, .syntax(flaw))) { try filled(text) }
  }

  @Test func `there is an end to the number of references`() {
    let text = String(repeating: "kura://a\n", count: PlaceholderScanner.limit + 1)
    let place = Place.character(line: PlaceholderScanner.limit + 1, column: 1, of: nil)
    #expect(
      throws: CommandError.placed(place, .syntax(.tooMany(PlaceholderScanner.limit)))
    ) { try filled(text) }
  }

  @Test func `what a message says of a template is not what stands in it`() throws {
    for text in ["{{ kura://hunter2", "kura://hunter2%", "hunter2 KURA://hunter2"] {
      do {
        _ = try filled(text)
        Issue.record("\(text) was read")
      } catch let error as CommandError {
        let shown = Diagnostic(error)
        #expect(!(shown.message + (shown.hint ?? "")).contains("hunter2"))
        #expect(shown.status == .usage)
      }
    }
  }
}
