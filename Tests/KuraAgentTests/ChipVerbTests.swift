// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import TestChips
import Testing

@testable import KuraAgent

/// What the agent does with slots of a TPM.
@Suite struct `Slots of a TPM` {
  private let chip: FakeChip
  private let bench: Bench

  init() throws {
    let made = FakeChip()
    chip = made
    bench = try Bench { $0.chip = { _ in made } }
  }

  private func add(
    _ code: String, label: String = "", flags: SlotAddRequest.Flags = [], on wire: Wire
  ) throws {
    var order = SlotOrder(.tpm)
    order.cost = KDFParameters(memory: 8_192, passes: 1)
    order.label = label
    order.flags = flags.union(.weakKDF)
    #expect(try bench.add(order, code, on: wire).isOK)
  }

  private func remove(_ number: UInt8, on wire: Wire) throws {
    let removed = try bench.ask(wire) {
      try $0.putRequest(
        .slotRemove(
          .init(SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), number: number)))
    }
    #expect(removed.isOK)
  }

  private func labels(on wire: Wire) throws -> [String] {
    let reply = try bench.ask(wire) { try $0.putRequest(.slots) }
    let list = try SlotList(reply.payload.span)
    return list.slots.map { String(decoding: reply.payload[$0.label], as: UTF8.self) }
  }

  private func test(_ code: String, on wire: Wire) throws -> Received {
    try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.tpm, secret: code.utf8.span), number: nil)))
    }
  }

  /// Which slot a code opens; nil for none.
  private func opened(_ code: String, on wire: Wire) throws -> UInt8? {
    try test(code, on: wire).slotNumber
  }

  private func rekey(_ code: String, on wire: Wire) throws -> Received {
    let begun = try bench.ask(wire) {
      try $0.putRequest(
        .rekey(
          .init(
            current: Bench.passcode.utf8.span, keyFile: Span(), code: code.utf8.span, flags: .chip,
            removing: Span())))
    }
    guard begun.isOK else { return begun }
    var frame = try bench.ask(wire) { try $0.putConfirm() }
    while frame.type == .progress { frame = try bench.reply(on: wire) }
    return frame
  }

  @Test func `go over to another key by what is shown, and those of other machines stay behind`()
    throws
  {
    let wire = try bench.unlocked()
    chip.kept.withLock { $0.name = 2 }
    try add("", label: "elsewhere", on: wire)
    chip.kept.withLock { $0.name = 1 }
    try add("2468", label: "desk", on: wire)
    #expect(try rekey("1357", on: wire).wrong?.isCode == true)
    #expect(try labels(on: wire) == ["", "elsewhere", "desk"])
    #expect(try rekey("2468", on: wire).type == .end)
    #expect(try labels(on: wire) == ["", "desk"])
    #expect(try opened("2468", on: wire) == 2)
    try add("", label: "none", on: wire)
    #expect(try rekey("2468", on: wire).type == .end)
    #expect(try labels(on: wire) == ["", "none", "desk"])
    #expect(try rekey("", on: wire).type == .end)
    #expect(try labels(on: wire) == ["", "none"])
    #expect(try opened("", on: wire) == 1)
    #expect(try bench.ask(wire) { try $0.unlock("", kind: .tpm) }.isOK)
  }

  @Test func `do not go over while the TPM does nothing, and the vault stays as it was`() throws {
    let wire = try bench.unlocked()
    try add("2468", label: "desk", on: wire)
    chip.kept.withLock { $0.fault = ChipFault(.busy) }
    #expect(try rekey("2468", on: wire).refusal == .chipUnfit(ChipFault(.busy)))
    chip.kept.withLock { $0.fault = nil }
    #expect(try labels(on: wire) == ["", "desk"])
    #expect(try opened("2468", on: wire) == 1)
  }

  @Test
  func `give the owner's word for items and settings where that was said, and change no slot`()
    throws
  {
    let wire = try bench.unlocked()
    try add("", on: wire)
    try add("0815", on: wire)
    func set(_ value: UInt64, by code: String) throws -> Received {
      try bench.ask(wire) {
        try $0.putRequest(
          .config(
            .init(.set, key: .reuseWindow, value: value, word: OwnerWord(.tpm, code.utf8.span))))
      }
    }
    #expect(try set(1_000, by: "").failure == .ownerNeeded)
    #expect(try set(1_000, by: "0815").failure == .ownerNeeded)
    try remove(2, on: wire)
    try add("2468", flags: .withProtected, on: wire)
    #expect(try set(1_000, by: "1357").wrong?.isCode == true)
    #expect(try set(1_000, by: "2468").isOK)
    #expect(try bench.ask(wire) { try $0.put("a", "1", flags: .protect) }.isOK)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(
          .unprotect(.init(name: "a".utf8.span, word: OwnerWord(.tpm, "2468".utf8.span))))
      }.isOK)
    let removal = try bench.ask(wire) {
      try $0.putRequest(
        .slotRemove(.init(SlotAuthority(.tpm, secret: "2468".utf8.span), number: 1)))
    }
    #expect(removal.refusal == .slotsTakeOwner)
    let addition = try bench.ask(wire) {
      let order = SlotOrder(.passcode)
      try $0.putRequest(
        .slotAdd(
          .init(
            SlotAuthority(.tpm, secret: "2468".utf8.span), order, secret: "another".utf8.span,
            label: Span(), place: Span())))
    }
    #expect(addition.refusal == .slotsTakeOwner)
  }

  @Test func `spend no failure of the TPM for a hundred passcodes that are typed`() throws {
    let wire = try bench.unlocked()
    try add("2468", on: wire)
    chip.kept.withLock { $0.asked = 0 }
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    for number in 1_000..<1_100 {
      #expect(!(try bench.ask(wire) { try $0.unlock("\(number)") }.isOK))
      bench.clock.pass(milliseconds: 86_400_000)
    }
    #expect(chip.kept.withLock { $0.failures == 0 && $0.asked == 0 })
    #expect(try bench.ask(wire) { try $0.unlock("1357", kind: .tpm) }.wrong?.isCode == true)
    #expect(chip.kept.withLock { $0.failures == 1 && $0.asked == 1 })
    #expect(try bench.ask(wire) { try $0.unlock("2468", kind: .tpm) }.isOK)
  }

  @Test func `count wrong codes, and none that the TPM did not judge`() throws {
    let wire = try bench.unlocked()
    try add("2468", on: wire)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    func failures() throws -> [UInt32]? { try bench.status(wire)?.tries.map(\.failures) }
    chip.kept.withLock { $0.fault = ChipFault(.busy) }
    let unjudged = try bench.ask(wire) { try $0.unlock("2468", kind: .tpm) }
    #expect(unjudged.refusal == .chipUnfit(ChipFault(.busy)))
    #expect(try failures() == [0, 0])
    chip.kept.withLock { $0.fault = nil }
    #expect(try bench.ask(wire) { try $0.unlock("1357", kind: .tpm) }.wrong?.isCode == true)
    #expect(try failures() == [0, 1])
    chip.kept.withLock { $0.fault = ChipFault(.busy) }
    #expect(!(try bench.ask(wire) { try $0.unlock("2468", kind: .tpm) }.isOK))
    #expect(try failures() == [0, 1])
    chip.kept.withLock { $0.fault = nil }
    #expect(try bench.ask(wire) { try $0.unlock("2468", kind: .tpm) }.isOK)
    #expect(try failures() == [0, 0])
  }

  @Test func `take another code for the one that is shown, and none in the place of a code`() throws
  {
    let wire = try bench.unlocked()
    try add("2468", label: "desk", on: wire)
    let none = try bench.ask(wire) { try $0.changePasscode("2468", to: "", kind: .tpm) }
    #expect(!none.isOK)
    let wrong = try bench.ask(wire) { try $0.changePasscode("1357", to: "9753", kind: .tpm) }
    #expect(wrong.wrong?.isCode == true)
    #expect(try test("2468", on: wire).isOK)
    #expect(try bench.ask(wire) { try $0.changePasscode("2468", to: "9753", kind: .tpm) }.isOK)
    #expect(try test("2468", on: wire).failure == .wrongPasscode)
    #expect(try opened("9753", on: wire) == 1)
    #expect(try labels(on: wire) == ["", "desk"])
  }
}

/// A TPM that keeps somebody waiting.
@Suite struct `A TPM that does not answer` {
  @Test func `holds up nobody but who asked for it, whose try is none`() throws {
    let chip = HungChip()
    let bench = try Bench { $0.chip = { _ in chip } }
    let wire = try bench.unlocked()
    let other = try bench.client()
    try wire.send { try $0.putRequest(.chip) }
    while !chip.gate.isBegun { try bench.turn() }
    // What derives a key is done meanwhile, and what is counted is counted.
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(other) { try $0.unlock("wrong") }.wrong?.failures == 1)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    chip.gate.open()
    #expect(try bench.reply(on: wire).refusal == .chipUnfit(ChipFault(.programFailed)))
  }

  @Test func `keeps no passcode from being tried while a code is`() throws {
    let (chip, hung) = (FakeChip(), HungChip())
    let bench = try Bench { $0.chip = { _ in SwitchedChip(chip, hung) } }
    let wire = try bench.unlocked()
    var order = SlotOrder(.tpm)
    order.cost = KDFParameters(memory: 8_192, passes: 1)
    order.flags = .weakKDF
    #expect(try bench.add(order, "2468", on: wire).isOK)
    let other = try bench.client()
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    chip.kept.withLock { $0.fault = ChipFault(.busy) }
    try wire.send { try $0.unlock("2468", kind: .tpm) }
    while !hung.gate.isBegun { try bench.turn() }
    #expect(try bench.ask(other) { try $0.unlock("wrong") }.wrong?.failures == 1)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    hung.gate.open()
    #expect(try bench.reply(on: wire).refusal == .chipUnfit(ChipFault(.programFailed)))
    let tries = try #require(try bench.status(other)).tries
    #expect(tries.map(\.failures) == [0, 0])
  }
}

extension Received {
  fileprivate var slotNumber: UInt8? {
    (try? SlotReply(reply: payload.span)).map { $0.number }
  }
}
