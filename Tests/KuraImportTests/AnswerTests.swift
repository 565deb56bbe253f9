// SPDX-License-Identifier: MIT

import KuraTerms
import Testing

@testable import KuraImport

/// What goes from the process that reads to the one that speaks to the agent.
@Suite struct AnswerTests {
  private var full: SourceEntry {
    var entry = SourceEntry()
    entry.place = 7
    entry.folders = [Array("a"), Array("b")]
    entry.title = Array("title")
    entry.user = Array("ada")
    entry.value = [0, 0xFF]
    entry.urls = [Array("u"), Array("v")]
    entry.notes = Array("n")
    entry.fields = [
      .init(key: Array("k"), value: Array("v"), isSecret: false),
      .init(key: Array("s"), value: [], isSecret: true),
    ]
    entry.seed = Array("seed")
    entry.attachments = [.init(name: Array("f"), bytes: [1, 2, 3])]
    (entry.created, entry.modified) = (1, .max)
    entry.tags = [Array("t")]
    entry.history = [Array("old"), Array("older")]
    entry.left = [Remark(reason: .unsupported, field: Array("passkey"))]
    entry.manner = [.trashed, .protected]
    return entry
  }

  private func written(_ body: (inout AnswerWriter) -> Void) -> [UInt8] {
    var writer = AnswerWriter()
    body(&writer)
    return writer.bytes
  }

  @Test func `an entry is what was written`() throws {
    let bytes = written {
      $0.put(full)
      $0.put(Remark(reason: .foreign, field: Array("guid")))
      $0.put(SourceEntry())
      $0.putEnd()
    }
    let expected = AnswerReader.Answer(
      entries: [full, SourceEntry()], remarks: [Remark(reason: .foreign, field: Array("guid"))])
    #expect(try AnswerReader.read(bytes) == .whole(expected))
  }

  @Test func `a flaw is what was written`() throws {
    let flaw = ReadingFlaw(.columnMissing, at: 1, "name")
    #expect(try AnswerReader.read(written { $0.put(flaw) }) == .flaw(flaw))
  }

  @Test func `an answer that is cut, or has something behind it, is none`() throws {
    let bytes = written {
      $0.put(full)
      $0.putEnd()
    }
    for count in 0..<bytes.count {
      #expect(throws: AnswerReader.Nonsense()) { try AnswerReader.read(Array(bytes[..<count])) }
    }
    #expect(throws: AnswerReader.Nonsense()) { try AnswerReader.read(bytes + [4, 0, 0, 0, 0]) }
  }

  @Test(
    arguments: [
      [9, 0, 0, 0, 0], [1, 2, 0, 0, 0, 1, 0], [1, 5, 0, 0, 0, 77, 0, 0, 0, 0],
      [3, 1, 0, 0, 0, 1], [3, 10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x1B],
      [1, 0xFF, 0xFF, 0xFF, 0xFF], [2, 1, 0, 0, 0, 99], [1, 6, 0, 0, 0, 17, 1, 0, 0, 0, 0xF0],
      [4, 1, 0, 0, 0, 0],
    ] as [[UInt8]])
  func `what nobody writes is no answer`(_ bytes: [UInt8]) {
    #expect(throws: AnswerReader.Nonsense()) { try AnswerReader.read(bytes + [4, 0, 0, 0, 0]) }
  }
}
