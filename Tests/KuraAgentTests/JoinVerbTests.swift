// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraProtocol
import KuraTerms
import KuraVault
import SecureMemory
import Testing

@testable import KuraAgent

/// A machine without a vault gets it from a store, by what its owner knows.
@Suite struct `A vault that is joined` {
  let first: Bench
  let store = Shelf()
  let offer: Shelf.Offer
  let other: Bench
  let wire: Wire

  init() throws {
    first = try Bench()
    let desk = try first.unlocked()
    #expect(
      try first.ask(desk) {
        try $0.putRequest(.syncStart(.init(label: "desk".utf8.span, .weak)))
      }.isOK)
    #expect(try first.ask(desk) { try $0.put("note", "7") }.isOK)
    try store.meet(first, desk)
    offer = try store.offer()
    other = try Bench()
    wire = try other.client()
  }

  private func join(
    _ passcode: String = Bench.passcode, record: [UInt8]? = nil, by wire: Wire? = nil
  ) throws -> Received {
    var offer = offer
    offer.record = record ?? offer.record
    return try other.ask(wire ?? self.wire) { try Shelf.join([offer], by: passcode, &$0) }
  }

  /// Another machine of the vault, under another passcode, and what it left.
  private func changed() throws -> Shelf.Offer {
    let before = Set(store.files.keys)
    let desk = try first.client()
    let reply = try first.ask(desk) {
      try $0.changePasscode(Bench.passcode, to: "another horse staple battery")
    }
    #expect(reply.isOK)
    try store.meet(first, desk)
    #expect(Set(store.files.keys) != before)
    return try store.offer()
  }

  @Test func `is of whichever machine has the passcode, in one try`() throws {
    let fresh = try changed()
    #expect(fresh.header != offer.header)
    var junk = offer
    junk.record = offer.header
    let all = [junk, fresh, offer, fresh, junk]
    func tried(_ word: String) throws -> Failure? {
      try other.ask(wire) { try Shelf.join(all, by: word, &$0) }.failure
    }
    func failures() throws -> UInt64 {
      let id = Array(offer.head[12..<28])
      let vault = VaultID(id.span)
      return other.agent.tallies.look(at: vault).failures
    }
    #expect(try tried("wrong") == .wrongPasscode)
    #expect(try failures() == 1)
    // The same mistake again is no try.
    #expect(try tried("wrong") == .wrongPasscode)
    #expect(try failures() == 1)
    #expect(try tried("wrong, too") == .wrongPasscode)
    #expect(try failures() == 2)
    // What machines still have is as good as what one has by now.
    #expect(try tried(Bench.passcode) == nil)
    #expect(try failures() == 0)
    try store.meet(other, wire)
    #expect(try other.value("note", wire) == "7")
  }

  @Test func `is unlocked at once, and gets the rest from the store`() throws {
    #expect(try join().isOK)
    #expect(try other.status(wire)?.state == .unlocked)
    try store.meet(other, wire)
    #expect(try other.value("note", wire) == "7")
    let reply = try other.ask(wire) { try $0.putRequest(.syncStatus) }
    let status = try SyncStatusReply(reply: reply.payload.span)
    let labels = status.devices.map { String(decoding: $0.label, as: UTF8.self) }
    #expect(labels.sorted() == ["desk", "laptop"])
    // It is a vault as any.
    try other.lock(wire)
    try other.unlock(wire)
    #expect(try other.value("note", wire) == "7")
  }

  @Test func `shows no key that it would refuse, before it knows the slots of others`() throws {
    #expect(try join().isOK)
    let early = try other.add(SlotOrder(.recoveryKey), "", on: wire)
    #expect(early.failure == .slotsAwaited && early.recoveryKey == nil)
    try other.lock(wire)
    let locked = try other.add(SlotOrder(.recoveryKey), "", on: wire)
    #expect(locked.failure == .slotsAwaited && locked.recoveryKey == nil)
    try other.unlock(wire)
    let change = try other.ask(wire) {
      try $0.changePasscode(Bench.passcode, to: "another horse staple battery")
    }
    #expect(change.failure == .slotsAwaited)
    #expect(try other.add(SlotOrder(.local), "2468", on: wire).isOK)
    try store.meet(other, wire)
    let shown = try other.add(SlotOrder(.recoveryKey), "", on: wire)
    #expect(shown.recoveryKey?.count == 44)
  }

  @Test func `is none after a wrong passcode, which counts`() throws {
    var last: Failure?
    for number in 0..<40 where last != .throttled { last = try join("wrong \(number)").failure }
    #expect(last == .throttled)
    #expect(try join().failure == .throttled)
    #expect(other.scratch.names(in: "data") == [])
    other.clock.pass(milliseconds: 3_600_000)
    #expect(try join().isOK)
  }

  @Test func `is none where the machine has it at another path`() throws {
    #expect(try join().isOK)
    let second = try other.client(of: other.scratch.path + "/data/second.kura")
    #expect(try join(by: second).failure == .vaultExists)
    // Not even tried.
    #expect(try join("wrong", by: second).failure == .vaultExists)
    #expect(!other.scratch.names(in: "data").contains("second.kura"))
    try other.lock(wire)
    try other.unlock(wire)
    try store.meet(other, wire)
    #expect(try other.value("note", wire) == "7")
  }

  @Test func `is none of what nobody wrote, or where one stands`() throws {
    #expect(try join(record: offer.header).failure == .copyUnsound)
    #expect(other.scratch.names(in: "data") == [])
    try other.create()
    let before = other.scratch.names(in: "data")
    // Not even tried.
    #expect(try join("wrong").failure == .vaultExists)
    #expect(other.scratch.names(in: "data") == before)
    #expect(try other.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }
}
