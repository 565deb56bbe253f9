// SPDX-License-Identifier: MIT

import KuraProtocol
import KuraTerms
import SecureMemory
import Testing

@testable import KuraAgent

/// Keeps what an agent has written, as a store does.
final class Shelf {
  /// Holds what a new machine begins with.
  struct Offer {
    var head, header, record: [UInt8]
  }

  /// The request that has an agent make a vault of these.
  static func join(
    _ offers: [Offer], by word: String = Bench.passcode, _ buffer: inout SecretBuffer
  ) throws {
    var list = try SecretBuffer(capacity: 4_096)
    for offer in offers {
      try list.putOffer(
        head: offer.head.span, header: offer.header.span, record: offer.record.span)
    }
    try buffer.putRequest(
      .syncJoin(
        SyncJoinRequest(
          label: "laptop".utf8.span, by: OwnerWord(.passcode, word.utf8.span),
          OfferFields(list.bytes, count: UInt8(offers.count)))))
  }

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
