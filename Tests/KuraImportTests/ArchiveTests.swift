// SPDX-License-Identifier: MIT

import TestGround
import Testing

@testable import KuraImport

/// Archives that are right, and those that would do harm.
@Suite struct ArchiveTests {
  private func flaw(_ bytes: [UInt8], most: Int = Archive.mostBytes) -> ReadingFlaw? {
    do throws(ReadingFlaw) {
      _ = try Archive(bytes, most: most)
      return nil
    } catch { return error }
  }

  private func flaw(_ entries: ZipFile.Entry...) -> ReadingFlaw? { flaw(ZipFile.bytes(entries)) }

  @Test func `files are what they were, folders are none`() throws {
    let files: [[UInt8]: [UInt8]] = [Array("a/b ü"): [0, 1, 0xFF], Array("empty"): []]
    let entries = [.init("a/", [])] + files.map { ZipFile.Entry($0.key.text, $0.value) }
    #expect(try Archive(ZipFile.bytes(entries)).files == files)
    // One that was packed by somebody else.
    let packed = try Archive(try fixture("onepassword.1pux")).files
    #expect(packed.count == 4 && packed[Array("files/doc1__scan.bin")] == [0, 1, 2, 0xFF])
  }

  @Test(arguments: ["../a", "a/../../b", "/etc/x", "a//b", "a\\b", "a/./b", "", "a\0b", ".."])
  func `a name that leads out is refused`(_ name: String) {
    #expect(flaw(.init("good", []), .init(name, [1])) == ReadingFlaw(.archivePath, at: 2))
  }

  @Test func `what is sealed, there twice, or not as it was is refused`() {
    #expect(flaw(.init("a", [1], flags: 1)) == ReadingFlaw(.archiveSealed, at: 1))
    #expect(flaw(.init("a", [1]), .init("a", [2])) == ReadingFlaw(.archiveTwice, at: 2))
    #expect(flaw(.init("a", [1], wrong: 1)) == ReadingFlaw(.archiveBroken, at: 1))
    // It says that it has less, and more, than it has.
    #expect(flaw(.init("a", [1, 2], size: 3)) == ReadingFlaw(.archiveBroken, at: 1))
    #expect(flaw(.init("a", [1, 2], size: 1)) == ReadingFlaw(.archiveBroken, at: 1))
  }

  @Test func `no archive unpacks to more than is taken`() throws {
    let bytes = ZipFile.bytes([.init("a", [1, 2, 3]), .init("b", [4, 5])])
    #expect(flaw(bytes, most: 5) == nil)
    #expect(flaw(bytes, most: 4) == ReadingFlaw(.archiveTooLarge, at: 2))
    // Zeros, packed in a thousandth of their room.
    let bomb = try fixture("bomb.zip")
    #expect(bomb.count < 40_000 && flaw(bomb) == nil)
    #expect(flaw(bomb, most: 1 << 20) == ReadingFlaw(.archiveTooLarge, at: 1))
  }

  @Test func `one that is cut anywhere is none`() throws {
    let bytes = try fixture("onepassword.1pux")
    // The last 22 bytes are those that say where the rest is.
    for count in stride(from: 0, to: bytes.count - 18, by: 7) {
      #expect(flaw(Array(bytes.prefix(count))) != nil)
    }
    #expect(flaw(Array(bytes.prefix(100))) == ReadingFlaw(.notArchive))
    #expect(flaw(Array("no archive")) == ReadingFlaw(.notArchive))
  }
}
