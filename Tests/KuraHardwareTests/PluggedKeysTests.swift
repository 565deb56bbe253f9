// SPDX-License-Identifier: MIT

import Foundation
import TestGround
import Testing

@testable import KuraFIDO

/// Which security keys are plugged in that somebody may not use, as the kernel lists them.
@Suite("Security keys that are plugged in") struct PluggedKeysTests {
  /// Usage page (FIDO), usage (U2F HID device), collection, and its end.
  private static let key: [UInt8] = [0x06, 0xD0, 0xF1, 0x09, 0x01, 0xA1, 0x01, 0xC0]
  /// Usage page (generic desktop), usage (keyboard).
  private static let keyboard: [UInt8] = [0x05, 0x01, 0x09, 0x06, 0xA1, 0x01, 0xC0]

  private func list(_ devices: [String: [UInt8]]) throws -> String {
    let place = try Ground.inMemory.directory("hidraw")
    for (name, descriptor) in devices {
      let device = place + "/" + name + "/device"
      try FileManager.default.createDirectory(atPath: device, withIntermediateDirectories: true)
      try Data(descriptor).write(to: URL(filePath: device + "/report_descriptor"))
    }
    return place
  }

  @Test func `are told by their reports, and named where this user may not use them`() throws {
    let place = try list([
      "hidraw0": Self.keyboard, "hidraw9": Self.key, "hidraw12": Self.key, "hidraw3": Self.key,
      "other": Self.key,
    ])
    defer { try? FileManager.default.removeItem(atPath: place) }
    func denied(_ usable: Set<String>) -> UInt32? {
      PluggedKeys(list: place, devices: "/dev") { usable.contains($0) }.denied
    }
    #expect(denied(["/dev/hidraw3", "/dev/hidraw9", "/dev/hidraw12"]) == nil)
    #expect(denied(["/dev/hidraw3"]) == 9)
    #expect(denied([]) == 3)
    #expect(PluggedKeys(list: place + "/nowhere", devices: "/dev") { _ in false }.denied == nil)
  }

  @Test func `are known by the page of usages alone, wherever it stands`() {
    #expect(PluggedKeys.isOfKey(Self.key) && !PluggedKeys.isOfKey(Self.keyboard))
    #expect(PluggedKeys.isOfKey(Self.keyboard + Self.key))
    // As four bytes; within a long item; as the value of another item; cut off.
    #expect(PluggedKeys.isOfKey([0x07, 0xD0, 0xF1, 0x00, 0x00]))
    #expect(!PluggedKeys.isOfKey([0xFE, 0x03, 0x10, 0x06, 0xD0, 0xF1]))
    #expect(!PluggedKeys.isOfKey([0x0A, 0xD0, 0xF1]))
    #expect(!PluggedKeys.isOfKey([0x06, 0xD0]) && !PluggedKeys.isOfKey([]))
  }
}
