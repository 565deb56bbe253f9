// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct EraseRuleTests {
  private let secret = (0..<32).map { UInt8($0) }
  private let slot = Self.slot(0xB0)

  private static func slot(_ first: UInt8) -> SlotID {
    let bytes = (0..<16).map { first + UInt8($0) }
    return SlotID(bytes.span)
  }

  @Test func `what was written is read`() throws {
    let bytes = try EraseRule(slot: slot, limit: 10).encode(secret: secret.span)
    #expect(bytes.count == EraseRule.byteCount)
    let rule = try EraseRule(decoding: bytes.span, secret: secret.span, slot: slot)
    #expect(rule.limit == 10)
  }

  @Test func `every changed bit, another secret and another slot are refused`() throws {
    let bytes = try EraseRule(slot: slot, limit: 10).encode(secret: secret.span)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(throws: FormatError.damaged) {
        try EraseRule(decoding: changed.span, secret: secret.span, slot: slot)
      }
    }
    let other = [UInt8](repeating: 7, count: 32)
    #expect(throws: FormatError.damaged) {
      try EraseRule(decoding: bytes.span, secret: other.span, slot: slot)
    }
    #expect(throws: FormatError.damaged) {
      try EraseRule(decoding: bytes.span, secret: secret.span, slot: Self.slot(0xC0))
    }
    #expect(throws: FormatError.damaged) {
      try EraseRule(decoding: bytes.span.extracting(first: 71), secret: secret.span, slot: slot)
    }
  }
}
