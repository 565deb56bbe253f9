// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraAgent

private let minute: UInt64 = 60_000

@Suite struct SessionVerbTests {
  @Test func `a vault is created, unlocked, used and locked`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    #expect(try bench.status(wire)?.state == .locked)
    #expect(try bench.status(wire)?.lockReason == .neverUnlocked)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(wire) { try $0.put("a/b", "secret") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a/b") }.value == "secret")
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let refused = try bench.ask(wire) { try $0.get("a/b") }
    #expect(refused.failure == .locked)
    #expect(refused.lockReason == .asked)
    #expect(try bench.status(wire)?.lockReason == .asked)
  }

  @Test func `values are there again after the next unlock`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    _ = try bench.ask(wire) { try $0.unlock(Bench.passcode) }
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `a locked vault is one file`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }

  @Test func `a request about no vault is refused as that`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .noVault)
    #expect(try bench.ask(wire) { try $0.putRequest(.status) }.failure == .noVault)
    #expect(try bench.ask(wire) { try $0.unlock("x") }.failure == .noVault)
    #expect(try bench.ask(wire) { try $0.unlock("x") }.refusal == .noVault(.text(bench.vault)))
  }

  @Test func `a wrong passcode leaves the vault locked`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.unlock("wrong") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .neverUnlocked)
  }

  @Test func `a wrong passcode leaves an unlocked vault unlocked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.unlock("wrong") }.failure == .wrongPasscode)
    #expect(try bench.status(wire)?.state == .unlocked)
  }

  @Test func `locking is needed by nobody twice`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.suspend, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.status(wire)?.lockReason == .suspend)
  }
}

// MARK: - Clocks

extension SessionVerbTests {
  @Test func `the clocks are compared before a request is served`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    // No timer fires here: the clock is the test's.
    bench.clock.pass(milliseconds: 15 * minute)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .idle)
  }

  @Test func `serving and storing values extends the idle clock`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(idle: 1_000)
    for number in 0..<5 {
      bench.clock.pass(milliseconds: 900)
      #expect(try bench.ask(wire) { try $0.put("a\(number)", "1") }.isOK)
      bench.clock.pass(milliseconds: 900)
      #expect(try bench.ask(wire) { try $0.get("a\(number)") }.value == "1")
    }
  }

  @Test func `looking around does not extend the idle clock`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(idle: 1_000)
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    bench.clock.pass(milliseconds: 900)
    #expect(try bench.status(wire)?.idleLeft == 100)
    #expect(try bench.ask(wire) { try $0.show("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.list() }.names == ["a"])
    #expect(try bench.reply(on: wire).type == .end)
    #expect(try bench.status(wire)?.idleLeft == 100)
  }

  @Test func `the session ends however much the vault is used`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked(max: 2_000)
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    bench.clock.pass(milliseconds: 1_999)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .sessionLimit)
  }

  @Test func `a machine that slept locks before it answers`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    bench.clock.sleep(milliseconds: 3_000)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .slept)
  }

  @Test func `a vault may stay unlocked in sleep where its owner wants that`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let set = try bench.ask(wire) { try $0.set(.lockOnSleep, 0) }
    #expect(set.isOK)
    bench.clock.sleep(milliseconds: 3_000)
    let status = try bench.status(wire)
    #expect(status?.state == .unlocked)
    #expect(status?.weaknesses.contains(.staysOpenInSleep) == true)
  }

  @Test func `a new idle timeout holds at once and after the next unlock`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) {
      try $0.putRequest(.config(.init(.set, key: .idleTimeout, value: 2_000)))
    }
    #expect(try bench.status(wire)?.idleTimeout == 2_000)
    bench.clock.pass(milliseconds: 2_000)
    #expect(try bench.ask(wire) { try $0.get("a") }.lockReason == .idle)
    _ = try bench.ask(wire) { try $0.unlock(Bench.passcode) }
    #expect(try bench.status(wire)?.idleTimeout == 2_000)
  }

  @Test func `a setting out of range is refused with its range`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let refused = try bench.ask(wire) {
      try $0.putRequest(.config(.init(.set, key: .idleTimeout, value: 1)))
    }
    #expect(refused.refusal == .settingInvalid(.idleTimeout))
  }

  @Test func `every turn locks what is due, requests or not`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    bench.clock.pass(milliseconds: 15 * minute)
    try bench.turn()
    #expect(try #require(bench.agent.sessions.first).isUnlocked == false)
    #expect(try bench.status(wire)?.lockReason == .idle)
    // Who locks what is locked already is answered when the file is whole, too.
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }
}

// MARK: - Attempts

extension SessionVerbTests {
  @Test func `a lock during an unlock is meant`() throws {
    let bench = try Bench()
    try bench.create()
    let (asker, locker) = (try bench.client(), try bench.client())
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    try asker.send { try $0.unlock(Bench.passcode) }
    try bench.turn()
    #expect(try bench.status(locker)?.state == .unlocking)
    #expect(try bench.ask(locker) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.reply(on: asker).failure == .locked)
    gate.open()
    try bench.settle(locker)
    #expect(try bench.status(locker)?.state == .locked)
  }

  @Test func `an unlock dies with its client`() throws {
    let bench = try Bench()
    try bench.create()
    var asker: Wire? = try bench.client()
    let other = try bench.client()
    let gate = Gate()
    defer { gate.open() }
    bench.agent.worker.start(gate)
    try asker?.send { try $0.unlock(Bench.passcode) }
    try bench.turn()
    asker = nil
    try bench.settle(other)
    #expect(try bench.status(other)?.state == .locked)
    let behind = Gate()
    bench.agent.worker.start(behind)
    gate.open()
    behind.awaitBegin()
    behind.open()
    try bench.turn()
    #expect(try bench.status(other)?.state == .locked)
  }

  @Test func `two clients that unlock at once both succeed`() throws {
    let bench = try Bench()
    try bench.create()
    let (first, second) = (try bench.client(), try bench.client())
    try first.send { try $0.unlock(Bench.passcode) }
    try bench.turn()
    try second.send { try $0.unlock(Bench.passcode) }
    #expect(try bench.reply(on: first).isOK)
    let reply = try bench.reply(on: second)
    #expect(try UnlockReply(reply: reply.payload.span).notices.contains(.alreadyUnlocked))
  }

  @Test func `unlocking again sets new limits`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode, idle: 5_000) }.isOK)
    #expect(try bench.status(wire)?.idleTimeout == 5_000)
  }

  @Test func `who waits is answered by somebody else's unlock`() throws {
    let bench = try Bench()
    try bench.create()
    let (waiter, other) = (try bench.client(), try bench.client())
    try waiter.send { try $0.putRequest(.wait(.init(milliseconds: 60_000))) }
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.reply(on: waiter).isOK)
  }

  @Test func `who waits too long is told that the vault is locked`() throws {
    let bench = try Bench()
    try bench.create()
    let waiter = try bench.client()
    try waiter.send { try $0.putRequest(.wait(.init(milliseconds: 60_000))) }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 60_000)
    #expect(try bench.reply(on: waiter).failure == .locked)
  }

  @Test func `waiting for an unlocked vault takes no time`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.putRequest(.wait(.init(milliseconds: 0))) }.isOK)
  }
}

// MARK: - Creation and passcodes

extension SessionVerbTests {
  @Test func `a vault is there only after the client's word`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    let reply = try bench.ask(wire) { try $0.create("x", flags: [.weakKDF, .recoveryKey]) }
    #expect(reply.recoveryKey?.count == 44)
    #expect(!bench.scratch.names(in: "data").contains("default.kura"))
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    #expect(bench.scratch.names(in: "data") == ["default.kura"])
  }

  @Test func `a hang-up before that leaves nothing behind`() throws {
    let bench = try Bench()
    var wire: Wire? = try bench.client()
    if let wire { #expect(try bench.ask(wire) { try $0.create("x") }.isOK) }
    wire = nil
    try bench.turn(3)
    #expect(bench.scratch.names(in: "data") == [])
  }

  @Test func `a vault that is there is never overwritten`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    _ = try bench.ask(wire) { try $0.put("a", "1") }
    #expect(try bench.ask(wire) { try $0.create("other") }.failure == .vaultExists)
    #expect(try bench.ask(wire) { try $0.get("a") }.value == "1")
  }

  @Test func `a weak key derivation has to be asked for`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    #expect(try bench.ask(wire) { try $0.create("x", flags: []) }.failure == .kdfTooWeak)
  }

  @Test func `the passcode changes, and the old one opens nothing any more`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "new") }.isOK)
    #expect(try bench.status(wire)?.state == .unlocked)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock("new") }.isOK)
  }

  @Test func `a recovery key sets a new passcode on a locked vault, which stays locked`() throws {
    let bench = try Bench()
    let wire = try bench.client()
    let created = try bench.ask(wire) { try $0.create("x", flags: [.weakKDF, .recoveryKey]) }
    let key = try #require(created.recoveryKey)
    _ = try bench.ask(wire) { try $0.putConfirm() }
    let changed = try bench.ask(wire) {
      try $0.changePasscode(key, to: "new", kind: .recoveryKey, flags: [.weakKDF, .recoveryKey])
    }
    #expect(changed.recoveryKey?.count == 44)
    #expect(changed.recoveryKey != key)
    #expect(try bench.ask(wire) { try $0.putConfirm() }.isOK)
    #expect(try bench.status(wire)?.state == .locked)
    #expect(try bench.ask(wire) { try $0.unlock("x") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock(key, kind: .recoveryKey) }.failure == .wrongKey)
    #expect(try bench.ask(wire) { try $0.unlock("new") }.isOK)
  }

  @Test func `a wrong passcode changes nothing`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let refused = try bench.ask(wire) { try $0.changePasscode("wrong", to: "new") }
    #expect(refused.failure == .wrongPasscode)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }
}
