// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import KuraVault
import SecureMemory
import Testing

@testable import KuraAgent

/// Two copies of a vault, each at an agent of its own, are brought together while others are served.
@Suite struct `A merge under way` {
  let bench: Bench
  let wire: Wire
  /// What another machine has.
  let there: Bench

  init() throws {
    bench = try Bench()
    wire = try bench.filled(8)
    #expect(try bench.ask(wire) { try $0.putRequest(.takeOver) }.isOK)
    there = try Bench()
    try bench.lock(wire)
    try FileManager.default.createDirectory(
      atPath: there.scratch.path + "/data", withIntermediateDirectories: true,
      attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: bench.vault, toPath: there.vault)
    try bench.unlock(wire)
  }

  /// Changes the other copy, which is closed then.
  private func elsewhere(_ change: (Wire) throws -> Void) throws {
    let wire = try there.client()
    try there.unlock(wire)
    try change(wire)
    try there.lock(wire)
  }

  private func fill(_ bench: Bench, _ wire: Wire, _ folder: String, _ count: Int) throws {
    for number in 0..<count { try bench.put("\(folder)/\(number)", folder, wire) }
  }

  private func begin(_ key: String? = nil, isTrial: Bool = false) throws {
    let word = OwnerWord(key == nil ? nil : .passcode, (key ?? "").utf8.span)
    try wire.send {
      try $0.putRequest(.merge(.init(path: there.vault.utf8.span, isTrial: isTrial, by: word)))
    }
  }

  /// Goes on until the end, or what stands in its place.
  ///
  /// - Parameter atStep: Called at each word about progress.
  private func end(
    _ atStep: () throws -> Void = {}
  ) throws -> (last: Received, reply: [UInt64]) {
    var counts: [UInt64] = []
    while true {
      let frame = try bench.reply(on: wire)
      switch frame.type {
      case .progress: try atStep()
      case .data:
        let reply = try MergeReply(data: frame.payload.span)
        counts = [reply.added, reply.changed, reply.conflicting]
      default: return (frame, counts)
      }
    }
  }

  private func names(_ other: Wire) throws -> [String] {
    try other.send { try $0.list() }
    var names: [String] = []
    while true {
      let frame = try bench.reply(on: other)
      guard frame.type == .data else { return names }
      names += frame.names
    }
  }

  @Test func `serves others, tells how far it is, and changes nothing before its end`() throws {
    try elsewhere { try fill(there, $0, "there", 700) }
    let other = try bench.client()
    let writer = try bench.client()
    try begin()
    var (steps, meanwhile) = (0, 0)
    let (last, reply) = try end { () throws in
      steps += 1
      #expect(try bench.value("item/7", other) == "7")
      let count = try names(other).count
      if bench.isMerging {
        #expect(count == 8)
        meanwhile += 1
      }
      if steps == 1 { try writer.send { try $0.put("written", "meanwhile") } }
    }
    #expect(steps > 3 && meanwhile > 1)
    #expect(last.isOK && reply == [700, 0, 0])
    #expect(try names(other).count >= 708)
    // Who had to wait for it is served then.
    #expect(try bench.reply(on: writer).isOK)
    #expect(try bench.value("written", other) == "meanwhile")
    #expect(try bench.value("there/7", other) == "there")
  }

  @Test func `ends with a lock, and with its client, and leaves the vault as it was`() throws {
    try elsewhere { try fill(there, $0, "there", 200) }
    let other = try bench.client()
    try begin()
    #expect(try bench.reply(on: wire).type == .progress)
    try bench.lock(other)
    #expect(try end().last.failure == .locked)
    try bench.unlock(other)
    #expect(try names(other).count == 8)

    try begin()
    #expect(try bench.reply(on: wire).type == .progress)
    shutdown(wire.raw, Int32(SHUT_RDWR))
    // Nobody writes while it goes on: this waits for its end.
    #expect(try bench.ask(other) { try $0.put("after", "1") }.isOK)
    #expect(try names(other).count == 9)
  }

  @Test func `a trial changes nothing, and who writes meanwhile does not wait`() throws {
    try elsewhere { try fill(there, $0, "there", 200) }
    let other = try bench.client()
    try begin(isTrial: true)
    var count = 0
    let (last, reply) = try end { () throws in
      count += 1
      try bench.put("new/\(count)", "1", other)
    }
    #expect(last.isOK && reply == [200, 0, 0] && count > 0)
    #expect(try names(other).count == 8 + count)
  }

  @Test func `takes the passcode of a copy under another key, and counts a wrong one`() throws {
    try elsewhere { other throws in
      try fill(there, other, "there", 3)
      try there.rekey(other)
      #expect(
        try there.ask(other) { try $0.changePasscode(Bench.passcode, to: "another of there") }.isOK)
    }
    try begin()
    #expect(try end().last.refusal == .mergeRefused(.otherKey, .text(there.vault)))
    try begin(Bench.passcode)
    #expect(try bench.reply(on: wire).wrong?.failures == 1)
    try begin("another of there")
    let (last, reply) = try end()
    #expect(last.isOK && reply == [3, 0, 0])
    #expect(try bench.ask(wire) { try $0.get("there/2") }.value == "there")
    #expect(try bench.status(wire)?.tries.first { $0.kind == .passcode }?.failures == 0)
  }

  @Test func `a copy that is no copy is named, and the vault is as it was`() throws {
    let stranger = try Bench()
    try stranger.create()
    try wire.send { try $0.putRequest(.merge(.init(path: stranger.vault.utf8.span))) }
    #expect(try end().last.refusal == .mergeRefused(.otherVault, .text(stranger.vault)))
    try wire.send { try $0.putRequest(.merge(.init(path: "here.kura".utf8.span))) }
    #expect(try end().last.failure == .pathInvalid)
    // What is found out in the midst is said of the copy, too.
    try elsewhere { try fill(there, $0, "there", 3) }
    try VaultEdit.run("UPDATE item SET body = zeroblob(length(body))", at: there.vault)
    try begin()
    #expect(try end().last.refusal == .copyUnsound(.text(there.vault)))
    #expect(try names(wire).count == 8)
  }

  @Test func `conflicts come in frames of some size, of all items or of one`() throws {
    let long = "a/" + String(repeating: "long", count: 250)
    try elsewhere { other throws in
      for number in 0..<8 { try there.put("item/\(number)", "there", other) }
      try there.rename("item/3", to: long, other)
      try there.setAttributes("there", of: long, other)
    }
    for number in 0..<8 { try bench.put("item/\(number)", "here", wire) }
    try bench.setAttributes("here", of: "item/3", wire)
    try begin()
    #expect(try end().reply == [0, 8, 8])
    let all = try conflicts(nil)
    // The value of each, and more attributes of one than a frame takes.
    #expect(all.flatMap { $0 }.count == 8 + Bench.attributes)
    #expect(all.count > 4 && all.allSatisfy { $0.count < 60 })
    let one = try conflicts("item/5")
    #expect(one == [["item/5 1 "]])
    try wire.send { try $0.putRequest(.conflicts(.init(name: "no/such".utf8.span))) }
    #expect(try bench.reply(on: wire).failure == .notFound)
  }

  /// The conflicts of each frame, as `NAME PART TEXT`.
  private func conflicts(_ name: String?) throws -> [[String]] {
    try wire.send { try $0.putRequest(.conflicts(.init(name: (name ?? "").utf8.span))) }
    var frames: [[String]] = []
    while true {
      let frame = try bench.reply(on: wire)
      guard frame.type == .data else {
        #expect(frame.isOK)
        return frames
      }
      var lines: [String] = []
      try ConflictBatch(frame.payload.span).forEach(in: frame.payload.span) { conflict in
        let text = { String(decoding: frame.payload[$0], as: UTF8.self) }
        lines.append("\(text(conflict.name)) \(conflict.part) \(text(conflict.text))")
      }
      frames.append(lines)
    }
  }
}

extension Bench {
  fileprivate var isMerging: Bool {
    agent.connections.contains { $0.phase.stream is VaultMerge }
  }

  func lock(_ wire: Wire) throws {
    #expect(try ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
  }

  func unlock(_ wire: Wire) throws {
    #expect(try ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  /// Puts the vault under another key.
  fileprivate func rekey(_ wire: Wire) throws {
    let reply = try ask(wire) {
      try $0.putRequest(
        .rekey(.init(current: Bench.passcode.utf8.span, keyFile: "".utf8.span, flags: [])))
    }
    #expect(reply.isOK)
    try wire.send { try $0.putConfirm() }
    while try self.reply(on: wire).type == .progress {}
  }
}

/// What a closure of a test says of items, in a function: expectations there are told apart no other way.
extension Bench {
  fileprivate static let attributes = 100

  func value(_ name: String, _ wire: Wire) throws -> String? {
    try ask(wire) { try $0.get(name) }.value
  }

  fileprivate func put(_ name: String, _ value: String, _ wire: Wire) throws {
    #expect(try ask(wire) { try $0.put(name, value, flags: .replace) }.isOK)
  }

  fileprivate func rename(_ name: String, to new: String, _ wire: Wire) throws {
    let reply = try ask(wire) {
      try $0.putRequest(.move(.init(name: name.utf8.span, to: new.utf8.span)))
    }
    #expect(reply.isOK)
  }

  /// Sets many attributes to a value.
  fileprivate func setAttributes(_ value: String, of name: String, _ wire: Wire) throws {
    var pairs = try SecretBuffer(capacity: 4_096)
    for number in 0..<Self.attributes {
      try pairs.putPair(key: "key\(number)".utf8.span, value: value.utf8.span)
    }
    let reply = try ask(wire) {
      try $0.putRequest(
        .attributes(
          .init(
            name: name.utf8.span, set: AttributeFields(pairs.bytes, count: Self.attributes),
            delete: KeyFields())))
    }
    #expect(reply.isOK)
  }
}
