// SPDX-License-Identifier: MIT

import Foundation
import KuraMask
import KuraProtocol
import SecureMemory

@testable import KuraCLI

/// What the client reads: files of people's, other programs' requests, and the command line.
enum ClientTargets {
  static var all: [FuzzTarget] { files + requests + words + exported }

  /// What a batch takes, and what an export reads of items and of pass's store.
  private static var exported: [FuzzTarget] {
    [
      FuzzTarget(
        name: "item-line",
        seeds: bytes(
          #"{"name":"a","value":{"base64":"YQ=="},"more":true}"#,
          #"{"schema":1,"name":"a","value":"\u00fc","attributes":{"k":"v"},"class":"protected"}"#,
          #"{"name":"a","kind":"deleted","modified":"2022-01-02T03:04:05Z"}"#),
        words: bytes("\"", "more", "kind", "otp", "deleted", "true", "created", "base64", "{", "}")
      ) { input throws(Flaw) in
        try isTaken {
          var line = try ItemLine.make()
          guard try line.read(input.span) else { return }
          try hold(!line.goesOn || line.kind != .deleted, "a deletion that goes on")
          try hold(!line.isPiece || line.attributeCount == 0, "a piece with attributes")
        }
      },
      FuzzTarget(
        name: "staged-files",
        seeds: bytes(
          ":000000 100644 \(String(repeating: "0", count: 40)) \(String(repeating: "a1", count: 20)) A\0a b\0",
          ":100644 120000 \(String(repeating: "b2", count: 20)) \(String(repeating: "c3", count: 20)) M\0l\0"
        ),
        words: bytes(":", "\0", " ", "100644", "100755", "160000", "000000", "A", "M", "D")
      ) { input throws(Flaw) in
        guard let entries = StagedSearch.entries(in: input.span) else { return false }
        for entry in entries {
          try hold(!entry.path.isEmpty && !entry.path.contains(0), "a path that is none")
          try hold(entry.content.count == 40 || entry.content.count == 64, "a name of no content")
          try hold(!entry.content.contains(0x0A), "a name of several lines")
        }
        return true
      },
      FuzzTarget(
        name: "time-code",
        seeds: bytes(
          "otpauth://totp/a:b?secret=jbswy3dpehpk3pxp&issuer=c&period=60&digits=8&algorithm=SHA256"),
        words: bytes("secret=", "&", "?", "period=", "%", "=", "otpauth://hotp/")
      ) { input throws(Flaw) in
        var (isTaken, isBase32) = (false, false)
        do {
          var secret = try buffer([])
          isTaken = try TimeCode(input.span, &secret) != nil
          isBase32 = copy(secret.bytes).allSatisfy {
            $0 >= 0x41 && $0 <= 0x5A || $0 >= 0x32 && $0 <= 0x37
          }
        } catch { return false }
        try hold(!isTaken || isBase32, "a secret that is no base32")
        return isTaken
      },
      FuzzTarget(name: "gpg-id", seeds: bytes("a@b # c\n\n 0xAB\r\n"), words: bytes("#", "\n")) {
        input throws(Flaw) in
        let keys = Encryption.keys(input)
        for key in keys {
          try hold(!key.isEmpty && !key.contains("\n") && !key.contains("#"), "a key that is none")
        }
        return !keys.isEmpty
      },
    ]
  }

  private static func buffer(_ bytes: [UInt8]) throws -> SecretBuffer {
    var buffer = try SecretBuffer(capacity: bytes.count)
    try buffer.append(bytes.span)
    return buffer
  }

  private static var files: [FuzzTarget] {
    let words = bytes(
      "kura://", "{{ ", " }}", "\\", "\n", "'", "\"", "$", "`", "export ", "=", "#", "%", "\r\n",
      "KURA://", "@v/", "?attr=", "?otp", " ?? ", " | ", "json", "${", "}", "\u{FEFF}", "\0")
    return [
      FuzzTarget(
        name: "template",
        seeds: bytes(
          "a {{ kura://a/b }} \\{{ kura://x }}",
          "{{ kura://a ?? \"b\" | json }}{{kura://a ?? c |url}}",
          "\\\\kura://@v/a?attr=b c\n", "plain"),
        words: words
      ) { input throws(Flaw) in
        try isTaken {
          let template = try Template(try buffer(input), name: nil)
          let count = template.placeholders.count
          let filled = try template.filled(try PlaceholderValues.make(count: count))
          // What stands there instead of a value is written for JSON or a URL: a byte as six.
          try hold(filled.count <= 6 * input.count, "more than there was")
          let isPlain = !input.contains(UInt8(ascii: "\\")) && count == 0
          try hold(!isPlain || copy(filled.bytes) == input, "a text without references is changed")
        }
      },
      FuzzTarget(
        name: "env-file",
        seeds: bytes(
          "A=b\nexport C='d # e'\n", "# x\nD=\"a\\n\\\"b\"\r\nE=kura://a/b # c\n", "F=", ""),
        words: words
      ) { input throws(Flaw) in
        try isTaken {
          var list = try VariableList.make()
          try list.add(try buffer(input), of: "env")
          for entry in list.entries {
            try hold(VariableName.isValid(entry.name), "a name that is none")
            guard case .text(let pieces) = entry.source else { continue }
            for case .text(let range) in pieces {
              let text = copy(list.text.extracting(range))
              try hold(!text.contains(0), "a value with a NUL")
            }
          }
        }
      },
    ]
  }

  private static var words: [FuzzTarget] {
    [
      FuzzTarget(
        name: "command-line", seeds: bytes("get\n--json\nname", "-qq\nlist\n-l0\n--\nx", "put\n-"),
        words: bytes("--", "\n", "=", "--vault", "-", "run", "kura://", "--attr=k=v", "é", "\u{1B}")
      ) { input throws(Flaw) in
        let arguments = input.split(separator: 10, omittingEmptySubsequences: false).map(Array.init)
        let completion = LineCompletion(arguments)
        try hold(completion.current.count <= input.count, "more is completed than was typed")
        return try isTaken { _ = try ArgumentParser.parse(arguments) }
      },
      FuzzTarget(name: "time-span", seeds: bytes("15m", "1h30m", "2d", "0s", "7ms")) {
        input throws(Flaw) in
        guard let span = TimeSpan(input) else { return false }
        try hold(TimeSpan(Array(span.text.utf8)) == span, "written again it is another time")
        return true
      },
      FuzzTarget(name: "byte-size", seeds: bytes("256MiB", "1GiB", "10")) { input throws(Flaw) in
        ByteSize(input) != nil
      },
      FuzzTarget(
        name: "utf-8", seeds: bytes("aé🗝", "\u{10FFFF}\u{800}"),
        words: [[0xED, 0xA0, 0x80], [0xF4, 0x90], [0xC0, 0x80], [0xE2, 0x80]]
      ) { input throws(Flaw) in
        let isText = String(validating: input, as: UTF8.self) != nil
        try hold(UTF8Scanner.isText(input.span) == isText, "Swift's strings see it otherwise")
        return isText
      },
      FuzzTarget(
        name: "mask",
        seeds: bytes(
          "\u{3}hunter22 and hun\u{1B}[31mter22", "\u{1}aHVudGVyMjI= hunte",
          "\u{7}\u{1B}]0;hunter22\u{7}"),
        words: bytes("hunter", "22", "aHVudGVy", "68756e746572", "\u{1B}[0m", "\u{1B}[", "ababab")
      ) { input throws(Flaw) in
        // The first byte says how the rest is cut.
        let text = Array(input.dropFirst())
        let whole = try redacted([text])
        let size = max(1, Int(input.first ?? 1) % 32)
        let pieces = stride(from: 0, to: text.count, by: size).map {
          Array(text[$0..<min($0 + size, text.count)])
        }
        try hold(redacted(pieces) == whole, "cut elsewhere it shows something else")
        try hold(!whole.contains(Array("hunter22".utf8)), "a value passes")
        return whole != text
      },
      FuzzTarget(
        name: "terminal", seeds: bytes("plain", "a\u{1B}[31m", "\u{202E}\u{9B}é"),
        words: [[0xC2, 0x9B], [0x1B, 0x5D], [0xE2, 0x80, 0xAE], [0xC2]]
      ) { input throws(Flaw) in
        _ = try isTaken {
          var escaping = Escaping(.line)
          var shown = try SecretBuffer(capacity: input.count)
          try escaping.append(input.span, to: &shown)
          try escaping.finish(into: &shown)
          let text = String(validating: copy(shown.bytes), as: UTF8.self)
          try hold(text != nil, "what is shown is no text")
          try hold(
            text?.unicodeScalars.contains(where: isObeyed) == false, "a terminal would obey it")
        }
        return UTF8Scanner.isText(input.span)
      },
    ]
  }
}

/// What moves the cursor, or turns or hides text, as Unicode's tables have it.
private func isObeyed(_ scalar: Unicode.Scalar) -> Bool {
  let properties = scalar.properties
  let categories: [Unicode.GeneralCategory] = [.control, .lineSeparator, .paragraphSeparator]
  return categories.contains(properties.generalCategory) || properties.isBidiControl
}

// MARK: - Other programs

extension ClientTargets {
  private static var requests: [FuzzTarget] {
    [
      FuzzTarget(
        name: "git-request",
        seeds: bytes(
          "protocol=https\nhost=h:8\npath=a=b\nusername=u\npassword=p\n\n",
          "host=h\nprotocol=http\nwwwauth[]=x\n",
          "protocol=https\nhost=\noauth_refresh_token=x\nephemeral=1\n"),
        words: bytes("host=", "protocol=", "\n", "\r", "\0", "=", "password=", "\n\n")
      ) { input throws(Flaw) in
        try isTaken {
          let request = try GitRequest.read(input.span)
          for field in [request.scheme, request.host, request.path, request.user, request.expiry] {
            let isLine = field?.allSatisfy { $0 != 10 && $0 != 13 && $0 != 0 } ?? true
            try hold(isLine, "a value goes past its line")
          }
          let hasHost = request.host?.isEmpty == false
          if let place = try request.place() {
            try hold(hasHost, "no host is any host: \(place.name(of: []))")
          }
        }
      },
      json("json", bytes(#"{"a":[1,-2.5e3,true,null,"\u00e9\ud83d\udd11\n"],"b":{"c":""}}"#, "[]")),
      json(
        "docker-credentials",
        bytes(#"{"ServerURL":"https://h/v1/","Username":"u","Secret":"p\"\\"}"#)),
      json(
        "cargo-request",
        bytes(
          #"{"v":1,"kind":"get","operation":"read","registry":{"index-url":"sparse+https://h"},"#
            + #""args":[],"headers":[]}"#)),
      json(
        "aws-credentials",
        bytes(
          #"{"Credentials":{"AccessKeyId":"A","SecretAccessKey":"s","SessionToken":"t","#
            + #""Expiration":"2026-11-21T00:00:00Z"}}"#)),
      FuzzTarget(
        name: "askpass-prompt",
        seeds: bytes(
          "Enter passphrase for key '/home/a/.ssh/id': ", "Password for 'https://u@h.example': ",
          "ada@host.example's password: ", "[sudo] password for ada: "),
        words: bytes("'", ": ", "https://", "@", "%", "/../", "\n", "(yes/no")
      ) { input throws(Flaw) in
        let around = AskpassPrompt.Surroundings(caller: bytes("sudo")[0], directory: bytes("/w")[0])
        switch AskpassPrompt(input, around) {
        case .item(let name):
          try hold(!name.utf8.contains(10) && !name.contains("/../"), "a name that leads astray")
          return true
        case .git: return true
        default: return false
        }
      },
      FuzzTarget(
        name: "name-part", seeds: bytes("plain", "a%2Fb", "%", "%2E"), words: bytes("%", "%2F")
      ) { input throws(Flaw) in
        let part = NamePart.encode(input)
        try hold(NamePart.decode(part.utf8) == input, "decoded it is something else")
        try hold(!part.isEmpty && !part.contains("/") && part != "..", "it is no part of a name")
        guard let decoded = NamePart.decode(input) else { return false }
        try hold(Array(NamePart.encode(decoded).utf8) == input, "two parts mean the same bytes")
        return true
      },
    ]
  }

  /// What is taken must be JSON to Foundation, too, and its strings the same.
  private static func json(_ name: String, _ seeds: [[UInt8]]) -> FuzzTarget {
    FuzzTarget(
      name: name, seeds: seeds,
      words: bytes(
        "\\u", "\\ud83d", "\\udd11", "\\ud83d\\u0041", "\"", "{", "}", "[", "]", ",", ":", "null",
        "\\", "1e5", "-0",
        "\u{FEFF}", "\0", "{\"a\":1,\"a\":2}", "Secret")
    ) { input throws(Flaw) in
      try isTaken {
        let document = try JSONDocument(try buffer(input))
        try compare(document, with: input)
      }
    }
  }

  /// Without U+FEFF, which Foundation drops where a string or what follows an escape begins with it.
  private static func marksRemoved(_ text: [UInt8]) -> String {
    String(decoding: text, as: UTF8.self).replacing("\u{FEFF}", with: "")
  }

  private static func compare(
    _ document: borrowing JSONDocument, with input: [UInt8]
  ) throws {
    let other = try? JSONSerialization.jsonObject(with: Data(input), options: .fragmentsAllowed)
    // Foundation refuses numbers that no double holds.
    let isLong = String(decoding: input, as: UTF8.self).contains(/[0-9][eE]|[0-9]{16}/)
    try hold(other != nil || isLong, "Foundation finds no JSON")
    guard let object = other as? [String: Any] else { return }
    try hold(document.isObject, "Foundation finds an object")
    var value = try SecretBuffer(capacity: 64)
    for key in ["ServerURL", "Username", "Secret", "kind", "operation", "a"] {
      guard let text = object[key] as? String else { continue }
      let isThere = try document.read([key], into: &value)
      try hold(
        isThere && marksRemoved(copy(value.bytes)) == marksRemoved(Array(text.utf8)),
        "another text in \(key)")
    }
  }
}

/// What is shown of a text in pieces that has two values in it.
private func redacted(_ pieces: [[UInt8]]) throws(Flaw) -> [UInt8] {
  do {
    var set = try NeedleSet()
    for value in bytes("hunter22", "ababab") {
      let name = Array("v".utf8)
      _ = try set.add(value.span, named: name.span)
    }
    set.finish()
    var masker = try Masker()
    var shown = try MaskedText()
    for piece in pieces { try masker.write(piece.span, set, to: &shown) }
    try masker.finish(set, to: &shown)
    return copy(shown.bytes.bytes)
  } catch { throw Flaw(text: "no memory") }
}
