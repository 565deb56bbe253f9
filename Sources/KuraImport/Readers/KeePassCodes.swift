// SPDX-License-Identifier: MIT

/// Gathers the fields in which KeePass, KeePassXC and plugins of theirs keep what one-time codes are made of, and makes
/// URIs of them: `otp`, `TimeOtp-` and `HmacOtp-` with what follows, `TOTP Seed` and `TOTP Settings`.
struct KeePassCodes {
  private static let names: Set<String> = [
    "otp", "TOTP Seed", "TOTP Settings", "TimeOtp-Length", "TimeOtp-Period", "TimeOtp-Algorithm",
    "HmacOtp-Counter",
  ]

  /// Says that what codes are made with is not known here, or breaks its rules.
  private struct Unknown: Error {}

  private typealias Settings = [(key: String, value: [UInt8])]

  private var fields: [SourceEntry.Field] = []

  /// Takes a field; whether it is one of those.
  mutating func take(_ field: SourceEntry.Field) -> Bool {
    let name = String(decoding: field.key, as: UTF8.self)
    let isOne = Self.names.contains(name) || Self.encoding(of: name) != nil
    if isOne, !field.value.isEmpty { fields.append(field) }
    return isOne
  }

  /// Gives an entry all that was taken: the first that makes codes, further ones as hidden fields, and as they are those
  /// that make none.
  consuming func hand(to entry: inout SourceEntry) {
    let label = entry.title
    hand("otp", to: &entry) { _, secret, _ throws(Unknown) in
      guard secret.starts(with: Array("key=".utf8)) else { return secret }
      return try Self.uri(ofQuery: secret, for: label)
    }
    hand("TimeOtp-", to: &entry) { codes, secret, name throws(Unknown) in
      let settings = try codes.timed()
      return try Self.uri(try Self.base32(secret, named: name), for: label, settings)
    }
    hand("TOTP Seed", to: &entry) { codes, secret, _ throws(Unknown) in
      let settings = try codes.tray()
      return try Self.uri(secret, for: label, settings)
    }
    hand("HmacOtp-", to: &entry) { codes, secret, name throws(Unknown) in
      let counter = codes.pop("HmacOtp-Counter") ?? Array("0".utf8)
      return try Self.uri(
        try Self.base32(secret, named: name), for: label, kind: "hotp",
        [("counter", try Self.number(counter))])
    }
    entry.fields += fields
  }

  /// Hands on what one kind of field makes.
  private mutating func hand(
    _ kind: String, to entry: inout SourceEntry,
    _ make: (inout KeePassCodes, [UInt8], String) throws(Unknown) -> [UInt8]
  ) {
    // Of several secrets KeePass takes the first in this order.
    let names = kind.hasSuffix("-") ? Self.encodings.map { kind + "Secret" + $0 } : [kind]
    for index in fields.indices where names.contains(fields[index].key.name) {
      fields[index].isSecret = true
    }
    guard let name = names.first(where: { name in fields.contains { $0.key.name == name } }) else {
      return
    }
    var rest = self
    do throws(Unknown) {
      let seed = try make(&rest, rest.pop(name) ?? [], name)
      if entry.seed.isEmpty {
        entry.seed = seed
      } else if entry.seed != seed {
        entry.fields.append(.init(key: Array("otp".utf8), value: seed, isSecret: true))
      }
      self = rest
    } catch {
      entry.left.append(Remark(reason: .noCode, field: Array(name.utf8)))
      // Of what has that key the agent makes codes.
      for index in fields.indices where fields[index].key.name == "otp" {
        fields[index].key = Array("otp-2".utf8)
      }
    }
  }

  private mutating func pop(_ name: String) -> [UInt8]? {
    guard let index = fields.firstIndex(where: { $0.key.name == name }) else { return nil }
    return fields.remove(at: index).value
  }

  // MARK: - Settings

  /// KeePass's own.
  private mutating func timed() throws(Unknown) -> Settings {
    var settings: Settings = []
    if let length = pop("TimeOtp-Length") { settings.append(("digits", try Self.number(length))) }
    if let period = pop("TimeOtp-Period") { settings.append(("period", try Self.number(period))) }
    if let name = pop("TimeOtp-Algorithm") {
      settings.append(("algorithm", try Self.algorithm(name)))
    }
    return settings
  }

  /// `30;6`: the period and the digits; what may stand behind them is where the time is asked for.
  private mutating func tray() throws(Unknown) -> Settings {
    guard let text = pop("TOTP Settings") else { return [] }
    let parts = text.split(separator: UInt8(ascii: ";"), omittingEmptySubsequences: false)
    guard parts.count >= 2 else { throw Unknown() }
    return [
      ("period", try Self.number(Array(parts[0]))), ("digits", try Self.number(Array(parts[1]))),
    ]
  }

  /// `key=SECRET&size=6&step=30`, as a plugin of KeePass's has it.
  private static func uri(ofQuery text: [UInt8], for label: [UInt8]) throws(Unknown) -> [UInt8] {
    var (secret, settings) = ([UInt8](), Settings())
    for part in text.split(separator: UInt8(ascii: "&")) {
      let pair = part.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else { throw Unknown() }
      let value = Array(pair[1])
      switch String(decoding: pair[0], as: UTF8.self) {
      // Padding of base32 comes as it is, or as %3D.
      case "key": secret = Array(value.name.replacing("%3D", with: "").utf8)
      case "size": settings.append(("digits", try number(value)))
      case "step": settings.append(("period", try number(value)))
      case "otpHashMode": settings.append(("algorithm", try algorithm(value)))
      case _: throw Unknown()
      }
    }
    return try uri(secret, for: label, settings)
  }

  private static func number(_ text: [UInt8]) throws(Unknown) -> [UInt8] {
    guard !text.isEmpty, text.allSatisfy({ (0x30...0x39).contains($0) }) else { throw Unknown() }
    return text
  }

  /// `HMAC-SHA-256`, or `Sha256`.
  private static func algorithm(_ text: [UInt8]) throws(Unknown) -> [UInt8] {
    let name = text.name.uppercased().filter { $0 != "-" }
    let hash = name.hasPrefix("HMAC") ? String(name.dropFirst(4)) : name
    guard ["SHA1", "SHA256", "SHA512"].contains(hash) else { throw Unknown() }
    return Array(hash.utf8)
  }

  private static func uri(
    _ secret: [UInt8], for label: [UInt8], kind: String = "totp", _ settings: Settings
  ) throws(Unknown) -> [UInt8] {
    guard let uri = SeedURI.make(secret, for: label, kind: kind, settings) else { throw Unknown() }
    return uri
  }

  // MARK: - Secrets

  private static let encodings = ["", "-Hex", "-Base32", "-Base64"]

  /// What the name of a secret says of its form; nil for what is none.
  private static func encoding(of name: String) -> String? {
    for head in ["TimeOtp-Secret", "HmacOtp-Secret"] where name.hasPrefix(head) {
      let rest = String(name.dropFirst(head.count))
      return encodings.contains(rest) ? rest : nil
    }
    return nil
  }

  private static func base32(_ text: [UInt8], named name: String) throws(Unknown) -> [UInt8] {
    let bytes: [UInt8]?
    switch encoding(of: name) {
    case "-Base32": return text
    case "-Hex": bytes = Armour.bytes(ofHex: text)
    case "-Base64": bytes = Armour.decode(text)
    case .some, nil: bytes = text
    }
    guard let bytes else { throw Unknown() }
    return Armour.base32(bytes)
  }
}

extension [UInt8] {
  /// What a field is called.
  fileprivate var name: String { String(decoding: self, as: UTF8.self) }
}
