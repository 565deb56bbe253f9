// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// What is known by its beginning, and what is not.
@Suite struct RecognitionTests {
  @Test(
    arguments: [
      ("chrome.csv", .chromeCSV), ("firefox.csv", .firefoxCSV), ("apple.csv", .appleCSV),
      ("lastpass.csv", .lastpassCSV), ("keepassxc.csv", .keepassxcCSV), ("app.env", .dotenv),
      ("bitwarden.json", .bitwardenJSON), ("proton.json", .protonJSON), ("exchange.json", .cxf),
      ("keepass.xml", .keepassXML), ("onepassword.1pux", .onePUX), ("proton.zip", .protonJSON),
      ("bitwarden-argon2.json", .bitwardenJSON), ("bitwarden.zip", .bitwardenJSON),
      ("bomb.zip", nil),
    ] as [(String, ImportFormat?)])
  func `each form is told from all others`(_ file: String, _ format: ImportFormat?) throws {
    #expect(Recognition.format(of: try fixture(file)) == format)
  }

  @Test(
    arguments: [
      "chrome.csv", "firefox.csv", "lastpass.csv", "keepassxc.csv", "app.env",
      "bitwarden.json", "proton.json", "exchange.json", "keepass.xml", "items.jsonl",
    ])
  func `a byte order mark, which Apple's has, says nothing`(_ file: String) throws {
    let bytes = try fixture(file)
    let format = try #require(Recognition.format(of: bytes))
    let plain = try read(bytes, format)
    #expect(Recognition.format(of: [0xEF, 0xBB, 0xBF] + bytes) == format)
    #expect(try read([0xEF, 0xBB, 0xBF] + bytes, format).entries == plain.entries)
    #expect(!plain.entries.isEmpty)
  }

  @Test(
    arguments: [
      ("{\"name\":\"a\",\"value\":\"b\"}\n", .jsonLines),
      ("\u{FEFF}\n# c\nexport A_1=b\n", .dotenv),
      ("{\"encrypted\":true,\"passwordProtected\":true,\"data\":\"x\"}", .bitwardenJSON),
      ("", nil), ("{}", nil), ("<html>", nil), ("name,url\n", nil), ("a b=c", nil), ("text\n", nil),
      ("\u{0}\u{1}", nil), ("[1]", nil),
    ] as [(String, ImportFormat?)])
  func `what says too little is none`(_ text: String, _ format: ImportFormat?) {
    #expect(Recognition.format(of: Array(text)) == format)
  }
}
