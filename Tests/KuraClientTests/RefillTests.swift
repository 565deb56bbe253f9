// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraClient

@Suite struct RefillTests {
  @Test func `a buffer gets once more what another process sends, whole or not`() throws {
    let text = (0..<10_000).map { UInt8(truncatingIfNeeded: $0 * 7) }
    let file = try MemoryFile.create(besides: [])
    defer { Descriptor.close(file) }
    try Descriptor.write(text.span, to: file)
    try MemoryFile.seal(file)
    var buffer = try SecretBuffer(capacity: text.count)
    for _ in text { try buffer.append(0) }
    try buffer.refill(from: file)
    #expect(text.indices.allSatisfy { buffer.bytes[$0] == text[$0] })
    var failure: FileError?
    do throws(FileError) { try buffer.refill(from: file) } catch { failure = error }
    #expect(failure == FileError(errno: 32))
  }

  @Test func `a file in memory is found through the process that has it`() {
    #expect(MemoryFile.path(12, of: 345) == "/proc/345/fd/12")
  }
}
