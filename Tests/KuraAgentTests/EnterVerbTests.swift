// SPDX-License-Identifier: MIT

import KuraProtocol
import KuraTerms
import SecureMemory
import Testing

@testable import KuraAgent

/// A key that one machine gave the vault is entered on another one, by what its owner knows.
@Suite struct `A key that is entered` {
  let (desk, laptop): (Bench, Bench)
  let (first, second): (Wire, Wire)
  let store = Shelf()
  /// What the first machine left when it was alone.
  let offer: Shelf.Offer

  init() throws {
    (desk, laptop) = (try Bench(), try Bench())
    (first, second) = (try desk.unlocked(), try laptop.client())
    #expect(
      try desk.ask(first) {
        try $0.putRequest(.syncStart(.init(label: "desk".utf8.span, .weak)))
      }.isOK)
    #expect(try desk.ask(first) { try $0.put("note", "7") }.isOK)
    try store.meet(desk, first)
    let offer = try store.offer()
    self.offer = offer
    #expect(try laptop.ask(second) { try Shelf.join([offer], &$0) }.isOK)
    try store.meet(laptop, second)
    try store.meet(desk, first)
  }

  /// Gives the vault another key.
  private func rekey(_ passcode: String = Bench.passcode, removing device: [UInt8] = []) throws
    -> Received
  {
    try rekey(desk, first, passcode, removing: device)
  }

  private func rekey(
    _ bench: Bench, _ wire: Wire, _ passcode: String = Bench.passcode, removing device: [UInt8]
  ) throws -> Received {
    let begun = try bench.ask(wire) {
      try $0.putRequest(
        .rekey(
          .init(
            current: passcode.utf8.span, keyFile: Span(), flags: [], removing: device.span)))
    }
    guard begun.isOK else { return begun }
    var frame = try bench.ask(wire) { try $0.putConfirm() }
    while frame.type == .progress { frame = try bench.reply(on: wire) }
    return frame
  }

  private func enter(_ there: String, here: String? = nil) throws -> Received {
    try enter(laptop, second, there, here: here)
  }

  private func enter(
    _ bench: Bench, _ wire: Wire, _ there: String, here: String? = nil
  ) throws -> Received {
    if let here {
      try wire.send {
        try $0.putRequest(
          .syncEnter(
            .init(
              by: OwnerWord(.passcode, there.utf8.span), here: OwnerWord(.passcode, here.utf8.span))
          ))
      }
    } else {
      try wire.send {
        try $0.putRequest(
          .syncEnter(.init(by: OwnerWord(.passcode, there.utf8.span), here: OwnerWord())))
      }
    }
    var frame = try bench.reply(on: wire)
    while frame.type == .progress { frame = try bench.reply(on: wire) }
    return frame
  }

  private func status(_ bench: Bench, _ wire: Wire) throws -> SyncStatusReply {
    let reply = try bench.ask(wire) { try $0.putRequest(.syncStatus) }
    return try SyncStatusReply(reply: reply.payload.span)
  }

  @Test func `takes a meeting that found one, and the passcode`() throws {
    #expect(try enter(Bench.passcode).failure == .notFound)
    #expect(try rekey().isOK)
    #expect(try desk.ask(first) { try $0.put("later", "8") }.isOK)
    try store.meet(desk, first)
    #expect(try status(desk, first).devices.contains { $0.isBehind })
    try store.meet(laptop, second)
    #expect(try laptop.ask(second) { try $0.get("later") }.failure == .notFound)
    #expect(try enter("wrong").failure == .wrongPasscode)
    #expect(try enter(Bench.passcode).isOK)
    // It is entered once.
    #expect(try enter(Bench.passcode).failure == .notFound)
    try store.meet(laptop, second)
    #expect(try laptop.value("later", second) == "8")
    try store.meet(desk, first)
    let (one, two) = (try status(desk, first), try status(laptop, second))
    #expect(one.epoch == two.epoch && !one.devices.contains { $0.isBehind })
  }

  @Test func `is forgotten at a lock`() throws {
    #expect(try rekey().isOK)
    try store.meet(desk, first)
    try store.meet(laptop, second)
    try laptop.lock(second)
    #expect(try enter(Bench.passcode).failure == .locked)
    try laptop.unlock(second)
    #expect(try enter(Bench.passcode).failure == .notFound)
  }

  @Test func `takes both passcodes where they differ`() throws {
    #expect(try desk.ask(first) { try $0.changePasscode(Bench.passcode, to: "another one") }.isOK)
    #expect(try rekey("another one").isOK)
    try store.meet(desk, first)
    try store.meet(laptop, second)
    #expect(try enter(Bench.passcode).failure == .wrongPasscode)
    #expect(try enter("another one").failure == .ownerNeeded)
    #expect(try enter("another one", here: "wrong").failure == .wrongPasscode)
    #expect(try enter("another one", here: Bench.passcode).isOK)
    try laptop.lock(second)
    #expect(try laptop.ask(second) { try $0.unlock(Bench.passcode) }.failure == .wrongPasscode)
    #expect(try laptop.ask(second) { try $0.unlock("another one") }.isOK)
  }

  @Test func `counts as one try with the passcode of here`() throws {
    #expect(try desk.ask(first) { try $0.changePasscode(Bench.passcode, to: "another one") }.isOK)
    #expect(try rekey("another one").isOK)
    try store.meet(desk, first)
    try store.meet(laptop, second)
    // Nobody erred, and who is asked for the other one has no try less.
    for _ in 0..<8 { #expect(try enter("another one").failure == .ownerNeeded) }
    var last: Failure?
    for number in 0..<40 where last != .throttled {
      last = try enter("another one", here: "wrong \(number)").failure
    }
    #expect(last == .throttled)
    // What is right there says nothing of here.
    #expect(try enter("another one").failure == .throttled)
    laptop.clock.pass(milliseconds: 60_000)
    #expect(try enter("another one", here: Bench.passcode).isOK)
  }

  @Test func `is none for a machine that is taken out`() throws {
    let devices = try status(desk, first).devices
    let own = try #require(devices.first { $0.isThis }?.device)
    let other = try #require(devices.first { !$0.isThis }?.device)
    #expect(try rekey(removing: own).failure == .notFound)
    #expect(try rekey(removing: [UInt8](repeating: 9, count: 16)).failure == .notFound)
    #expect(try rekey(removing: other).isOK)
    #expect(try rekey(removing: other).failure == .notFound)
    #expect(try status(desk, first).devices.first { $0.device == other }?.isRemoved == true)
    try store.meet(desk, first)
    try store.meet(laptop, second)
    #expect(try enter(Bench.passcode).failure == .unsupported)
  }

  /// Two keys of which one took out who made the other: each opens by another passcode, and that one is entered first.
  @Test func `is tried with all that there are`() throws {
    let (tower, offer) = (try Bench(), offer)
    let third = try tower.client()
    #expect(try tower.ask(third) { try Shelf.join([offer], &$0) }.isOK)
    for _ in 0..<2 {
      for (bench, wire) in [(tower, third), (desk, first), (laptop, second)] {
        try store.meet(bench, wire)
      }
    }
    let own = try #require(try status(desk, first).devices.first { $0.isThis }?.device)
    let before = store.files
    #expect(try desk.ask(first) { try $0.changePasscode(Bench.passcode, to: "of desk") }.isOK)
    #expect(try rekey("of desk").isOK)
    try store.meet(desk, first)
    let apart = store.files
    store.files = before
    #expect(try rekey(laptop, second, removing: own).isOK)
    try store.meet(laptop, second)
    store.files.merge(apart.filter { before[$0.key] != $0.value }) { _, other in other }
    try store.meet(tower, third)
    #expect(try enter(tower, third, Bench.passcode).failure == .changedMeanwhile)
    #expect(try enter(tower, third, "wrong", here: Bench.passcode).failure == .wrongPasscode)
    #expect(try enter(tower, third, "of desk", here: Bench.passcode).isOK)
    try store.meet(tower, third)
    #expect(try enter(tower, third, Bench.passcode, here: "of desk").isOK)
    #expect(try tower.value("note", third) == "7")
  }
}
