// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@Suite struct SecretBufferTests {
  @Test func `appended bytes stand in order, integers with the least significant first`() throws {
    var buffer = try SecretBuffer(capacity: 0)
    try buffer.append(0xFF)
    try buffer.append([1, 2].span)
    try buffer.append(integer: UInt32(0x0403_0201))
    try buffer.append(integer: UInt64.max - 1)
    let expected: [UInt8] = [0xFF, 1, 2, 1, 2, 3, 4, 0xFE] + [UInt8](repeating: 0xFF, count: 7)
    #expect(bytes(buffer.bytes) == expected)
    let secret = buffer.finish()
    #expect(bytes(secret.bytes) == expected)
  }

  /// RFC 8439, A.1: the test vectors 1 and 2, one behind the other, and 5.
  @Test(arguments: [
    (
      UInt8(0),
      "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
        + "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
        + "9f07e7be5551387a98ba977c732d080dcb0f29a048e3656912c6533e32ee7aed"
        + "29b721769ce64e43d57133b074d839d531ed1f28510afb45ace10a1f4b794d6f"
    ),
    (
      UInt8(2),
      "c2c64d378cd536374ae204b9ef933fcd1a8b2288b3dfa49672ab765b54ee27c7"
        + "8a970e0e955c14f3a88e741b97c286f75f8fc299e8148362fa198a39531bed6d"
    ),
  ])
  func `a mask is the keystream of ChaCha20`(_ number: UInt8, _ stream: String) throws {
    let key = try SecretBytes(count: 32)
    var buffer = try SecretBuffer(capacity: 0)
    let zeros = [UInt8](repeating: 0, count: stream.utf8.count / 2)
    try buffer.append(zeros.span)
    buffer.mask(with: key, number: number)
    let shown = bytes(buffer.bytes).map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
    #expect(shown.joined() == stream)
  }

  @Test(arguments: [0, 1, 63, 64, 65, 1_000]) func `a mask on a mask gives back what was held`(
    _ count: Int
  ) throws {
    let counted = Array(UInt8(0)..<32)
    let key = try SecretBytes(copying: counted.span)
    let held = [UInt8](repeating: 7, count: count)
    var buffer = try SecretBuffer(capacity: 0)
    try buffer.append(held.span)
    buffer.mask(with: key, number: 1)
    #expect(count < 63 || bytes(buffer.bytes) != held)
    buffer.mask(with: key, number: 1)
    #expect(bytes(buffer.bytes) == held)
  }

  @Test func `a buffer grows without losing a byte`() throws {
    var buffer = try SecretBuffer(capacity: 1)
    var expected: [UInt8] = []
    for round in 0..<600 {
      let part = [UInt8](repeating: UInt8(truncatingIfNeeded: round), count: round)
      try buffer.append(part.span)
      expected += part
    }
    #expect(buffer.count == expected.count)
    #expect(bytes(buffer.bytes) == expected)
  }

  @Test func `an outgrown block is wiped`() async {
    await #expect(processExitsWith: .success) {
      var buffer = try SecretBuffer(capacity: 512)
      try buffer.append([UInt8](repeating: 0xA5, count: 512).span)
      let old = buffer.bytes.withUnsafeBytes { UnsafeRawBufferPointer(rebasing: $0[...]) }
      precondition(old.allSatisfy { $0 == 0xA5 })
      try buffer.reserve(1)
      precondition(!old.contains(0xA5))
    }
  }

  @Test func `a reader fills what was reserved`() throws {
    var buffer = try SecretBuffer(capacity: 0)
    try buffer.append(7)
    try buffer.reserve(100)
    let written = buffer.append(upTo: 100) { target in
      #expect(target.count == 100)
      target[0] = 8
      target[1] = 9
      return 2
    }
    #expect(written == 2)
    #expect(bytes(buffer.bytes) == [7, 8, 9])
  }

  @Test func `a reader that fails adds nothing`() throws {
    struct Failed: Error {}
    var buffer = try SecretBuffer(capacity: 64)
    #expect(throws: Failed.self) {
      try buffer.append(upTo: 10) { _ throws(Failed) in throw Failed() }
    }
    #expect(buffer.count == 0)
  }

  @Test func `bytes that are held can be replaced`() throws {
    var buffer = try SecretBuffer(capacity: 8)
    try buffer.append([1, 2, 3, 4].span)
    buffer.overwrite(at: 1, with: [9, 9].span)
    #expect(bytes(buffer.bytes) == [1, 9, 9, 4])
  }

  @Test func `dropping from either end wipes what is dropped`() throws {
    var buffer = try SecretBuffer(capacity: 64)
    try buffer.append([1, 2, 3, 4, 5].span)
    buffer.removeFirst(2)
    #expect(bytes(buffer.bytes) == [3, 4, 5])
    buffer.removeLast(1)
    #expect(bytes(buffer.bytes) == [3, 4])
    let block = buffer.bytes.withUnsafeBytes { bytes in
      UnsafeRawBufferPointer(start: bytes.baseAddress, count: 5)
    }
    #expect(Array(block) == [3, 4, 0, 0, 0])
    buffer.removeAll()
    #expect(buffer.count == 0)
    #expect(block.allSatisfy { $0 == 0 })
  }

  @Test func `room that no memory can hold is refused and nothing is lost`() throws {
    var buffer = try SecretBuffer(capacity: 8)
    try buffer.append(5)
    #expect(throws: SecureMemoryError.self) { try buffer.reserve(Int.max) }
    #expect(bytes(buffer.bytes) == [5])
  }
}
