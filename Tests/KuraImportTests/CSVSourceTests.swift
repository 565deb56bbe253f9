// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// Exports of browsers and of other managers, in the columns that these document.
@Suite struct CSVSourceTests {
  @Test func `Chrome's passwords`() throws {
    let items = try items(try fixture("chrome.csv"), .chromeCSV)
    #expect(items.names == ["example.org/ada", "example.org/bob", "router", "empty.example"])
    #expect(items["example.org/ada"]?.value == Array("tr0ub4dor&3"))
    #expect(items["example.org/bob"]?.value == Array("with,comma \"and\" quotes"))
    #expect(items["example.org/bob"]?["user"] == "bob")
    #expect(items["router"]?["url"] == "http://192.168.1.1/")
    #expect(items["router"]?.secret("notes") == "two\nlines")
    #expect(items["empty.example"]?.value == [])
  }

  @Test func `Firefox's, with times and a realm`() throws {
    let bytes = try fixture("firefox.csv")
    let items = try items(bytes, .firefoxCSV)
    #expect(items.names == ["example.org", "intranet.example"])
    #expect(items[0].value == Array("päss 😀"))
    #expect(items[0].created == 1_700_000_000_000 && items[0].modified == 1_700_000_200_000)
    #expect(items[1]["realm"] == "Staff only")
    let left = try leavings(bytes, .firefoxCSV)
    #expect(left.map(\.field) == ["formActionOrigin", "guid", "timeLastUsed"])
    #expect(left.allSatisfy { $0.reason == .remark(.foreign) && $0.place == 0 })
  }

  @Test func `Apple's, behind a byte order mark`() throws {
    let items = try items(try fixture("apple.csv"), .appleCSV)
    #expect(items.names == ["example.org (ada)"])
    #expect(items[0].secret("otp")?.hasPrefix("otpauth://totp/example.org:ada?secret=") == true)
  }

  @Test func `LastPass's, with folders, notes and bare secrets`() throws {
    let bytes = try fixture("lastpass.csv")
    let items = try items(bytes, .lastpassCSV)
    #expect(items.names == ["Money/Banks/Bank", "Notes/Secure Note", "Odd"])
    #expect(
      items[0].secret("otp") == "otpauth://totp/Money%2FBanks%2FBank?secret=JBSWY3DPEHPK3PXP")
    #expect(items[0].secret("notes") != nil)
    #expect(items[1].value.text == "the note\nitself")
    #expect(items[1]["url"] == nil)
    #expect(items[2].secret("otp-2") == "not base32!")
    let left = try leavings(bytes, .lastpassCSV)
    #expect(
      left.contains { $0.entry == "Odd" && $0.field == "otp" && $0.reason == .remark(.noCode) })
    #expect(left.contains { $0.field == "fav" && $0.reason == .remark(.foreign) })
  }

  @Test func `KeePassXC's, without the root group`() throws {
    let bytes = try fixture("keepassxc.csv")
    let items = try items(bytes, .keepassxcCSV)
    #expect(items.names == ["Internet/Example", "A-B"])
    #expect(items.map { $0.secrets.count } == [1, 1])
    #expect(items[0].value.text == "kp\"x")
    #expect(items[0].created == 1_735_787_045_000)
    #expect(items[0].modified == 1_772_368_200_000)
    let left = try leavings(bytes, .keepassxcCSV)
    #expect(left.contains { $0.entry == "A-B" && $0.reason == .renamed("A-B") })
  }

  @Test func `columns stand in any order, and in any case`() throws {
    let read = try read("PASSWORD,Url,NAME,username\np,u,n,a\n", .chromeCSV)
    #expect(
      read.entries == [
        {
          var entry = SourceEntry()
          entry.place = 2
          (entry.title, entry.user, entry.value) = (Array("n"), Array("a"), Array("p"))
          entry.urls = [Array("u")]
          return entry
        }()
      ])
  }

  @Test func `a column that nobody knows is kept, and not listed`() throws {
    let items = try items(
      Array("name,url,username,password,PIN\nbank,u,a,p,1234\ncafé,u,a,p,\n"), .chromeCSV)
    #expect(items.names == ["bank", "café"])
    #expect(items[0].secret("PIN") == "1234" && items[0]["PIN"] == nil)
  }

  @Test(arguments: [
    ("url,username,password\n", ReadingFlaw(.columnMissing, at: 1, "name")),
    ("name,url,username,password,URL\n", ReadingFlaw(.columnTwice, at: 1, "url")),
    ("name,url,username,password\na,b,c\n", ReadingFlaw(.fieldCount, at: 2)),
    ("name,url,username,password\na,b,c,d\n\na,b,c,d,e\n", ReadingFlaw(.fieldCount, at: 4)),
    ("name,url,username,password\na,b,c,\"d\n", ReadingFlaw(.quoting, at: 2)),
    ("", ReadingFlaw(.empty)), ("\n\n", ReadingFlaw(.empty)),
  ])
  func `what is no such export is refused with its line`(
    _ text: String, _ expected: ReadingFlaw
  ) throws {
    #expect(try flaw(text, .chromeCSV) == expected)
  }

  @Test func `text that is not UTF-8 is refused with its line`() throws {
    let bytes = Array("name,url,username,password\na,b,c,") + [0xE4, 0x0A]
    #expect(try outcome(bytes, .chromeCSV) == .flaw(ReadingFlaw(.notUTF8, at: 2)))
  }

  @Test func `ten thousand rows are ten thousand items`() throws {
    var text = "name,url,username,password\n"
    for number in 0..<10_000 { text += "site \(number),https://\(number).example,ada,p\(number)\n" }
    let items = try items(Array(text), .chromeCSV)
    #expect(items.count == 10_000)
    #expect(items["site 9999"]?.value.text == "p9999")
  }
}
