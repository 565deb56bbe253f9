// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Makes a value by chance, as `kura generate` does where nothing else is asked for.
enum RandomValue {
  /// Tells that the system gave no random bytes, or no memory.
  struct Refusal: Error {}

  private static let length = 20
  private static let classes: [[UInt8]] = [
    "abcdefghijklmnopqrstuvwxyz", "ABCDEFGHIJKLMNOPQRSTUVWXYZ", "0123456789",
    "!#$%&()*+,-./:;<=>?@[]^_{|}~",
  ].map { Array($0.utf8) }

  /// Twenty characters, one at least out of each class, each such value as likely as any other.
  static func make() throws(Refusal) -> SecretBytes {
    let alphabet = classes.flatMap { $0 }
    guard var value = try? SecretBytes(count: length) else { throw Refusal() }
    repeat {
      for index in 0..<length {
        let one: InlineArray<1, UInt8> = [alphabet[try number(below: alphabet.count)]]
        value.overwrite(at: index, with: one.span)
      }
    } while !hasAll(value.bytes)
    return value
  }

  /// A number below a limit of at most 256; what would favour the smaller ones is thrown away.
  private static func number(below limit: Int) throws(Refusal) -> Int {
    var byte: InlineArray<1, UInt8> = [0]
    while true {
      var room = byte.mutableSpan
      guard System.random(into: &room) == 0 else { throw Refusal() }
      if Int(byte[0]) < 256 / limit * limit { return Int(byte[0]) % limit }
    }
  }

  private static func hasAll(_ value: Span<UInt8>) -> Bool {
    classes.allSatisfy { characters in
      value.indices.contains { characters.contains(value[$0]) }
    }
  }
}
