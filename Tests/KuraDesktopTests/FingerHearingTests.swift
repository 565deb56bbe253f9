// SPDX-License-Identifier: MIT

import KuraHardware
import KuraTerms
import Testing

@testable import KuraDesktop

/// Whose word on a finger is taken, and which.
struct FingerHearingTests {
  private let hearing = FingerHearing(daemon: ":1.7", device: "/reader", started: 40)

  private func signal(
    _ word: String, isOver: Bool = true, sender: String = ":1.7", path: String = "/reader",
    interface: String = "net.reactivated.Fprint.Device", member: String = "VerifyStatus",
    serial: UInt64 = 41
  ) -> Signal {
    Signal(
      sender: sender, path: path, interface: interface, member: member,
      content: .status(word, isOver: isOver), serial: serial)
  }

  @Test func `fprintd says what came of it`() {
    let answers: [(String, Bool, FingerAnswer?)] = [
      ("verify-match", true, .match), ("verify-no-match", true, .noMatch),
      ("verify-unknown-error", true, .lockedOut),
      ("verify-disconnected", true, .fault(.unplugged)),
      ("verify-retry-scan", false, nil), ("verify-swipe-too-short", false, nil),
      ("verify-finger-not-centered", false, nil), ("verify-remove-and-retry", false, nil),
      ("verify-retry-scan", true, .fault(.failed)), ("of-a-later-release", true, .fault(.failed)),
    ]
    for (word, isOver, answer) in answers {
      #expect(hearing.answer(in: signal(word, isOver: isOver)) == answer, "\(word)")
    }
  }

  @Test func `nobody else does, nor about another reader`() {
    let match = "verify-match"
    for forged in [
      signal(match, sender: ":1.8"), signal(match, sender: "net.reactivated.Fprint"),
      signal(match, path: "/other"), signal(match, interface: "net.reactivated.Fprint.Manager"),
      signal(match, member: "EnrollStatus"),
    ] { #expect(hearing.answer(in: forged) == nil) }
  }

  @Test func `what was said before the reader waited is about another finger`() {
    for serial: UInt64 in [0, 39, 40] {
      #expect(hearing.answer(in: signal("verify-match", serial: serial)) == nil)
    }
    let idle = FingerHearing(daemon: ":1.7", device: "/reader")
    #expect(idle.answer(in: signal("verify-match")) == nil)
  }

  @Test func `a daemon that has gone says nothing any more`() {
    let gone = Signal(
      sender: Hearing.bus, path: "/org/freedesktop/DBus", interface: Hearing.bus,
      member: "NameOwnerChanged", content: .texts([":1.7", ":1.7", ""]))
    #expect(hearing.answer(in: gone) == .fault(.failed))
  }

  @Test func `no byte is a match but that of one`() {
    for byte in UInt8.min...UInt8.max {
      let answer = FingerAnswer(byte: byte)
      #expect(answer == nil || answer?.byte == byte)
      #expect((answer == .match) == (byte == 2))
    }
    #expect(FingerAnswer(byte: 0x80 + FingerFault.off.rawValue) == nil)
    #expect(FingerAnswer(byte: 0x80 + FingerFault.spent.rawValue) == nil)
  }
}
