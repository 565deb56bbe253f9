// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// What stands in a store of pass's, once gpg has decrypted it.
@Suite struct PassSourceTests {
  private func store(_ files: (String, String)...) -> [UInt8] {
    var bytes: [UInt8] = []
    for (path, text) in files {
      StoreText(path: Array(path), state: .read, content: Array(text)).append(to: &bytes)
    }
    return bytes
  }

  @Test func `a password, fields, a code and notes are one item`() throws {
    let items = try items(
      store(
        (
          "web/shops/shop",
          "p:w\nusername: ada\nurl: https://a\nURL: https://b\nPIN: 4711\nlogin: second\notpauth://totp/x?secret=AAAAAAAA\nline: one\n\nnot: a field\n"
        )), .pass)
    let item = try #require(items.first)
    #expect(items.names == ["web/shops/shop"])
    #expect(item.value.text == "p:w" && item["user"] == "ada")
    #expect(item["url"] == "https://a" && item["url-2"] == "https://b")
    #expect(item.secret("PIN") == "4711" && item.secret("login") == "second")
    #expect(item.secret("otp") == "otpauth://totp/x?secret=AAAAAAAA")
    #expect(item.secret("line") == "one")
    // Below what is no field, nothing is one.
    #expect(item.secret("notes") == "\nnot: a field\n" && item["not"] == nil)
  }

  @Test(
    arguments: [
      ("only\n", "only", nil), ("only", "only", nil), ("", "", nil), ("\nn\n", "n\n", nil),
      ("p\nnotes\nmore\n\n", "p", "notes\nmore\n"),
      ("-----BEGIN KEY-----\nx\n", "-----BEGIN KEY-----\nx\n", nil),
      ("p\n: no\nkey:value\n", "p", ": no\nkey:value\n"),
      ("p\r\n\r\n", "p", nil), ("\r\n", "", nil), ("p\r\nn\r\nm\r\n", "p", "n\r\nm\r\n"),
    ] as [(String, String, String?)])
  func `what is no field is notes, and a key is whole`(
    _ text: String, _ value: String, _ notes: String?
  ) throws {
    let item = try #require(try items(store(("a", text)), .pass).first)
    #expect(item.value.text == value)
    #expect(item.secret("notes") == notes)
  }

  @Test func `lines may end in CR and LF`() throws {
    let text = "p\r\nuser: ada\r\nPIN: 1\r\notpauth://totp/x?secret=AAAAAAAA\r\n"
    let item = try #require(try items(store(("a", text)), .pass).first)
    #expect(item.value.text == "p" && item["user"] == "ada" && item.secret("PIN") == "1")
    #expect(item.secret("otp") == "otpauth://totp/x?secret=AAAAAAAA" && item.secrets.count == 2)
  }

  @Test func `a file, bytes and a code alone are what they are`() throws {
    let uri = "otpauth://totp/x?secret=AAAAAAAA"
    var bytes = store(("a/attachments/f.txt", "k: v\n"), ("code", uri + "\n"))
    StoreText(path: Array("b"), state: .read, content: [0xFF, 0]).append(to: &bytes)
    let items = try items(bytes, .pass)
    #expect(items.names == ["a/attachments/f.txt", "code", "b"])
    #expect(items[0].value.text == "k: v\n" && items[0].secrets.isEmpty)
    #expect(items[1].value.text == uri && items[1].isCode)
    #expect(items[2].value == [0xFF, 0])
  }

  @Test func `what could not be read is told, and is no item`() throws {
    var bytes = store(("a", "1"))
    for (path, state) in [("b", StoreText.State.sealed), ("c/d", .link), ("e.txt", .foreign)] {
      StoreText(path: Array(path), state: state, content: []).append(to: &bytes)
    }
    #expect(try items(bytes, .pass).names == ["a"])
    let left = try leavings(bytes, .pass)
    #expect(left.map(\.entry) == ["b", "c/d", "e.txt"])
    #expect(left.map(\.reason) == [.remark(.sealed), .remark(.link), .remark(.unsupported)])
  }

  @Test func `what is cut short, or of another form, is refused`() throws {
    let whole = store(("a", "text"))
    for count in 1..<whole.count {
      guard case .flaw(let flaw) = try outcome(Array(whole.prefix(count)), .pass) else {
        Issue.record("\(count) bytes are taken")
        continue
      }
      #expect(flaw == ReadingFlaw(.frame, at: 1))
    }
    var other = whole
    other[5] = 9
    #expect(try outcome(other, .pass) == .flaw(ReadingFlaw(.frame, at: 1)))
    #expect(try outcome([], .pass) == .flaw(ReadingFlaw(.empty)))
  }
}
