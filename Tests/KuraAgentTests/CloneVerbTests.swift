// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import KuraVault
import Testing

@testable import KuraAgent

/// A clone is made beside everything else, whole or not at all.
@Suite struct `A clone under way` {
  private func ask(
    _ wire: Wire, _ path: String, _ bench: Bench, _ passcode: String = Bench.passcode
  ) throws -> Received {
    try wire.send {
      try $0.putRequest(
        .clone(
          .init(
            slots: .init(current: passcode.utf8.span, keyFile: "".utf8.span, flags: []),
            path: path.utf8.span)))
    }
    return try bench.reply(on: wire)
  }

  /// Waits for what a thread does, while the agent's clock goes on.
  private func next(on wire: Wire, _ bench: Bench, until deadline: Int) throws -> Received? {
    for _ in 0..<deadline {
      bench.clock.pass(milliseconds: 50)
      try bench.turn()
      wire.receive()
      if let frame = try wire.nextFrame() { return frame }
      usleep(1_000)
    }
    return nil
  }

  private func end(on wire: Wire, _ bench: Bench) throws -> Received {
    while let frame = try next(on: wire, bench, until: 30_000) {
      if frame.type != .progress { return frame }
    }
    throw TestFailure("no end came")
  }

  @Test func `serves others, and is a vault that opens by the same passcode`() throws {
    let bench = try Bench()
    let wire = try bench.filled(120)
    let other = try bench.client()
    let path = bench.scratch.path + "/clone.kura"
    #expect(try ask(wire, path, bench).isOK)
    #expect(!FileManager.default.fileExists(atPath: path))
    try wire.send { try $0.putConfirm() }
    var served = 0
    while let frame = try next(on: wire, bench, until: 30_000), frame.type == FrameType.progress {
      #expect(try bench.ask(other) { try $0.get("item/\(served)") }.isOK)
      #expect(try bench.ask(other) { try $0.put("new/\(served)", "value") }.isOK)
      served += 1
    }
    #expect(served > 2)
    let clone = try bench.client(of: path)
    #expect(try bench.ask(clone) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(clone) { try $0.get("item/7") }.value == "7")
    #expect(bench.agent.sessions.count { $0.isUnlocked } == 2)
    let ids = try bench.agent.sessions.map { session in
      try session.withVault { vault throws(VaultError) in vault.id }
    }
    #expect(Set(ids).count == 2)
  }

  @Test func `ends with a lock, and leaves nothing`() throws {
    let bench = try Bench()
    let wire = try bench.filled(120)
    let other = try bench.client()
    let path = bench.scratch.path + "/clone.kura"
    #expect(try ask(wire, path, bench).isOK)
    try wire.send { try $0.putConfirm() }
    // Amid the sealing, not only amid the copying.
    var frame = try next(on: wire, bench, until: 30_000)
    while frame?.type == .progress, bench.isCopying(wire) {
      frame = try next(on: wire, bench, until: 30_000)
    }
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try end(on: wire, bench).failure == .locked)
    try bench.turn(5)
    #expect(bench.scratch.names(in: "").filter { $0.contains("kura-backup") } == [])
    #expect(!FileManager.default.fileExists(atPath: path))
  }

  @Test func `is refused where something stands, and without the passcode`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let path = bench.scratch.path + "/clone.kura"
    #expect(try ask(wire, "clone.kura", bench).failure == .pathInvalid)
    #expect(try ask(wire, path, bench, "wrong").failure == .wrongPasscode)
    #expect(FileManager.default.createFile(atPath: path, contents: Data("mine".utf8)))
    #expect(try ask(wire, path, bench).isOK)
    try wire.send { try $0.putConfirm() }
    #expect(try end(on: wire, bench).refusal == .vaultExists(.text(path)))
    let gone = bench.scratch.path + "/gone/clone.kura"
    #expect(try ask(wire, gone, bench).isOK)
    try wire.send { try $0.putConfirm() }
    #expect(try end(on: wire, bench).refusal == .backupFailed(errno: ENOENT, .text(gone)))
    #expect(FileManager.default.contents(atPath: path) == Data("mine".utf8))
    #expect(try bench.ask(wire) { try $0.put("a", "1") }.isOK)
  }
}

extension Bench {
  /// Whether a clone's thread is still at work.
  fileprivate func isCopying(_ wire: Wire) -> Bool {
    agent.connections.contains { ($0.phase.stream as? CloneWork)?.isCopying == true }
  }
}
