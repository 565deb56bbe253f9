// SPDX-License-Identifier: MIT

import Foundation
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
  let offer: Offer
  let other: Bench
  let wire: Wire

  struct Offer {
    let head, header, record: [UInt8]
  }

  /// Keeps what an agent has written, as a store does.
  final class Shelf {
    var files: [String: [UInt8]] = [:]

    /// Does what the agent of a vault wants, until there is nothing more.
    func meet(_ bench: Bench, _ wire: Wire) throws {
      try wire.send { try $0.putRequest(.sync(.init())) }
      while try serve(bench, wire) {}
    }

    /// Does one thing.
    ///
    /// - Returns: Whether there was one.
    private func serve(_ bench: Bench, _ wire: Wire) throws -> Bool {
      var errands: [StoreErrand] = []
      var bytes: [UInt8] = []
      while true {
        let frame = try bench.reply(on: wire)
        switch frame.type {
        case .progress: continue
        case .data where errands.isEmpty:
          errands.append(try StoreErrand(data: frame.payload.span))
        case .data: bytes += frame.payload
        default:
          #expect(frame.isOK)
          if errands[0].kind == StoreErrandKind.none { return false }
          try give(errands[0], bytes, wire)
          return true
        }
      }
    }

    /// The only head, and what it names.
    func offer() throws -> Offer {
      let name = try #require(files.keys.first { $0.hasPrefix("heads/") })
      let head = try #require(files[name])
      return Offer(
        head: head, header: try object(of: name, head[132..<164]),
        record: try object(of: name, head[100..<132]))
    }

    private func object(of head: String, _ hash: ArraySlice<UInt8>) throws -> [UInt8] {
      let name = StorePlace.hexadecimal(Array(hash))
      let place = "objects/" + head.dropFirst(6) + "/" + name.prefix(2) + "/" + name
      return try #require(files[place])
    }

    private func give(file: [UInt8]?, _ wire: Wire) throws {
      guard let file else { return try give(.missing, wire) }
      try wire.send { try $0.putRequest(.syncGiven(.init(bytes: file.span, hasMore: false))) }
    }

    private func give(_ answer: StoreAnswer, _ wire: Wire) throws {
      try wire.send { try $0.putRequest(.syncGiven(.init(answer))) }
    }

    private func give(names: [String], _ wire: Wire) throws {
      var list = try SecretBuffer(capacity: 64)
      for name in names { try list.put16(text: name) }
      try wire.send {
        try $0.putRequest(
          .syncGiven(.init(names: KeyFields(list.bytes, count: names.count), hasMore: false)))
      }
    }

    private func give(_ errand: StoreErrand, _ bytes: [UInt8], _ wire: Wire) throws {
      let name = String(decoding: errand.name, as: UTF8.self)
      switch errand.kind {
      case .list: try give(names: files.keys.filter { $0.hasPrefix(name + "/") }, wire)
      case .fetch: try give(file: files[name], wire)
      case .write, .delete, .none:
        files[name] = errand.kind == .write ? bytes : nil
        try give(.done, wire)
      }
    }
  }

  init() throws {
    first = try Bench()
    let desk = try first.unlocked()
    #expect(
      try first.ask(desk) {
        try $0.putRequest(.syncStart(.init(label: "desk".utf8.span, isWeakMeant: true)))
      }.isOK)
    #expect(try first.ask(desk) { try $0.put("note", "7") }.isOK)
    try store.meet(first, desk)
    offer = try store.offer()
    other = try Bench()
    wire = try other.client()
  }

  private func join(
    _ passcode: String = Bench.passcode, record: [UInt8]? = nil
  ) throws -> Received {
    let (head, header) = (offer.head, offer.header)
    let record = record ?? offer.record
    let label = Array("laptop".utf8)
    let word = Array(passcode.utf8)
    return try other.ask(wire) { buffer in
      let request = SyncJoinRequest(
        label: label.span, by: OwnerWord(.passcode, word.span), head: head.span,
        header: header.span, record: record.span)
      try buffer.putRequest(.syncJoin(request))
    }
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

  @Test func `is none after a wrong passcode, which counts`() throws {
    var last: Failure?
    for number in 0..<40 where last != .throttled { last = try join("wrong \(number)").failure }
    #expect(last == .throttled)
    #expect(try join().failure == .throttled)
    #expect(other.scratch.names(in: "data") == [])
    other.clock.pass(milliseconds: 3_600_000)
    #expect(try join().isOK)
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
