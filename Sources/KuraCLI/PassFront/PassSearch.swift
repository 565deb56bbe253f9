// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `pass grep`: prints the lines of all values that a pattern matches.
enum PassSearch {
  private static let options = [
    PassWords.Option("i", "ignore-case"), PassWords.Option("E", "extended-regexp"),
    PassWords.Option("v", "invert-match"), PassWords.Option("e", "regexp", .required),
  ]

  static func grep(
    _ words: [[UInt8]], _ store: PassStore, _ invocation: inout Invocation
  ) throws(CommandError) -> ExitStatus {
    let usage = "grep [-i] [-E] [-v] PATTERN"
    let given = try PassWords(words, options, usage: usage, invocation)
    guard let pattern = given.value("e") ?? given.operands.first,
      given.operands.count == (given.has("e") ? 0 : 1)
    else { throw PassFront.refusal("usage: pass " + usage, invocation) }
    guard System.usePattern(pattern, ignoresCase: given.has("i"), isExtended: given.has("E")) else {
      throw PassFront.refusal(
        Diagnostic.quoted(Array(pattern.utf8)) + " is no pattern.", invocation)
    }
    for name in try store.names(below: "") {
      guard var value = try PassReading.fetch(store.prefix + name, store) else { continue }
      try search(&value, name, isInverted: given.has("v"), &invocation.output)
    }
    return .ok
  }

  private static func search(
    _ value: inout SecretBuffer, _ name: String, isInverted: Bool, _ output: inout Output
  ) throws(CommandError) {
    var number = 1
    var isNamed = false
    while let range = SecretLines.range(of: number, in: value.bytes) {
      number += 1
      guard try matches(value.bytes.extracting(range)) != isInverted else { continue }
      if !isNamed { try output.write(ended: name + ":") }
      isNamed = true
      try output.write(wholeLine: value.bytes.extracting(range))
    }
  }

  /// A pattern is matched against text that ends with a NUL.
  private static func matches(_ line: Span<UInt8>) throws(CommandError) -> Bool {
    var text = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: line.count + 1)
    }
    do throws(SecureMemoryError) {
      try text.append(line)
      try text.append(UInt8(0))
    } catch { throw .outOfMemory }
    return System.matchesPattern(text.bytes)
  }
}
