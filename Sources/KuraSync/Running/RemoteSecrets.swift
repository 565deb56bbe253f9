// SPDX-License-Identifier: MIT

/// Finds passwords and keys in the addresses of stores, where they must not stand. What only might be one counts.
enum RemoteSecrets {
  /// Whether one stands in what libpq gets, behind the `//`.
  ///
  /// - Parameter address: As people write it: a password that is not encoded may have a `/` or a `?`, and then who reads
  ///   it by the rules of addresses finds none.
  static func standIn(address: Substring) -> Bool {
    let bytes = address.utf8
    let name = bytes.lastIndex(of: UInt8(ascii: "@")).map { bytes[..<$0] }
    if let name, name.contains(UInt8(ascii: ":")) { return true }
    let words = bytes.drop { $0 != UInt8(ascii: "?") }.dropFirst()
    return words.split(separator: UInt8(ascii: "&")).contains { word in
      let key = decoded(word.prefix { $0 != UInt8(ascii: "=") })
      return key.contains("password") || key.contains("secret")
    }
  }

  /// Whether one stands among the parameters that rclone gets with a place, as in `:s3,KEY=VALUE:bucket`.
  static func standIn(place: String) -> Bool {
    let bytes = place.utf8
    let name = bytes.drop { $0 == UInt8(ascii: ":") }.prefix { $0 != UInt8(ascii: ":") }
    guard name.contains(UInt8(ascii: ",")) else { return false }
    if place.contains("://"), bytes.contains(UInt8(ascii: "@")) { return true }
    // A value may be a place with parameters of its own.
    let words = bytes.split(separator: UInt8(ascii: "="), omittingEmptySubsequences: false)
    return words.dropLast().contains { word in
      let key = String(decoding: word.reversed().prefix(while: isOfName).reversed(), as: UTF8.self)
        .lowercased()
      return secretWords.contains { key.contains($0) }
        && !harmlessEnds.contains { key.hasSuffix($0) }
    }
  }

  private static func isOfName(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "_") || byte == UInt8(ascii: "-")
      || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
      || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  /// Of which one stands in the name of each option of rclone's that is to be kept secret.
  private static let secretWords = [
    "pass", "secret", "token", "key", "credential", "sas", "bearer", "header", "cookie", "otp",
  ]
  /// What only names where it is to be had.
  private static let harmlessEnds = ["_file", "_path", "_command", "_agent"]

  /// A key without what `%` encodes.
  private static func decoded(_ key: Substring.UTF8View) -> String {
    var (bytes, rest): ([UInt8], Substring.UTF8View) = ([], key)
    while let byte = rest.popFirst() {
      let code = UInt8(String(decoding: rest.prefix(2), as: UTF8.self), radix: 16)
      if byte == UInt8(ascii: "%"), let code {
        bytes.append(code)
        rest = rest.dropFirst(2)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self).lowercased()
  }
}
