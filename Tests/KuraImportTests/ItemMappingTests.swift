// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// What entries become.
@Suite struct ItemMappingTests {
  private func entry(_ title: String, _ change: (inout SourceEntry) -> Void = { _ in })
    -> SourceEntry
  {
    var entry = SourceEntry()
    entry.title = Array(title)
    entry.value = Array("p")
    change(&entry)
    return entry
  }

  private func map(_ entries: [SourceEntry], into folder: String = "") -> (
    [ImportedItem], [Leaving]
  ) {
    var numbered = entries
    for index in numbered.indices { numbered[index].place = UInt64(index + 1) }
    return ItemMapping.map(.init(entries: numbered), into: folder)
  }

  @Test func `each field has its place`() {
    let (items, left) = map(
      [
        entry("site") {
          $0.folders = [Array("web"), Array("shops")]
          $0.user = Array("ada")
          $0.urls = [Array("https://a"), Array("https://b")]
          $0.notes = Array("n")
          $0.seed = Array("jbsw y3dp ehpk 3pxp")
          $0.fields = [
            .init(key: Array("a=b"), value: Array("seen"), isSecret: false),
            .init(key: Array("PIN"), value: Array("1234"), isSecret: true),
            .init(key: Array("nothing"), value: [], isSecret: true),
          ]
          $0.tags = [Array("x"), Array("y")]
          $0.history = [Array("o")]
          $0.attachments = [.init(name: Array("../key.pem"), bytes: [0])]
        }
      ], into: "old")
    let name = "old/web/shops/site"
    #expect(items.names == [name, name + "/attachments/..-key.pem"])
    #expect(
      items[0].secrets.map { String(decoding: $0.key, as: UTF8.self) } == ["otp", "notes", "PIN"])
    #expect(items[0].secret("PIN") == "1234" && items[0].secret("notes") == "n")
    #expect(items[0]["url"] == "https://a" && items[0]["url-2"] == "https://b")
    #expect(items[0]["user"] == "ada" && items[0]["tags"] == "x, y" && items[0]["a-b"] == "seen")
    #expect(items[0].history == [Array("o")])
    #expect(items[0].secret("otp")?.hasPrefix("otpauth://totp/") == true)
    #expect(items[1].value == [0])
    #expect(
      left == [
        Leaving(place: 1, entry: name, field: "a=b", reason: .renamed("a-b")),
        Leaving(
          place: 1, entry: name, field: "..-key.pem",
          reason: .renamed(name + "/attachments/..-key.pem")),
      ])
  }

  @Test(
    arguments: [
      ("t", ["a", "b"], nil), ("b/c", ["a"], "a/b-c"), ("t", ["A/B"], "A-B/t"),
      ("t", [" a "], "a/t"), (" t", [], "t"), ("..", ["."], "%2E/%2E%2E"),
      ("t", ["a\u{1B}"], "a/t"), ("", [], nil), ("t", ["", "a"], nil),
    ] as [(String, [String], String?)])
  func `a name that is changed in any part is said`(
    _ title: String, _ folders: [String], _ changed: String?
  ) {
    let (items, left) = map([entry(title) { $0.folders = folders.map { Array($0) } }])
    #expect(left.map(\.reason) == (changed.map { [.renamed($0)] } ?? []))
    if let changed { #expect(items.names == [changed]) }
  }

  @Test func `a user or host behind or in place of a title is a part of a name, too`() {
    let (items, left) = map([
      entry("a") { $0.user = Array("x/y") }, entry("a") { $0.user = Array("z") },
      entry("") { $0.user = Array("p/q") },
    ])
    #expect(items.names == ["a/x-y", "a/z", "p-q"])
    #expect(left.map(\.reason) == [.renamed("a/x-y"), .renamed("p-q")])
    #expect(items[0]["user"] == "x/y")
  }

  @Test func `folders that a long name has no place for are said`() throws {
    let folder = Array(String(repeating: "f", count: 150))
    let (items, left) = map([entry("t") { $0.folders = Array(repeating: folder, count: 6) }])
    let item = try #require(items.first)
    #expect(item.name.utf8.count < 824 && left.map(\.reason) == [.renamed(item.name)])
    #expect(left.map(\.entry) == [item.name])
  }

  @Test func `a key or a file that is called otherwise is said with its field`() {
    let (items, left) = map([
      entry("a") {
        $0.fields = [
          .init(key: Array("k=1"), value: Array("v"), isSecret: true),
          .init(key: Array("x/y"), value: [0], isSecret: true),
          .init(key: [], value: Array("v"), isSecret: true),
        ]
        $0.attachments = [.init(name: Array("ok.txt"), bytes: []), .init(name: [], bytes: [])]
      }
    ])
    #expect(items.names == ["a", "a/x-y", "a/attachments/ok.txt", "a/attachments/file"])
    #expect(left.map(\.field) == ["x-y", "k=1"])
    #expect(left.map(\.reason) == [.renamed("a/x-y"), .renamed("k-1")])
  }

  @Test func `what lists could show is hidden, or stands beside, where an item has no more room`() {
    let (items, left) = map([
      entry("many") {
        $0.fields = (0..<600).map {
          .init(key: Array("k\($0)"), value: Array("\($0)"), isSecret: false)
        }
      },
      entry("long") {
        $0.fields = (0..<70).map {
          .init(key: Array("k\($0)"), value: Array(repeating: 0x61, count: 1_000), isSecret: false)
        }
      },
      entry("nul") { $0.fields = [.init(key: Array("k"), value: [0x61, 0], isSecret: false)] },
      entry("same") {
        $0.fields = ["\u{E9}", "e\u{301}"].map {
          .init(key: Array($0), value: [0x61], isSecret: false)
        }
      },
    ])
    #expect(items[0].attributes.count == 256 && items[0].secrets.count == 256)
    #expect(items[0].secret("k256") == "256" && items["many/k512"]?.value.text == "512")
    let long = items["long"]
    #expect(long?.attributes.count == 59 && long?.secrets.count == 11)
    #expect(items["nul/k"]?.value == [0x61, 0])
    #expect(items["same"]?.attributes.map(\.key.text).last == "e\u{301}-2")
    #expect(left.isEmpty)
  }

  @Test func `without a password the notes are the value, or what makes codes`() {
    let (items, _) = map([
      entry("note") { ($0.value, $0.notes) = (nil, Array("n")) },
      entry("code") { ($0.value, $0.seed) = (nil, Array("JBSWY3DPEHPK3PXP")) },
      entry("both") {
        ($0.value, $0.notes, $0.seed) = (nil, Array("n"), Array("JBSWY3DPEHPK3PXP"))
      },
      entry("none") { $0.value = nil },
    ])
    #expect(items.names == ["note", "code", "both", "none"])
    #expect(items[0].value.text == "n" && items[1].isCode && items[3].value == [])
    #expect(items[2].secret("otp") != nil && items[1].secrets.isEmpty)
  }

  @Test func `a title is made where there is none`() {
    let (items, _) = map([
      entry("") { $0.urls = [Array("https://ada@www.example.org:8443/x?y")] },
      entry("") { $0.user = Array("ada") }, entry(""),
    ])
    #expect(items.names == ["www.example.org:8443", "ada", "unnamed"])
  }

  @Test
  func `entries of one name are told apart by user, then by number, and the same is stored once`() {
    let (items, left) = map([
      entry("a") { $0.user = Array("x") }, entry("a") { $0.user = Array("y") },
      entry("b"), entry("b") { $0.value = Array("q") }, entry("b"),
      entry("b") { ($0.value, $0.notes) = (Array("q"), Array("n")) },
    ])
    #expect(items.names == ["a/x", "a/y", "b", "b (2)", "b (3)"])
    #expect(left.map(\.reason) == [.twice] && left[0].place == 5)
  }

  @Test func `what an item cannot hold stands beside it, under a name of its own`() {
    let long = [UInt8](repeating: 0x78, count: 61_440)
    let (items, _) = map([
      entry("a") { $0.notes = long }, entry("notes") { $0.folders = [Array("a")] },
      entry("b") {
        $0.fields = [
          .init(key: Array("bytes"), value: [0x61, 0], isSecret: true),
          .init(key: Array("odd"), value: [0xFF], isSecret: true),
          .init(key: Array("user"), value: Array("seen"), isSecret: true),
          .init(key: Array("user"), value: Array("again"), isSecret: true),
        ]
        $0.user = Array("ada")
      },
    ])
    #expect(items.names == ["a", "a/notes", "a/notes (2)", "b", "b/bytes", "b/odd"])
    #expect(items[1].value == long && items[0].secrets.isEmpty)
    #expect(items[3].secret("user-2") == "seen" && items[3].secret("user-3") == "again")
    #expect(items[3]["user"] == "ada")
  }

  @Test(arguments: [
    ("AC/DC", "AC-DC"), ("a\u{0}\u{1B}b", "a  b"), (" x ", "x"), (".", "%2E"), ("..", "%2E%2E"),
    ("日本😀", "日本😀"), ("\u{10FFFF}", "\u{FFFD}"), ("\u{85}", ""),
  ])
  func `a part of a name keeps the rules`(_ text: String, _ part: String) {
    #expect(ItemNaming.part(Array(text)) == part)
  }

  @Test func `long names are cut between characters`() {
    let part = ItemNaming.part(Array(String(repeating: "é", count: 5_000)))
    #expect(part == String(repeating: "é", count: 100))
    let (items, _) = map([entry("t") { $0.folders = Array(repeating: Array(part), count: 20) }])
    #expect(items[0].name.utf8.count <= 824 && items[0].name.hasSuffix("/t"))
  }

  @Test func `what is too long, thrown away or of no use is said`() {
    let (items, left) = map([
      entry("big") {
        $0.attachments = [.init(name: Array("f"), bytes: Array(repeating: 0, count: 16_777_217))]
      },
      entry("bin") { $0.manner = .trashed },
      entry("key") { $0.left = [Remark(reason: .unsupported, field: Array("passkey"))] },
    ])
    #expect(items.names == ["big", "key"])
    #expect(
      left == [
        Leaving(place: 1, entry: "big", field: "f", reason: .remark(.tooLong)),
        Leaving(place: 2, entry: "bin", field: "", reason: .remark(.trashed)),
        Leaving(place: 3, entry: "key", field: "passkey", reason: .remark(.unsupported)),
      ])
  }

  @Test func `what lists cannot show by its length is a secret attribute`() {
    let long = [UInt8](repeating: 0x61, count: 1_025)
    let (items, _) = map([
      entry("a") { $0.fields = [.init(key: Array("k"), value: long, isSecret: false)] }
    ])
    #expect(items.names == ["a"])
    #expect(items[0].secret("k") == long.text && items[0]["k"] == nil)
  }
}

/// What codes are made of.
@Suite struct SeedURITests {
  @Test(arguments: [
    ("otpauth://totp/x?secret=AA", "otpauth://totp/x?secret=AA"),
    (" OTPAUTH://totp/x \n", "OTPAUTH://totp/x"),
    ("jbsw-y3dp ehpk3pxp==", "otpauth://totp/a%2Fb%20c?secret=JBSWY3DPEHPK3PXP"),
  ])
  func `a seed is a URI`(_ seed: String, _ uri: String) {
    #expect(SeedURI.make(Array(seed), for: "a/b c")?.text == uri)
  }

  @Test(arguments: [
    "", "A", "ABC", "steam://ABCDEFGH", "J0SWY3DP", "é",
    "otpauth://totp/x?secret=AAAAAAAA&encoder=steam",
  ])
  func `what is none makes no codes`(_ seed: String) {
    #expect(SeedURI.make(Array(seed), for: "x") == nil)
  }
}

/// Times of other programs.
@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00Z", 0), ("2000-02-29T12:00:00Z", 951_825_600_000),
    ("2026-11-23T11:16:21.5Z", 1_795_432_581_500), ("2026-11-23T11:16:21.0671Z", 1_795_432_581_067),
    ("2026-11-23T13:16:21+02:00", 1_795_432_581_000),
    ("2026-11-23 11:16:21", 1_795_432_581_000), ("2026-13-01T00:00:00Z", 0), ("yesterday", 0),
    ("2026-11-23T11:16:21+2", 0),
  ])
  func `RFC 3339 is read`(_ text: String, _ milliseconds: UInt64) {
    #expect(Timestamp.parse(Array(text)) == milliseconds)
  }

  @Test func `digits are milliseconds`() {
    #expect(Timestamp.milliseconds(Array("1700000000000")) == 1_700_000_000_000)
    #expect(Timestamp.milliseconds(Array("-1")) == 0)
  }
}
