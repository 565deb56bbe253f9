// SPDX-License-Identifier: MIT

import KuraTerms
import TestGround
import Testing

@testable import KuraImport

/// Bitwarden's archive: the document, and the files of its items.
@Suite struct BitwardenArchiveTests {
  @Test func `the document is what it is by itself, with files`() throws {
    let plain = try items(try fixture("bitwarden.json"), .bitwardenJSON)
    let packed = try items(try fixture("bitwarden.zip"), .bitwardenJSON)
    let files = packed.filter { $0.name.contains("/attachments/") }
    #expect(packed.filter { !$0.name.contains("/attachments/") } == plain)
    #expect(
      files.names == [
        "Work/Mail/Example/attachments/scan.bin", "Work/Mail/Example/attachments/über mich.txt",
        "A note/attachments/scan.bin",
      ])
    #expect(files[0].value == [0, 1, 2, 0xFF] && files[1].value.text == "ü\n")
    #expect(files[2].value == [] && files[2].isProtected && !files[0].isProtected)
  }

  @Test func `a file of an item that is not there is told, and so is what has no place`() throws {
    let left = try leavings(try fixture("bitwarden.zip"), .bitwardenJSON)
    #expect(left.contains { $0.field == "lost.txt" && $0.reason == .remark(.invalid) })
    let other = ZipFile.bytes([
      .init("data.json", Array("{\"items\":[]}")), .init("attachments/a", []), .init("b/c/d", []),
    ])
    #expect(try leavings(other, .bitwardenJSON).map(\.field) == ["attachments-a", "b-c-d"])
  }

  @Test func `a document that names files without them is told of, and one in the archive is not`()
    throws
  {
    let text =
      "{\"items\":[{\"id\":\"a\",\"type\":2,\"name\":\"n\",\"attachments\":[{\"fileName\":\"f\"}]}]}"
    #expect(try leavings(Array(text), .bitwardenJSON).map(\.field) == ["attachments"])
    let packed = ZipFile.bytes([
      .init("attachments/a/f", [7]), .init("data.json", Array(text)),
    ])
    #expect(try leavings(packed, .bitwardenJSON).isEmpty)
    #expect(try items(packed, .bitwardenJSON).names == ["n", "n/attachments/f"])
  }

  @Test func `what a password seals is opened in the archive, too`() throws {
    let packed = ZipFile.bytes([
      .init("data.json", try fixture("bitwarden-pbkdf2.json")), .init("attachments/i1/f", [7]),
    ])
    #expect(try outcome(packed, .bitwardenJSON) == .flaw(ReadingFlaw(.passwordNeeded)))
    guard
      case .whole(let answer) = try outcome(packed, .bitwardenJSON, Array("export pass wörd"))
    else { throw ReadingFlaw(.wrongPassword) }
    #expect(answer.entries.first?.attachments == [.init(name: Array("f"), bytes: [7])])
  }

  @Test func `an archive without the document is named`() throws {
    let other = ZipFile.bytes([.init("attachments/a/f", [])])
    #expect(try outcome(other, .bitwardenJSON) == .flaw(ReadingFlaw(.archiveFile, "data.json")))
  }
}
