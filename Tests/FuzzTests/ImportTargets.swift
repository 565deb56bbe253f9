// SPDX-License-Identifier: MIT

import KuraTerms
import TestGround

@testable import KuraImport

/// What other programs exported, and what the process that reads it answers.
enum ImportTargets {
  static var all: [FuzzTarget] { sources + [recognition, answer, packed, sealed] }

  private static var sources: [FuzzTarget] {
    ImportFormat.allCases.map { format in
      FuzzTarget(name: "import-" + format.rawValue, seeds: seeds(format), words: words(format)) {
        input throws(Flaw) in try read(input, format)
      }
    }
  }

  private static func seeds(_ format: ImportFormat) -> [[UInt8]] {
    switch format {
    case .chromeCSV:
      bytes(
        "name,url,username,password,note\na,https://b/,c,\"d\"\"e\",\"f\ng\"\r\nh,i,j,k,\n",
        "\u{FEFF}Name,URL,Username,Password,PIN\na,b,c,d,1\n")
    case .firefoxCSV:
      bytes(
        "\"url\",\"username\",\"password\",\"httpRealm\",\"timeCreated\"\n\"https://a\",b,c,d,1700000000000\n"
      )
    case .appleCSV:
      bytes(
        "Title,URL,Username,Password,Notes,OTPAuth\na,b,c,d,e,otpauth://totp/x?secret=AAAAAAAA\n")
    case .lastpassCSV:
      bytes("url,username,password,totp,extra,name,grouping,fav\nhttp://sn,,,AAAA,e,n,a\\b,1\n")
    case .keepassxcCSV:
      bytes(
        "Group,Title,Username,Password,URL,Notes,TOTP,Icon,Last Modified,Created\nRoot/a,b,c,d,e,f,g,0,2026-01-02T03:04:05Z,\n"
      )
    case .keepassXML:
      bytes(
        "<KeePassFile><Meta><RecycleBinUUID>b</RecycleBinUUID><Binaries><Binary ID=\"0\">AAEC</Binary><Binary ID=\"1\" Compressed=\"True\">H4sIAAAAAAACA9PVBQInV3dPPwVv10gQR5erggsA5eUVhxYAAAA=</Binary></Binaries></Meta><Root><Group><Name>r</Name><Entry><Tags>a;b</Tags><Times><CreationTime>2025-01-02T03:04:05Z</CreationTime></Times><String><Key>Title</Key><Value>t</Value></String><String><Key>Password</Key><Value ProtectInMemory=\"True\">p</Value></String><String><Key>k</Key><Value>v</Value></String><Binary><Key>f</Key><Value Ref=\"0\"/></Binary><Binary><Key>g</Key><Value Ref=\"1\"/></Binary><History><Entry><String><Key>Password</Key><Value>o</Value></String></Entry></History></Entry><Group><UUID>b</UUID><Entry/></Group></Group></Root></KeePassFile>"
      )
    case .bitwardenJSON:
      [
        ZipFile.bytes([
          .init("data.json", Array("{\"items\":[{\"id\":\"a\",\"name\":\"n\"}]}".utf8)),
          .init("attachments/a/f", [1]), .init("attachments/b/g", []),
        ])
      ]
        + bytes(
          "{\"folders\":[{\"id\":\"f\",\"name\":\"a/b\"}],\"items\":[{\"folderId\":\"f\",\"type\":1,\"name\":\"n\",\"reprompt\":1,\"fields\":[{\"name\":\"k\",\"value\":\"v\",\"type\":1}],\"login\":{\"uris\":[{\"uri\":\"u\"}],\"username\":\"a\",\"password\":\"p\",\"totp\":\"AAAAAAAA\",\"fido2Credentials\":[{}]},\"passwordHistory\":[{\"password\":\"o\"}]},{\"type\":3,\"name\":\"c\",\"card\":{\"number\":\"4\"}}]}"
        )
    case .onePUX:
      [
        onePassword(
          Array(
            "{\"accounts\":[{\"vaults\":[{\"attrs\":{\"name\":\"v\"},\"items\":[{\"overview\":{\"title\":\"t\"},\"details\":{}}]}]}]}"
              .utf8)), deflated,
      ]
    case .protonJSON:
      [ZipFile.bytes([.init("Proton Pass/data.json", Array("{\"vaults\":{}}".utf8))])]
        + bytes(
          "{\"vaults\":{\"v\":{\"name\":\"w\",\"items\":[{\"state\":1,\"createTime\":1,\"data\":{\"metadata\":{\"name\":\"n\",\"note\":\"o\"},\"type\":\"login\",\"extraFields\":[{\"fieldName\":\"k\",\"type\":\"totp\",\"data\":{\"totpUri\":\"s\"}}],\"content\":{\"itemEmail\":\"a\",\"password\":\"p\",\"urls\":[\"u\"]}}}]}}}"
        )
    case .cxf:
      bytes(
        "{\"version\":{\"major\":1,\"minor\":0},\"accounts\":[{\"collections\":[{\"title\":\"a\",\"items\":[{\"item\":\"MQ\"}],\"subCollections\":[{\"title\":\"b\",\"items\":[]}]}],\"items\":[{\"id\":\"MQ\",\"creationAt\":1,\"title\":\"t\",\"tags\":[\"g\"],\"scope\":{\"urls\":[\"u\"]},\"credentials\":[{\"type\":\"basic-auth\",\"username\":{\"fieldType\":\"string\",\"value\":\"u\"},\"password\":{\"fieldType\":\"concealed-string\",\"value\":\"p\"}},{\"type\":\"totp\",\"secret\":\"AAAAAAAA\",\"period\":60,\"digits\":8,\"algorithm\":\"sha256\",\"issuer\":\"i\"},{\"type\":\"note\",\"content\":{\"value\":\"n\"}},{\"type\":\"passkey\"},{\"type\":\"custom-fields\",\"label\":\"l\",\"fields\":[{\"label\":\"k\",\"fieldType\":\"string\",\"value\":\"v\"}]}]}]}]}"
      )
    case .pass:
      [
        [3, 0, 0, 0, 0x61, 0x2F, 0x62, 0, 9, 0, 0, 0] + Array("p\nk: v\nn\n".utf8),
        [1, 0, 0, 0, 0x63, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0x64, 2, 0, 0, 0, 0],
      ]
    case .secretService:
      [
        KeeperSource.head
          + [1, 1, 0, 0, 0, 0x63, 1, 0, 0, 0, 0x6C, 9, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 0, 0]
          + [1, 0, 0, 0, 4, 0, 0, 0] + Array("user".utf8) + [1, 0, 0, 0, 0x76]
          + [0, 0, 0, 0, 2, 0, 0, 0, 0, 0xFF] + [2, 1, 0, 0, 0, 0x64]
          + [3, 1, 0, 0, 0, 0x63, 1, 0, 0, 0, 0x6D] + [4, 3, 0, 0, 0]
      ]
    case .dotenv: bytes("A=1\nexport B='2'\n# c\nD=\"e\\nf\" # g\n", "A.b-c = d # e")
    case .jsonLines:
      bytes(
        "{\"name\":\"a/b\",\"value\":\"c\\u00fc\\ud83d\\ude00\",\"attributes\":{\"k\":\"v\"},\"class\":\"protected\"}\n",
        "{\"name\":\"a\",\"value\":{\"base64\":\"YQD/Yg==\"},\"kind\":\"otp\",\"n\":[1,-0.5e3,null,true]}"
      )
    }
  }

  private static func words(_ format: ImportFormat) -> [[UInt8]] {
    switch format {
    case .chromeCSV, .firefoxCSV, .appleCSV, .lastpassCSV, .keepassxcCSV:
      bytes("\"", "\"\"", ",", "\r\n", "\n", "\\", "/", "http://sn", "otpauth://")
    case .keepassXML:
      bytes(
        "<", ">", "</", "/>", "<!DOCTYPE", "<![CDATA[", "&amp;", "&#x0;", "<Entry>", "</Entry>",
        "Protected=\"True\"")
    case .onePUX:
      bytes(
        "PK\u{1}\u{2}", "PK\u{3}\u{4}", "PK\u{5}\u{6}", "../", "files/", "\u{0}\u{0}")
    case .pass: bytes("otpauth://", ": ", "\n", "user: ", "-----BEGIN ", "/attachments/")
    case .secretService: bytes("user", "url", "server", "port", "\u{1}\u{0}\u{0}\u{0}")
    case .dotenv: bytes("\"", "'", "\\", "#", "=", "export ", "\n")
    case .jsonLines, .bitwardenJSON, .protonJSON, .cxf:
      bytes("{", "}", "[", "]", "\"", "\\u", "\\ud83d", ":", ",", "null", "\"base64\"", "\n")
    }
  }

  /// Reads a source, then its answer, then maps that: what is taken keeps the rules.
  private static func read(_ input: [UInt8], _ format: ImportFormat) throws(Flaw) -> Bool {
    var answer: [UInt8] = []
    var sink = EntrySink { answer += $0 }
    Source.read(input, as: format, &sink)
    let outcome: AnswerReader.Outcome
    do throws(AnswerReader.Nonsense) { outcome = try AnswerReader.read(answer) } catch {
      throw Flaw(text: "what is written is not read")
    }
    guard case .whole(let whole) = outcome else { return false }
    try hold(whole.entries.count == sink.count, "entries are lost")
    try check(whole)
    return true
  }

  private static func check(_ answer: AnswerReader.Answer) throws(Flaw) {
    let items = ItemMapping.map(answer, into: "x").items
    try hold(Set(items.map(\.name)).count == items.count, "a name is there twice")
    for item in items {
      try hold(item.value.count <= ImportedItem.longest, "a value is too long")
      try hold(
        Set(item.attributes.map(\.key)).count == item.attributes.count, "a key is there twice")
      // Names of Kura's own are refused by the agent where they break its rules.
      if answer.entries.contains(where: { $0.manner.contains(.own) }) { continue }
      try hold(item.name.utf8.count <= 1_024, "a name is too long")
      let parts = item.name.split(separator: "/", omittingEmptySubsequences: false)
      try hold(!parts.contains { $0.isEmpty || $0 == "." || $0 == ".." }, "a part breaks the rules")
      try hold(
        item.name.unicodeScalars.allSatisfy {
          $0.value >= 0x20 && !(0x7F..<0xA0).contains($0.value)
        },
        "a name has control characters")
    }
  }

  /// An archive of 1Password's whose files are packed by deflate.
  private static let deflated =
    Armour.decode(
      Array(
        ("UEsDBBQAAAAIAABgd12x+AZDDwAAAA0AAAARAAAAZXhwb3J0LmF0dHJpYnV0ZXOrVipLLSrOzM9TsjKuBQBQSwMEFAAA"
          + "AAgAAGB3XW/irjF5AAAAuAAAAAsAAABleHBvcnQuZGF0YV2NOw7DMAxD78K5J8jWsUsvUHRQbQUQ4E9gy84Q+O61nQ5B"
          + "xYUAH8UDZEwsQTOW14FKxf0sqabuDgTyjAUV7QZR9mccK6cqvA9CRd1AdCCWlcTN5kY57zHZHm1/hw5GUzwHvfch+RTl"
          + "2VnF8fNcXC/QYzyxaK29p75QSwMEFAAAAAgAAGB3XTZjjXUGAAAAQAAAAAoAAABmaWxlcy9kX19mY2CgDAAAUEsBAhQD"
          + "FAAAAAgAAGB3XbH4BkMPAAAADQAAABEAAAAAAAAAAAAAAIABAAAAAGV4cG9ydC5hdHRyaWJ1dGVzUEsBAhQDFAAAAAgA"
          + "AGB3XW/irjF5AAAAuAAAAAsAAAAAAAAAAAAAAIABPgAAAGV4cG9ydC5kYXRhUEsBAhQDFAAAAAgAAGB3XTZjjXUGAAAA"
          + "QAAAAAoAAAAAAAAAAAAAAIAB4AAAAGZpbGVzL2RfX2ZQSwUGAAAAAAMAAwCwAAAADgEAAAAA")
          .utf8)) ?? []

  /// What tells by its beginning which form a source has.
  private static var recognition: FuzzTarget {
    let begins = ImportFormat.allCases.flatMap { seeds($0).prefix(1) }
    return FuzzTarget(
      name: "import-recognition", seeds: begins.filter { Recognition.format(of: $0) != nil },
      words: bytes("PK\u{3}\u{4}", "{", "<", "\"", ",", "=", "export ", "\u{FEFF}", "\n")
    ) { input throws(Flaw) in
      let format = Recognition.format(of: input)
      if Archive.isOne(input) { return format != nil }
      try hold(
        Recognition.format(of: [0xEF, 0xBB, 0xBF] + input) == format,
        "a mark in front tells the form")
      return format != nil
    }
  }

  private static func onePassword(_ data: [UInt8]) -> [UInt8] {
    ZipFile.bytes([
      .init("export.attributes", Array("{\"version\":3}".utf8)), .init("export.data", data),
      .init("files/d__f", [1, 2]),
    ])
  }

  /// What stands in 1Password's archive: a mutated archive seldom has a right sum.
  private static var packed: FuzzTarget {
    FuzzTarget(
      name: "import-1pux-data",
      seeds: bytes(
        "{\"accounts\":[{\"vaults\":[{\"items\":[{\"favIndex\":1,\"createdAt\":9,\"state\":\"archived\",\"categoryUuid\":\"106\",\"overview\":{\"title\":\"t\",\"url\":\"u\",\"urls\":[{\"url\":\"w\"}],\"tags\":[\"g\"]},\"details\":{\"loginFields\":[{\"value\":\"a\",\"designation\":\"username\"},{\"value\":\"q\",\"name\":\"n\"}],\"notesPlain\":\"n\",\"password\":\"p\",\"sections\":[{\"fields\":[{\"id\":\"ccnum\",\"title\":\"k\",\"value\":{\"concealed\":\"v\"}},{\"value\":{\"totp\":\"AAAAAAAA\"}},{\"value\":{\"date\":86400}},{\"value\":{\"monthYear\":202612}},{\"value\":{\"address\":{\"city\":\"c\"}}},{\"value\":{\"sshKey\":{\"privateKey\":\"k\"}}},{\"value\":{\"file\":{\"fileName\":\"f\",\"documentId\":\"d\"}}}]}],\"passwordHistory\":[{\"value\":\"o\",\"time\":1}]}}]}]}]}"
      ), words: words(.cxf)
    ) { input throws(Flaw) in try read(onePassword(input), .onePUX) }
  }

  /// What a password seals; the password and its cost are right.
  private static var sealed: FuzzTarget {
    FuzzTarget(
      name: "import-sealed",
      seeds: bytes(
        "2.GKw+c0PwFokMUQ6T+TUmEQ==|+pTsY+hyk1YBEFcUXHnwrA==|FPx1jGpK6VfkK8wGuxbm9n0Fc4Crn5PNk4mk9Xc1miA="
      ), words: bytes("2.", "|", "=", "==", "0.")
    ) { input throws(Flaw) in
      let validation =
        "2.TJRIXgwhrmxBzh3+e2v6zg==|NG6d5wLdThMWLd5uz3OCcg==|G9CxqMuQUIOIp93R1CGi47dGB3QeOqr8PdbYB07WVmU="
      let document: JSONValue = .object([
        (key: Array("salt".utf8), value: .string(Array("s".utf8))),
        (key: Array("kdfType".utf8), value: .number(Array("0".utf8))),
        (key: Array("kdfIterations".utf8), value: .number(Array("1".utf8))),
        (
          key: Array("encKeyValidation_DO_NOT_EDIT".utf8), value: .string(Array(validation.utf8))
        ),
        (key: Array("data".utf8), value: .string(input)),
      ])
      let content: [UInt8]
      do throws(ReadingFlaw) {
        content = try BitwardenSeal.open(document, Array("p".utf8))
      } catch { return false }
      try hold(content == Array("{\"items\":[]}".utf8), "what nobody sealed is taken")
      return true
    }
  }

  private static var answer: FuzzTarget {
    var writer = AnswerWriter()
    var entry = SourceEntry()
    (entry.place, entry.title, entry.value) = (3, [0x61], [1, 2])
    entry.fields = [.init(key: [0x6B], value: [0x76], isSecret: true)]
    entry.attachments = [.init(name: [0x66], bytes: [9])]
    entry.left = [Remark(reason: .foreign, field: [0x67])]
    (entry.created, entry.manner) = (7, .protected)
    writer.put(entry)
    writer.put(Remark(reason: .unsupported, field: [0x78]))
    writer.putEnd()
    var flaw = AnswerWriter()
    flaw.put(ReadingFlaw(.member, at: 9, "name"))
    return FuzzTarget(name: "import-answer", seeds: [writer.bytes, flaw.bytes]) {
      input throws(Flaw) in
      let outcome: AnswerReader.Outcome
      do throws(AnswerReader.Nonsense) { outcome = try AnswerReader.read(input) } catch {
        return false
      }
      if case .whole(let answer) = outcome { _ = ItemMapping.map(answer) }
      return true
    }
  }
}
