// SPDX-License-Identifier: MIT

/// Makes an otpauth URI out of what other programs keep for one-time codes.
enum SeedURI {
  private static let head = Array("otpauth://".utf8)

  /// The URI; nil where no codes can be made of it.
  ///
  /// - Parameters:
  ///   - seed: A URI, or a secret in base32, with blanks or without.
  ///   - label: What it is for, where the seed does not say that.
  static func make(_ seed: [UInt8], for label: String) -> [UInt8]? {
    let text = trimmed(seed)
    if text.count > head.count, zip(text, head).allSatisfy({ $0 | 0x20 == $1 | 0x20 }) {
      return text.count <= 4_096 && !isEncoded(text) ? text : nil
    }
    guard let secret = secret(text) else { return nil }
    return head + Array("totp/".utf8) + percent(label) + Array("?secret=".utf8) + secret
  }

  /// The URI of a secret in base32 and what else codes are made with; nil where no codes can be made of it.
  ///
  /// - Parameters:
  ///   - secret: In base32, with blanks or without.
  ///   - label: What it is for.
  ///   - kind: `totp` by time, `hotp` by a counter.
  ///   - settings: Parameters of the URI, such as `period`.
  static func make(
    _ secret: [UInt8], for label: [UInt8], kind: String = "totp",
    _ settings: [(key: String, value: [UInt8])]
  ) -> [UInt8]? {
    guard let secret = self.secret(secret) else { return nil }
    var uri =
      head + Array((kind + "/").utf8) + percent(String(decoding: label, as: UTF8.self))
      + Array("?secret=".utf8) + secret
    for (key, value) in settings {
      uri += Array("&\(key)=".utf8) + percent(String(decoding: value, as: UTF8.self))
    }
    return uri.count <= 4_096 ? uri : nil
  }

  /// Whether its codes are no digits: Steam's are letters, as KeePassXC says by `encoder`.
  private static func isEncoded(_ uri: [UInt8]) -> Bool {
    guard let start = uri.firstIndex(of: UInt8(ascii: "?")) else { return false }
    return uri[(start + 1)...].split(separator: UInt8(ascii: "&")).contains {
      $0.starts(with: Array("encoder=".utf8))
    }
  }

  private static func trimmed(_ text: [UInt8]) -> [UInt8] {
    var rest = text[...]
    while let first = rest.first, first <= 0x20 { rest.removeFirst() }
    while let last = rest.last, last <= 0x20 { rest.removeLast() }
    return Array(rest)
  }

  /// Base32 (RFC 4648, section 6) in capital letters; nil where it is none.
  private static func secret(_ text: [UInt8]) -> [UInt8]? {
    var secret: [UInt8] = []
    for byte in text {
      switch byte {
      case UInt8(ascii: " "), UInt8(ascii: "-"), UInt8(ascii: "="): continue
      case UInt8(ascii: "a")...UInt8(ascii: "z"): secret.append(byte - 0x20)
      case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "2")...UInt8(ascii: "7"):
        secret.append(byte)
      default: return nil
      }
    }
    // What is left of eight characters makes whole bytes, or it is no base32.
    let isWhole = [0, 2, 4, 5, 7].contains(secret.count % 8)
    return secret.count >= 2 && secret.count <= 1_024 && isWhole ? secret : nil
  }

  private static func percent(_ text: String) -> [UInt8] {
    text.utf8.flatMap { byte -> [UInt8] in
      switch byte | 0x20 {
      case UInt8(ascii: "a")...UInt8(ascii: "z"): return [byte]
      default: break
      }
      if (0x30...0x39).contains(byte) || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "-") {
        return [byte]
      }
      let digits = Array("0123456789ABCDEF".utf8)
      return [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
    }
  }
}
