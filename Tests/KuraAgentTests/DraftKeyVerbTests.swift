// SPDX-License-Identifier: MIT

import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

/// The verb for what clients hold beyond a lock.
@Suite struct DraftKeyVerbTests {
  private struct Parts: Equatable {
    var key: [UInt8] = []
    var sealed: [UInt8] = []
  }

  private func parts(_ received: Received) throws -> Parts {
    try #require(received.isOK)
    let reply = try DraftKeyReply(reply: received.payload.span)
    return Parts(
      key: reply.key.bytes.indices.map { reply.key.bytes[$0] },
      sealed: reply.sealed.bytes.indices.map { reply.sealed.bytes[$0] })
  }

  @Test func `a key is opened while the vault is unlocked, and not while it is locked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let made = try parts(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) })
    let next = try parts(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) })
    #expect(made.key != next.key)
    let again = try bench.ask(wire) { try $0.putRequest(.draftKey(.init(made.sealed.span))) }
    #expect(try parts(again) == made)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .all))) }.isOK)
    let locked = try bench.ask(wire) { try $0.putRequest(.draftKey(.init(made.sealed.span))) }
    #expect(locked.failure == .locked)
    #expect(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) }.failure == .locked)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let opened = try bench.ask(wire) { try $0.putRequest(.draftKey(.init(made.sealed.span))) }
    #expect(try parts(opened) == made)
  }

  @Test func `what was changed is refused, and the session goes on`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    var sealed = try parts(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) }).sealed
    sealed[60] ^= 1
    let refused = try bench.ask(wire) { try $0.putRequest(.draftKey(.init(sealed.span))) }
    #expect(refused.failure == .wrongKey)
    #expect(try bench.ask(wire) { try $0.putRequest(.status) }.isOK)
  }

  @Test func `another length is no request`() throws {
    for count in [1, 32, 103, 105, 65_535] {
      let bench = try Bench()
      let wire = try bench.unlocked()
      let request: [UInt8] =
        [Verb.draftKey.rawValue, UInt8(count & 0xFF), UInt8(count >> 8)]
        + [UInt8](repeating: 1, count: count)
      let refused = try bench.ask(wire) { buffer in
        try buffer.append(integer: UInt32(1 + request.count))
        try buffer.append(FrameType.request.rawValue)
        try buffer.append(request.span)
      }
      #expect(refused.failure == .malformed)
      try bench.awaitEnd(of: wire)
    }
  }

  @Test func `it is no use of the vault`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(idle: 1_000)
    bench.clock.pass(milliseconds: 900)
    _ = try parts(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) })
    bench.clock.pass(milliseconds: 100)
    #expect(try bench.ask(wire) { try $0.putRequest(.draftKey(.init())) }.failure == .locked)
  }
}
