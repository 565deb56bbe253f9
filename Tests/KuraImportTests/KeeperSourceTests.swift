// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// What kura-desktop writes of the desktop's keeper of secrets.
@Suite struct KeeperSourceTests {
  private func text(_ bytes: [UInt8]) -> [UInt8] { [UInt8(bytes.count), 0, 0, 0] + bytes }

  private func text(_ text: String) -> [UInt8] { self.text(Array(text)) }

  private func item(
    _ label: String, _ attributes: [(String, String)] = [], secret: [UInt8] = Array("s"),
    type: String = "text/plain", folder: String = "Login"
  ) -> [UInt8] {
    var bytes = [1] + text(folder) + text(label)
    bytes += [0, 0x2F, 0x68, 0x59, 0, 0, 0, 0] + [1, 0x2F, 0x68, 0x59, 0, 0, 0, 0]
    bytes += [UInt8(attributes.count), 0, 0, 0]
    for (key, value) in attributes { bytes += text(key) + text(value) }
    return bytes + text(type) + text(secret)
  }

  private func stream(_ records: [UInt8]...) -> [UInt8] {
    KeeperSource.head + records.joined() + [4, UInt8(records.count), 0, 0, 0]
  }

  @Test func `an item is what it was, with all attributes`() throws {
    let bytes = stream(
      item("Mail", [("service", "mail"), ("username", "ada"), ("xdg:schema", "o.f.S.Generic")]),
      item("", [("server", "h.example"), ("protocol", "smb"), ("port", "445"), ("user", "bob")]),
      item("bytes", secret: [0, 0xFF], type: "application/octet-stream", folder: "Other"),
      item("Web", [("url", "https://a.example"), ("signon_realm", "https://b"), ("login", "eve")]))
    let items = try items(bytes, .secretService)
    #expect(items.names == ["Login/Mail", "Login/h.example:445", "Other/bytes", "Login/Web"])
    #expect(
      items[0].value.text == "s" && items[0]["user"] == "ada" && items[0]["username"] == "ada")
    #expect(items[0]["service"] == "mail" && items[0]["xdg:schema"] == "o.f.S.Generic")
    #expect(items[0].created == 1_500_000_000_000 && items[0].modified == 1_500_000_001_000)
    #expect(items[0]["content-type"] == nil && items[0]["url"] == nil)
    #expect(items[1]["url"] == "smb://h.example:445" && items[1]["user"] == "bob")
    #expect(items[1]["user-2"] == nil && items[1]["server"] == "h.example")
    #expect(items[2].value == [0, 0xFF] && items[2]["content-type"] == "application/octet-stream")
    #expect(items[3]["url"] == "https://a.example" && items[3]["signon_realm"] == "https://b")
    #expect(items[3]["user"] == "eve" && items[3]["url-2"] == nil)
  }

  @Test func `what KeePassXC shows of an entry is listed no more than there`() throws {
    let seed = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    let bytes = stream(
      item(
        "a/b",
        [
          ("Uuid", "00ff"), ("Path", "/Web/Old/a/b"), ("Title", "a/b"), ("UserName", "ada"),
          ("URL", "https://a.example"), ("Notes", "n"), ("otp", seed), ("TOTP", "662477"),
          ("pin", "4711"),
        ]))
    let items = try items(bytes, .secretService)
    #expect(items.names == ["Login/Web/Old/a-b"])
    #expect(items[0]["user"] == "ada" && items[0]["url"] == "https://a.example")
    #expect(items[0]["Uuid"] == "00ff" && items[0].attributes.count == 3)
    let secrets = Dictionary(
      uniqueKeysWithValues: items[0].secrets.map { ($0.key.text, $0.value.text) })
    #expect(secrets == ["notes": "n", "otp": seed, "pin": "4711"])
  }

  @Test func `what is locked is told, and all else is taken`() throws {
    let bytes = stream(
      [2] + text("Work"), [3] + text("Login") + text("Closed"), item("open"))
    #expect(try items(bytes, .secretService).names == ["Login/open"])
    let left = try leavings(bytes, .secretService)
    #expect(
      left.map(\.entry) == ["Login/Closed", ""] && left.map(\.field) == ["", "collection Work"])
    #expect(left.map(\.reason) == [.remark(.locked), .remark(.locked)])
  }

  @Test func `where all is locked, or nothing is there, it says so`() throws {
    let locked = stream([2] + text("Login"), [3] + text("Work") + text("a"))
    #expect(try outcome(locked, .secretService) == .flaw(ReadingFlaw(.allLocked)))
    #expect(try outcome(stream(), .secretService) == .flaw(ReadingFlaw(.empty)))
  }

  @Test func `what is cut short, or of another form, is refused`() throws {
    let whole = stream(item("a", [("k", "v")]), [2] + text("b"))
    for count in 0..<whole.count {
      guard case .flaw(let flaw) = try outcome(Array(whole.prefix(count)), .secretService) else {
        Issue.record("\(count) bytes are taken")
        continue
      }
      #expect(flaw.rule == .frame)
    }
    #expect(try outcome(whole + [0], .secretService) == .flaw(ReadingFlaw(.frame, at: 3)))
    let other = KeeperSource.head + item("a") + [9]
    #expect(try outcome(other, .secretService) == .flaw(ReadingFlaw(.frame, at: 2)))
    let wrong = KeeperSource.head + item("a") + [4, 2, 0, 0, 0]
    #expect(try outcome(wrong, .secretService) == .flaw(ReadingFlaw(.frame, at: 2)))
    #expect(
      try outcome(Array("kura-secrets 2\n"), .secretService) == .flaw(ReadingFlaw(.frame)))
  }
}
