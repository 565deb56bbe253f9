// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct DeviceRuleTests {
  private let secret = (0..<32).map { UInt8($0) }
  private let slot = Self.slot(0xB0)

  private static func slot(_ first: UInt8) -> SlotID {
    let bytes = (0..<16).map { first + UInt8($0) }
    return SlotID(bytes.span)
  }

  @Test func `what was written is read`() throws {
    let bytes = try DeviceRule(.erase, slot: slot, value: 10).encode(secret: secret.span)
    #expect(bytes.count == DeviceRule.byteCount)
    let rule = try DeviceRule(decoding: bytes.span, .erase, secret: secret.span, slot: slot)
    #expect(rule.value == 10)
  }

  @Test func `every changed bit, another secret and another slot are refused`() throws {
    let bytes = try DeviceRule(.erase, slot: slot, value: 10).encode(secret: secret.span)
    for index in bytes.indices {
      var changed = bytes
      changed[index] ^= 1
      #expect(throws: FormatError.damaged) {
        try DeviceRule(decoding: changed.span, .erase, secret: secret.span, slot: slot)
      }
    }
    let other = [UInt8](repeating: 7, count: 32)
    #expect(throws: FormatError.damaged) {
      try DeviceRule(decoding: bytes.span, .erase, secret: other.span, slot: slot)
    }
    #expect(throws: FormatError.damaged) {
      try DeviceRule(decoding: bytes.span, .erase, secret: secret.span, slot: Self.slot(0xC0))
    }
    #expect(throws: FormatError.damaged) {
      try DeviceRule(
        decoding: bytes.span.extracting(first: 71), .erase, secret: secret.span, slot: slot)
    }
  }

  @Test func `a rule about one thing is none about another`() throws {
    let bytes = try DeviceRule(.submit, slot: slot, value: 4).encode(secret: secret.span)
    #expect(
      try DeviceRule(decoding: bytes.span, .submit, secret: secret.span, slot: slot).value == 4)
    #expect(throws: FormatError.damaged) {
      try DeviceRule(decoding: bytes.span, .erase, secret: secret.span, slot: slot)
    }
  }

  @Test func `a key file's place is read as it was written, of its slot alone`() throws {
    let place = try KeyFilePlace(slot: slot, size: 64, path: Array("/media/stick/key".utf8))
    let bytes = place.encoded
    #expect(try KeyFilePlace(decoding: bytes.span, slot: slot) == place)
    #expect(throws: FormatError.damaged) {
      try KeyFilePlace(decoding: bytes.span, slot: Self.slot(0xC0))
    }
    for cut in cuts(bytes) {
      #expect(throws: FormatError.damaged) { try KeyFilePlace(decoding: cut.span, slot: slot) }
    }
    for path in ["", "media", "/a\u{0}b", "/" + String(repeating: "x", count: 1024)] {
      #expect(throws: FormatError.damaged) {
        try KeyFilePlace(slot: slot, size: 64, path: Array(path.utf8))
      }
    }
  }
}
