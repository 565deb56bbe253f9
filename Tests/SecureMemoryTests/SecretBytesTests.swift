// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

/// A copy of a secret's bytes, to compare.
func bytes(_ span: Span<UInt8>) -> [UInt8] {
  span.indices.map { span[$0] }
}

@Suite struct SecretBytesTests {
  @Test func `a new secret is zero`() throws {
    let secret = try SecretBytes(count: 100)
    #expect(bytes(secret.bytes) == [UInt8](repeating: 0, count: 100))
  }

  @Test func `an empty secret has no bytes`() throws {
    let secret = try SecretBytes(count: 0)
    #expect(secret.count == 0)
    #expect(bytes(secret.bytes) == [])
    #expect(secret.isEqual(to: Span()) == true)
  }

  @Test(arguments: [1, 63, 64, 65, 96, 97, 128, 4096, 65_536, 131_071, 131_072, 1_000_000])
  func `a secret holds what is copied into it`(count: Int) throws {
    let source = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
    let secret = try SecretBytes(copying: source.span)
    #expect(secret.count == count)
    #expect(secret.isEqual(to: source.span) == true)
  }

  @Test func `writes through a mutable view stay`() throws {
    var secret = try SecretBytes(count: 4)
    var view = secret.mutableBytes
    view[2] = 7
    #expect(bytes(secret.bytes) == [0, 0, 7, 0])
  }

  @Test func `a block that was given back is zero when it is taken again`() throws {
    for _ in 0..<100 {
      var secret = try SecretBytes(count: 200)
      #expect(bytes(secret.bytes).allSatisfy { $0 == 0 })
      var view = secret.mutableBytes
      for index in view.indices { view[index] = 0xA5 }
    }
  }

  @Test func `a destroyed secret leaves no byte behind`() async {
    // The block stays mapped in its free list, so that it can be looked at after the end. In a
    // process of its own, as another test might take it.
    await #expect(processExitsWith: .success) {
      let address = try leaveBehind([UInt8](repeating: 0xA5, count: 256))
      let block = UnsafeRawBufferPointer(start: address, count: 256)
      precondition(!block.contains(0xA5))
    }
  }

  @Test func `blocks start where libsodium's hash state may stand`() throws {
    for count in [0, 1, 65, 97, 384, 5000, 200_000] {
      let secret = try SecretBytes(count: count)
      let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
      #expect(address.isMultiple(of: 64))
    }
  }

  @Test func `shrinking keeps the front and wipes the tail`() throws {
    var secret = try SecretBytes(copying: [1, 2, 3, 4].span)
    secret.shrink(to: 2)
    #expect(bytes(secret.bytes) == [1, 2])
    let tail = secret.withUnsafeBytes { UnsafeRawBufferPointer(start: $0.baseAddress, count: 4) }
    #expect(Array(tail) == [1, 2, 0, 0])
  }

  @Test func `dropping the first bytes moves the others and wipes what they leave`() throws {
    var secret = try SecretBytes(copying: [1, 2, 3, 4].span)
    secret.removeFirst(1)
    #expect(bytes(secret.bytes) == [2, 3, 4])
    let all = secret.withUnsafeBytes { UnsafeRawBufferPointer(start: $0.baseAddress, count: 4) }
    #expect(Array(all) == [2, 3, 4, 0])
  }

  @Test func `a copy is another block with the same bytes`() throws {
    let first = try SecretBytes(copying: [9, 8, 7].span)
    var second = try first.copy()
    #expect(second.isEqual(to: first) == true)
    var view = second.mutableBytes
    view[0] = 0
    #expect(second.isEqual(to: first) == false)
  }

  @Test func `comparison sees every byte and the length`() throws {
    let source: [UInt8] = (0..<100).map { UInt8($0) }
    let secret = try SecretBytes(copying: source.span)
    for index in source.indices {
      var other = source
      other[index] ^= 0x80
      #expect(secret.isEqual(to: other.span) == false)
    }
    #expect(secret.isEqual(to: source.span.extracting(first: 99)) == false)
  }

  @Test func `a size that no memory can hold is refused`() {
    do {
      _ = try SecretBytes(count: Int.max)
      Issue.record("that much memory does not exist")
    } catch {
      #expect(error == .allocationFailed(byteCount: Int.max))
    }
  }

  @Test func `many secrets live side by side`() throws {
    let seeds = (0..<2000).map { $0 }
    try hold(seeds[...])
  }

  /// Holds a secret for each seed at the same time and checks it after all the others were made.
  private func hold(_ seeds: ArraySlice<Int>) throws {
    guard let seed = seeds.first else { return }
    let content = [UInt8](repeating: UInt8(truncatingIfNeeded: seed), count: seed % 300 + 1)
    let secret = try SecretBytes(copying: content.span)
    try hold(seeds.dropFirst())
    #expect(secret.isEqual(to: content.span) == true)
  }

  @Test func `threads share the arena`() async {
    await withTaskGroup(of: Bool.self) { group in
      for task in 0..<8 {
        group.addTask {
          (0..<2000).allSatisfy { round in
            let content = [UInt8](repeating: UInt8(task), count: (round * 37) % 900)
            guard let secret = try? SecretBytes(copying: content.span) else { return false }
            return secret.isEqual(to: content.span)
          }
        }
      }
      for await isRight in group { #expect(isRight) }
    }
  }
}

/// Makes and destroys a secret; where it was.
private func leaveBehind(_ source: [UInt8]) throws -> UnsafeRawPointer? {
  let secret = try SecretBytes(copying: source.span)
  return secret.withUnsafeBytes { bytes in
    precondition(bytes.allSatisfy { $0 == 0xA5 })
    return bytes.baseAddress
  }
}
