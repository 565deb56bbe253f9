// SPDX-License-Identifier: MIT

import CKuraSystem
import Glibc
import Testing

/// What a process that reads a source can still do: read that source, write its answer, think.
@Suite struct ConfinementTests {
  /// How a reader ends that does this; what it writes is thrown away.
  private func end(
    bytes: Int = 1 << 31, seconds: UInt32 = 60, of act: () -> Int32
  ) throws -> Int32 {
    let null = open("/dev/null", O_RDWR)
    defer { close(null) }
    var answers: Int32 = -1
    let process = kura_reader_start(
      null, kura_reader_limits(bytes: bytes, seconds: seconds), &answers)
    if process == 0 { kura_reader_exit(act()) }
    #expect(process > 0)
    defer { close(answers) }
    return kura_reader_end(process)
  }

  private let forbidden = 128 + SIGSYS

  @Test func `it reads, writes and thinks`() throws {
    #expect(
      try end {
        var byte: UInt8 = 7
        guard read(0, &byte, 1) == 0, write(1, &byte, 1) == 1, let room = malloc(1 << 20) else {
          return 1
        }
        free(room)
        return 42
      } == 42)
  }

  @Test func `it opens nothing`() throws {
    #expect(try end { open("/etc/passwd", O_RDONLY) } == forbidden)
  }

  @Test func `it has no network, and no other socket`() throws {
    #expect(try end { socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0) } == forbidden)
    #expect(try end { socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0) } == forbidden)
  }

  @Test func `it makes no process, and becomes none`() throws {
    #expect(try end { kill(getppid(), 0) } == forbidden)
    #expect(
      try end {
        var words: [UnsafeMutablePointer<CChar>?] = [nil]
        return execve("/bin/true", &words, &words)
      } == forbidden)
    #expect(try end { kura_reader_end(1) } == forbidden)
  }

  @Test func `it writes to its answer alone`() throws {
    #expect(
      try end {
        var byte: UInt8 = 0
        return Int32(write(2, &byte, 1))
      } == forbidden)
    #expect(
      try end {
        var byte: UInt8 = 0
        return Int32(read(1, &byte, 1))
      } == forbidden)
  }

  @Test func `it runs nothing that it wrote`() throws {
    #expect(
      try end {
        mmap(nil, 4_096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED
          ? 1 : 0
      }
        == forbidden)
    #expect(
      try end {
        guard
          let room = mmap(nil, 4_096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        else { return 1 }
        return mprotect(room, 4_096, PROT_READ | PROT_EXEC)
      } == forbidden)
  }

  @Test func `it takes no more memory than it may`() throws {
    #expect(try end(bytes: 1 << 33) { malloc(1 << 31) == nil ? 1 : 42 } == 42)
    #expect(try end(bytes: 1 << 31) { malloc(1 << 31) == nil ? 42 : 1 } == 42)
  }

  @Test func `it takes no more of a processor than it may`() throws {
    #expect([128 + SIGXCPU, 128 + SIGKILL].contains(try end(seconds: 1) { while true {} }))
  }
}
