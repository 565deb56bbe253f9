// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Reads what makes one-time codes as pass-otp takes it: an otpauth URI, or a bare secret.
enum PassSeed {
  private static let scheme = Array("otpauth://".utf8)

  /// Where the first line of a text stands that begins like a URI.
  static func place(in text: Span<UInt8>) -> Range<Int>? {
    var number = 1
    while let line = SecretLines.range(of: number, in: text) {
      number += 1
      guard begins(text.extracting(line), with: scheme) else { continue }
      let isEndedByReturn = text[line.upperBound - 1] == UInt8(ascii: "\r")
      return isEndedByReturn ? line.lowerBound..<line.upperBound - 1 : line
    }
    return nil
  }

  /// Takes it from the terminal or stdin.
  ///
  /// - Parameter name: Whose it is; empty where the label says it.
  static func read(
    for name: String, _ given: PassWords, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBuffer {
    let line = try PassWriting.seed(
      of: name.utf8.isEmpty ? "this token" : name, isEchoed: given.has("e"), invocation)
    let account = given.value("a") ?? name
    if let uri = try bare(line, account, given.value("i")) { return uri }
    guard isURI(line) else { throw refusal(invocation) }
    return line
  }

  private static func isURI(_ line: borrowing SecretBuffer) -> Bool { isURI(line.bytes) }

  private static func bare(
    _ line: borrowing SecretBuffer, _ account: String, _ issuer: String?
  ) throws(CommandError) -> SecretBuffer? {
    let uri: SecretBytes?
    do throws(SecureMemoryError) {
      uri = try BareSeed.uri(line.bytes, named: account, issuer: issuer)
    } catch { throw .outOfMemory }
    guard let uri else { return nil }
    return try PassWriting.text(uri)
  }

  static func refusal(_ invocation: borrowing Invocation) -> CommandError {
    PassFront.refusal(
      "this is no otpauth URI with all that it needs, as otpauth://totp/NAME?secret=SECRET.",
      invocation)
  }

  /// Checks that a text makes codes, as far as that can be told before it is stored.
  static func isURI(_ text: Span<UInt8>) -> Bool {
    let isCounter = begins(text, with: Array("otpauth://hotp/".utf8))
    guard isCounter || begins(text, with: Array("otpauth://totp/".utf8)) else { return false }
    return parameter("secret", of: text) != nil
      && (!isCounter || parameter("counter", of: text) != nil)
  }

  /// `ISSUER/ACCOUNT`, or `ACCOUNT`, by the label; nil where it has none, or none that is text.
  static func name(of uri: Span<UInt8>) -> String? {
    var end = 0
    while end < uri.count, uri[end] != UInt8(ascii: "?") { end += 1 }
    let label = decoded(uri.extracting(min("otpauth://totp/".utf8.count, end)..<end))
    let colon = label.firstIndex(of: UInt8(ascii: ":")) ?? label.startIndex
    let account = label[colon...].drop { $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: " ") }
    guard !account.isEmpty else { return nil }
    let issuer = parameter("issuer", of: uri).map { decoded(uri.extracting($0)) }
    let folder = issuer ?? Array(label[..<colon])
    return String(
      validating: folder + (folder.isEmpty ? [] : [UInt8(ascii: "/")]) + account, as: UTF8.self)
  }
}

// MARK: - Parts of a URI

extension PassSeed {
  private static func begins(_ text: Span<UInt8>, with head: [UInt8]) -> Bool {
    text.count >= head.count && head.indices.allSatisfy { text[$0] == head[$0] }
  }

  /// Where the value of a parameter stands; nil: there is none, or it is empty.
  private static func parameter(_ name: String, of uri: Span<UInt8>) -> Range<Int>? {
    let head = Array((name + "=").utf8)
    for start in uri.indices
    where uri[start] == UInt8(ascii: "?") || uri[start] == UInt8(ascii: "&") {
      guard begins(uri.extracting((start + 1)...), with: head) else { continue }
      let value = start + 1 + head.count
      var end = value
      while end < uri.count, uri[end] != UInt8(ascii: "&") { end += 1 }
      return value < end ? value..<end : nil
    }
    return nil
  }

  /// A label or an issuer, which are no secrets.
  static func decoded(_ text: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    var index = 0
    while index < text.count {
      if text[index] == UInt8(ascii: "%"), index + 2 < text.count,
        let high = Hex.value(text[index + 1]), let low = Hex.value(text[index + 2])
      {
        bytes.append(high << 4 | low)
        index += 3
      } else {
        bytes.append(text[index] == UInt8(ascii: "+") ? UInt8(ascii: " ") : text[index])
        index += 1
      }
    }
    return bytes
  }
}
