// SPDX-License-Identifier: MIT

import CKuraSystem
import Foundation
import Testing

/// What functions that have returned leave below the stack's end.
@Suite struct StackTests {
  @Test func `is there without a wipe, and gone with it`() throws {
    #expect(try remains(wiping: false) > 0)
    #expect(try remains(wiping: true) == 0)
  }

  /// How often the word of a function that returned stands in the stack of its thread, which has ended.
  private func remains(wiping: Bool) throws -> Int {
    let size = 1 << 20
    let stack = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 4_096)
    defer { stack.deallocate() }
    stack.initializeMemory(as: UInt8.self, repeating: 0, count: size)
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    try #require(pthread_attr_setstack(&attributes, stack, size) == 0)
    var thread = pthread_t()
    let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { wiping in
      leaveWord()
      if wiping != nil { kura_stack_wipe() }
      return nil
    }
    try #require(pthread_create(&thread, &attributes, body, wiping ? stack : nil) == 0)
    pthread_join(thread, nil)
    let words = UnsafeRawBufferPointer(start: stack, count: size).assumingMemoryBound(
      to: UInt64.self)
    return words.count { $0 == word }
  }
}

private let word: UInt64 = 0x6B75_7261_2D73_7461

@inline(never)
private func leaveWord() {
  // 1,024 bytes and less stand on the stack.
  withUnsafeTemporaryAllocation(of: UInt64.self, capacity: 128) { buffer in
    for index in buffer.indices { buffer[index] = word }
  }
}
