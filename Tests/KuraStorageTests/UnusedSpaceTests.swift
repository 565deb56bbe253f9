// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraStorage

@Suite struct `The unused middle of a page` {
  @Test func `is zero in the file, whatever was moved or removed`() throws {
    let file = try TestFile()
    var storage = try file.open()
    let kept = try churn(&storage)
    #expect(try Data(contentsOf: URL(filePath: file.path + "-wal")).isEmpty)
    let pages = try Page.all(of: file.path)
    #expect(pages.count { $0.gap != nil } > 20)
    for page in pages { #expect(page.hasCleanGap, "page \(page.number)") }
    try storage.beginRead()
    for key in kept { #expect(try storage.holds(tag(key))) }
    storage.end()
  }

  /// Stores, replaces and removes rows of several lengths, and says which are left.
  private func churn(_ storage: inout Storage) throws -> Set<UInt64> {
    var kept: Set<UInt64> = []
    for _ in 0..<60 {
      try storage.beginWrite()
      for _ in 0..<20 {
        let key = UInt64.random(in: 0..<400)
        if kept.contains(key), Bool.random() {
          try storage.deleteItem(tag(key).span)
          kept.remove(key)
        } else {
          let body = bytes(0xB5, 72 + 256 * Int.random(in: 1...4))
          try TestItem(tag: tag(key), body: body).store(in: &storage)
          kept.insert(key)
        }
      }
      try storage.commit()
      try storage.truncateWAL()
    }
    return kept
  }

  /// Keys in no order, as tags are.
  private func tag(_ key: UInt64) -> [UInt8] {
    let mixed = (key &+ 1) &* 0x9E37_79B9_7F4A_7C15
    return (0..<16).map { UInt8(truncatingIfNeeded: mixed >> UInt64($0 % 8 * 8)) }
  }
}

/// A page as SQLite's fileformat2.html describes it.
private struct Page {
  let number: Int
  let bytes: [UInt8]

  static func all(of path: String) throws -> [Page] {
    let content = [UInt8](try Data(contentsOf: URL(filePath: path)))
    let size = Int(content[16]) << 8 | Int(content[17])
    return stride(from: 0, to: content.count, by: size).map { start in
      Page(number: start / size + 1, bytes: Array(content[start..<start + size]))
    }
  }

  var hasCleanGap: Bool { bytes[gap ?? 0..<0].allSatisfy { $0 == 0 } }

  /// What lies between the cells' addresses and the cells, on pages that have cells.
  var gap: Range<Int>? {
    let header = number == 1 ? 100 : 0
    guard [2, 5, 10, 13].contains(bytes[header]) else { return nil }
    let length = bytes[header] < 8 ? 12 : 8
    return header + length + 2 * word(header + 3)..<word(header + 5)
  }

  private func word(_ offset: Int) -> Int { Int(bytes[offset]) << 8 | Int(bytes[offset + 1]) }
}
