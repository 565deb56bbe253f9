// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@Suite struct SlotNoteTests {
  @Test func `a ring with notes has layout 2, and is read back as it was written`() throws {
    let encoded = noted([note(1, label: "Büro"), note(2, flags: 1, place: "/media/usb/key")])
    let ring = try Ring.decode(encoded.span)
    #expect(ring.notes.all.map(\.slot) == [identifier(1), identifier(2)])
    #expect(ring.notes[identifier(1)]?.label == Array("Büro".utf8))
    #expect(ring.notes[identifier(1)]?.isWeakCostMeant == false)
    #expect(ring.notes[identifier(2)]?.isWeakCostMeant == true)
    #expect(ring.notes[identifier(2)]?.place == Array("/media/usb/key".utf8))
    #expect(ring.notes[identifier(3)] == nil)
    #expect(try bytes(of: ring.encode()) == encoded)
  }

  @Test func `without notes the layout is 1`() throws {
    var ring = try Ring.decode(noted([note(1)]).span)
    ring.notes.keep(only: [identifier(9)])
    #expect(try bytes(of: ring.encode()) == plain)
  }

  @Test func `notes stand in the order of their slots, one for each`() throws {
    var ring = try Ring.decode(plain.span)
    for slot in [3, 1, 2, 1] as [UInt8] {
      ring.notes.set(try SlotNote(slot: identifier(slot), created: UInt64(slot) + 70))
    }
    #expect(ring.notes.all.map(\.created) == [71, 72, 73])
    #expect(try bytes(of: ring.encode()) == noted([note(1), note(2), note(3)]))
  }

  @Test func `what breaks the layout is damage`() {
    let long = String(repeating: "x", count: 65)
    let broken: [[UInt8]] = [
      noted([]), noted([note(2), note(1)]), noted([note(1), note(1)]), noted([note(1, flags: 2)]),
      noted([note(1, label: "a\nb")]), noted([note(1, label: "e\u{301}")]),
      noted([note(1, label: long)]), noted([note(1, place: "a\0b")]),
      noted((0..<17).map { note($0) }), [3] + plain.dropFirst(),
    ]
    for encoded in broken {
      #expect(failure { _ = try Ring.decode(encoded.span) } == .damaged)
    }
    for cut in cuts(noted([note(1, label: "x"), note(2)])) {
      #expect(failure { _ = try Ring.decode(cut.span) } == .damaged)
    }
  }

  @Test func `mutated notes are refused or read, never a trap`() {
    for changed in Mutations(of: noted([note(1, label: "work"), note(2, place: "/a")])) {
      _ = failure {
        let ring = try Ring.decode(changed.span)
        #expect(bytes(of: try ring.encode()) == changed)
      }
    }
  }

  @Test func `a label is brought to its normal form`() throws {
    #expect(try SlotLabel.prepare("e\u{301}".utf8.span) == Array("\u{E9}".utf8))
    #expect(try SlotLabel.prepare("".utf8.span) == [])
    #expect(
      failure { _ = try SlotLabel.prepare("a\tb".utf8.span) } == .labelInvalid(.controlCharacter))
  }

  @Test func `a code is as good as its machine's secret`() throws {
    let salt: Salt = identifier(4)
    let cost = KDFParameters(memory: 8_192, passes: 1)
    let header = SlotHeader(kind: .local, kdf: cost, salt: salt, id: identifier(5))
    func key(_ code: String, _ device: UInt8) throws -> [UInt8] {
      let device = [UInt8](repeating: device, count: 32)
      let secret = try SlotSecret(
        code: code.utf8.span, device: device.span, salt: salt, cost: cost)
      return bytes(of: try secret.keyEncryptionKey(vault: identifier(6), header: header))
    }
    #expect(try key("1234", 1) == key("1234", 1))
    #expect(try key("1234", 1) != key("1234", 2))
    #expect(try key("1234", 1) != key("1235", 1))
  }

  private let plain: [UInt8] =
    [1, 1, 0] + little(UInt32(1)) + [1] + [UInt8](repeating: 0, count: 40)
    + [UInt8](repeating: 0, count: 49) + [0, 0]

  private func noted(_ notes: [[UInt8]]) -> [UInt8] {
    [2] + plain.dropFirst() + [UInt8(notes.count)] + notes.joined()
  }

  private func note(
    _ slot: UInt8, flags: UInt8 = 0, label: String = "", place: String = ""
  ) -> [UInt8] {
    let id: SlotID = identifier(slot)
    return id.bytes + little(UInt64(slot) + 70) + [flags] + little(UInt16(label.utf8.count))
      + Array(label.utf8) + little(UInt16(place.utf8.count)) + Array(place.utf8)
  }
}
