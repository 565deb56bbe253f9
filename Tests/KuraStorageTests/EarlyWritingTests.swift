// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import TestGround
import Testing

@testable import KuraStorage

@Suite struct `Early writing` {
  @Test(arguments: [0, 1, 1_048_575, 1_048_576, 3_000_000] as [Int])
  func `leaves the bytes and the place of a write as they are`(start: Int) throws {
    let path = Ground.onDisk.path("early")
    defer { try? FileManager.default.removeItem(atPath: path) }
    let file = open(path, O_RDWR | O_CREAT, 0o600)
    defer { close(file) }
    let content = (0..<2_100_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
    #expect(kura_write_early(file, content, content.count, start) == content.count)
    let written = try Data(contentsOf: URL(filePath: path))
    #expect(written.count == start + content.count)
    #expect(written[start...].elementsEqual(content))
  }

  @Test func `tells what went wrong as the system does`() throws {
    let file = open("/dev/null", O_RDONLY)
    defer { close(file) }
    #expect(outcome { kura_write_early(file, [1], 1, 1_048_575) } == (-1, EBADF))
    // Nothing there to begin with early, and no failure of the write that it was.
    let sink = open("/dev/null", O_WRONLY)
    defer { close(sink) }
    #expect(outcome { kura_write_early(sink, [1, 2], 2, 1_048_575) } == (2, 0))
  }

  /// What a call gives, and `errno` right after it: an expectation that is met makes calls of its own.
  private func outcome(_ call: () -> Int) -> (result: Int, number: Int32) {
    errno = 0
    let result = call()
    return (result, errno)
  }

  @Test(arguments: ["pwrite", "pwrite64"])
  func `is SQLite's way to write a vault`(name: String) throws {
    #expect(CleanPages.name != nil)
    let files = try #require(sqlite3_vfs_find("unix"))
    let call = unsafeBitCast(files.pointee.xGetSystemCall(files, name), to: Int.self)
    #expect(call != 0)
    #expect(call != Int(bitPattern: dlsym(nil, name)))
  }
}
