// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// What an agent notes for the access log.
@Suite struct LogVerbTests {
  private struct Line: Equatable {
    let verb: Verb?
    let name: String
    let detail: UInt64
    var code: UInt16 = 0
    var wasLocked = false
  }

  /// The entries of the log, without those about itself.
  private func lines(_ bench: Bench, _ wire: Wire) throws -> [Line] {
    var lines: [Line] = []
    var frame = try bench.ask(wire) { try $0.putRequest(.log) }
    while frame.type != .end {
      if frame.type != .data { throw TestFailure("the log was refused: \(frame.payload)") }
      for case .entry(let facts, _, let wasLocked, let name, _) in try LogBatch(frame.payload.span)
        .parts
      where facts.verb != 0 {
        lines.append(
          Line(
            verb: Verb(rawValue: facts.verb),
            name: String(decoding: frame.payload[name], as: UTF8.self), detail: facts.detail,
            code: facts.code, wasLocked: wasLocked))
      }
      frame = try bench.reply(on: wire)
    }
    return lines
  }

  @Test func `what is served by another path to the same vault is noted, too`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    #expect(symlink(bench.scratch.path + "/data", bench.scratch.path + "/alias") == 0)
    for path in ["/data/../data/default.kura", "/alias/default.kura"] {
      let other = try bench.client(of: bench.scratch.path + path)
      #expect(try bench.ask(other) { try $0.get("a") }.isOK)
    }
    let served = try lines(bench, wire).filter { $0.verb == .get }
    #expect(served.map(\.name) == ["a", "a"])
  }

  @Test func `a wrong passcode is noted with its reason, locked or not`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.unlock("wrong") }.failure == .wrongPasscode)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.ask(wire) { try $0.unlock("wrong, too") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let refused = try lines(bench, wire).filter { $0.code != 0 }
    #expect(refused.map(\.verb) == [.unlock, .unlock])
    #expect(refused.allSatisfy { $0.code == Failure.wrongPasscode.rawValue })
    #expect(refused.map(\.wasLocked) == [false, true])
  }

  @Test func `a batch is noted with what was stored of it`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.put("b", "1") }.isOK)
    for names in [["a", "b", "c"], ["b"]] {
      var items = try SecretBuffer(capacity: 4_096)
      for name in names {
        try items.putItem(BatchItem(name: name.utf8.span, flags: [], value: name.utf8.span))
      }
      try wire.send {
        try $0.putRequest(.putBatch(.init(flags: [], items: items.bytes, count: names.count)))
      }
      while try bench.reply(on: wire).type == .progress {}
    }
    let batches = try lines(bench, wire).filter { $0.verb == .putBatch }
    #expect(batches.map(\.detail) == [1])
  }

  @Test func `what cannot be written at a lock is told after the next unlock`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try bench.turn(3)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".log") })
    let held = open(bench.scratch.path + "/state/" + name, O_RDWR | O_CLOEXEC)
    #expect(flock(held, LOCK_EX) == 0)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    try bench.turn(2)
    #expect(flock(held, LOCK_UN) == 0)
    close(held)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let first = try bench.ask(wire) { try $0.putRequest(.log) }
    let lost = try LogBatch(first.payload.span).parts.filter { part in
      guard case .entry(let facts, _, _, _, _) = part, facts.verb == 0 else { return false }
      return LogRemark(rawValue: UInt8(truncatingIfNeeded: facts.detail)) == .lost
    }
    #expect(lost.count == 1)
  }

  @Test func `a lock wipes the keys before it touches the log, with log-sync on, too`()
    throws
  {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(
      try bench.ask(wire) { try $0.putRequest(.config(.init(.set, key: .logSync, value: 1))) }.isOK)
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
    try bench.turn(3)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".log") })
    let place = bench.scratch.path + "/state/" + name
    func size() -> Int {
      var status = stat()
      return stat(place, &status) == 0 ? Int(status.st_size) : -1
    }
    let before = size()
    bench.agent.lock(try #require(bench.agent.sessions.first), .asked)
    #expect(size() == before)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(size() > before)
  }

  @Test func `an error of the log names the log`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    try bench.turn(3)
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".log") })
    let path = bench.scratch.path + "/state/" + name
    #expect(remove(path) == 0)
    #expect(mkdir(path, 0o700) == 0)
    let refusal = try bench.ask(wire) { try $0.putRequest(.log) }
    #expect(refusal.failure == .stateUnusable)
    #expect(String(decoding: refusal.payload, as: UTF8.self).contains(".log"))
  }
}
