// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraAgent

private let minute: UInt64 = 60_000
private let hour = 60 * minute

@Suite struct LockStateTests {
  var clock = FakeClock()
  var session: LockState

  init() {
    session = LockState(at: clock.now)
    session.unlock(.standard, at: clock.now)
  }

  @Test func `a new session is locked and has never been unlocked`() {
    let session = LockState(at: clock.now)
    #expect(!session.isUnlocked)
    #expect(session.lockNote?.reason == .neverUnlocked)
    #expect(session.lockNote?.since == clock.now.wall)
    #expect(session.nextDeadline == nil)
    #expect(session.clocks(at: clock.now) == nil)
  }

  @Test mutating func `a locked session is never due`() {
    session.lock(.asked, at: clock.now)
    clock.sleep(milliseconds: 100 * hour)
    #expect(session.dueLock(at: clock.now) == nil)
  }
}

// MARK: - The two clocks

extension LockStateTests {
  @Test mutating func `a use after the deadline does not undo it`() {
    clock.pass(milliseconds: 15 * minute)
    session.use(at: clock.now)
    #expect(session.dueLock(at: clock.now) == .idle)
  }

  @Test mutating func `an unused vault is due exactly at its idle timeout`() {
    clock.pass(milliseconds: 15 * minute - 1)
    #expect(session.dueLock(at: clock.now) == nil)
    clock.pass(milliseconds: 1)
    #expect(session.dueLock(at: clock.now) == .idle)
  }

  @Test mutating func `use begins the idle clock anew`() {
    clock.pass(milliseconds: 15 * minute - 1)
    session.use(at: clock.now)
    clock.pass(milliseconds: 15 * minute - 1)
    #expect(session.dueLock(at: clock.now) == nil)
    clock.pass(milliseconds: 1)
    #expect(session.dueLock(at: clock.now) == .idle)
  }

  @Test mutating func `use does not extend the session`() {
    for _ in 0..<48 {
      clock.pass(milliseconds: 10 * minute)
      if session.dueLock(at: clock.now) == nil { session.use(at: clock.now) }
    }
    #expect(session.dueLock(at: clock.now) == .sessionLimit)
  }

  @Test mutating func `the session limit is named when both clocks ran out`() {
    clock.pass(milliseconds: 9 * hour)
    #expect(session.dueLock(at: clock.now) == .sessionLimit)
  }

  @Test mutating func `setting the wall clock changes nothing`() {
    clock.setWall(0)
    #expect(session.dueLock(at: clock.now) == nil)
    clock.setWall(.max)
    #expect(session.dueLock(at: clock.now) == nil)
  }

  @Test mutating func `time asleep counts for both clocks`() {
    session.adjust(
      SessionLimits(idleTimeout: hour, maxSession: 2 * hour, locksOnSleep: false), at: clock.now)
    clock.sleep(milliseconds: hour)
    #expect(session.dueLock(at: clock.now) == .idle)
    session.use(at: clock.now)
    clock.sleep(milliseconds: hour)
    #expect(session.dueLock(at: clock.now) == .sessionLimit)
  }

  @Test mutating func `the next deadline is the earlier of the two`() {
    let start = clock.now.boot
    #expect(session.nextDeadline == start + 15 * minute)
    session.adjust(
      SessionLimits(idleTimeout: hour, maxSession: minute, locksOnSleep: true), at: clock.now)
    #expect(session.nextDeadline == start + minute)
  }

  @Test mutating func `limits near the end of time do not wrap around`() {
    session.unlock(
      SessionLimits(idleTimeout: .max, maxSession: .max, locksOnSleep: true), at: clock.now)
    #expect(session.dueLock(at: clock.now) == nil)
    #expect(session.nextDeadline == .max)
  }

  @Test mutating func `a use that is older than the last one does not turn the clock back`() {
    let early = clock.now
    clock.pass(milliseconds: minute)
    session.use(at: clock.now)
    session.use(at: early)
    #expect(session.nextDeadline == clock.now.boot + 15 * minute)
  }
}

// MARK: - Sleep

extension LockStateTests {
  @Test mutating func `a sleep of more than two seconds locks`() {
    clock.sleep(milliseconds: 2_001)
    #expect(session.dueLock(at: clock.now) == .slept)
  }

  @Test mutating func `two seconds between the clocks are no sleep`() {
    clock.sleep(milliseconds: 2_000)
    #expect(session.dueLock(at: clock.now) == nil)
  }

  @Test mutating func `short sleeps add up`() {
    clock.sleep(milliseconds: 1_500)
    session.use(at: clock.now)
    clock.sleep(milliseconds: 1_500)
    #expect(session.dueLock(at: clock.now) == .slept)
  }

  @Test mutating func `sleep is named before the deadlines that passed in it`() {
    clock.sleep(milliseconds: 10 * hour)
    #expect(session.dueLock(at: clock.now) == .slept)
  }

  @Test mutating func `sleep before the unlock does not count`() {
    session.lock(.asked, at: clock.now)
    clock.sleep(milliseconds: 10 * hour)
    session.unlock(.standard, at: clock.now)
    #expect(session.dueLock(at: clock.now) == nil)
  }

  @Test mutating func `sleep does not lock where that is switched off`() {
    var limits = SessionLimits.standard
    limits.locksOnSleep = false
    session.adjust(limits, at: clock.now)
    clock.sleep(milliseconds: minute)
    #expect(session.dueLock(at: clock.now) == nil)
  }

  @Test mutating func `switching it on counts sleep from then on`() {
    var limits = SessionLimits.standard
    limits.locksOnSleep = false
    session.adjust(limits, at: clock.now)
    clock.sleep(milliseconds: minute)
    limits.locksOnSleep = true
    session.adjust(limits, at: clock.now)
    #expect(session.dueLock(at: clock.now) == nil)
    clock.sleep(milliseconds: 2_001)
    #expect(session.dueLock(at: clock.now) == .slept)
  }
}

// MARK: - Locking

extension LockStateTests {
  @Test(arguments: LockReason.allCases)
  mutating func `a lock keeps its reason, its time and the timeout that applied`(
    reason: LockReason
  ) {
    session.unlock(
      SessionLimits(idleTimeout: minute, maxSession: hour, locksOnSleep: true), at: clock.now)
    clock.pass(milliseconds: 5)
    session.lock(reason, at: clock.now)
    #expect(!session.isUnlocked)
    #expect(session.lockNote?.reason == reason)
    #expect(session.lockNote?.since == clock.now.wall)
    #expect(session.lockNote?.idleTimeout == minute)
  }

  @Test mutating func `a second lock keeps the reason of the first`() {
    session.lock(.idle, at: clock.now)
    let note = session.lockNote
    clock.pass(milliseconds: minute)
    session.lock(.asked, at: clock.now)
    #expect(session.lockNote == note)
  }

  @Test mutating func `use and limits do not unlock`() {
    session.lock(.asked, at: clock.now)
    session.use(at: clock.now)
    session.adjust(.standard, at: clock.now)
    #expect(!session.isUnlocked)
  }
}

// MARK: - Unlocking

extension LockStateTests {
  @Test func `an attempt that nothing interrupted may be used`() {
    var session = LockState(at: clock.now)
    let ticket = session.beginAttempt()
    #expect(session.isUnlocking)
    let counts = session.endAttempt(ticket)
    #expect(counts)
    #expect(!session.isUnlocking)
  }

  @Test func `a lock during an attempt makes its result useless`() {
    var session = LockState(at: clock.now)
    let ticket = session.beginAttempt()
    session.lock(.asked, at: clock.now)
    #expect(session.isUnlocking)
    let counts = session.endAttempt(ticket)
    #expect(!counts)
    #expect(!session.isUnlocked)
  }

  @Test mutating func `a lock between two attempts leaves the later one alone`() {
    let early = session.beginAttempt()
    session.lock(.suspend, at: clock.now)
    let late = session.beginAttempt()
    let earlyCounts = session.endAttempt(early)
    #expect(!earlyCounts)
    #expect(session.isUnlocking)
    let lateCounts = session.endAttempt(late)
    #expect(lateCounts)
  }

  @Test mutating func `unlocking again begins both clocks anew`() {
    clock.pass(milliseconds: 14 * minute)
    session.unlock(.standard, at: clock.now)
    #expect(session.clocks(at: clock.now)?.sessionLeft == 8 * hour)
    #expect(session.clocks(at: clock.now)?.idleLeft == 15 * minute)
    #expect(session.clocks(at: clock.now)?.since == clock.now.wall)
  }

  @Test func `an unlock asks for times of its own, and zero asks for none`() {
    let both = SessionLimits.standard.replacing(idleTimeout: 1, maxSession: 2)
    #expect(both == SessionLimits(idleTimeout: 1, maxSession: 2, locksOnSleep: true))
    #expect(SessionLimits.standard.replacing(idleTimeout: 0, maxSession: 0) == .standard)
  }
}

// MARK: - Status

extension LockStateTests {
  @Test mutating func `status counts both clocks down and stops at zero`() {
    clock.pass(milliseconds: minute)
    let clocks = session.clocks(at: clock.now)
    #expect(clocks?.idleLeft == 14 * minute)
    #expect(clocks?.sessionLeft == 8 * hour - minute)
    clock.pass(milliseconds: 20 * hour)
    #expect(session.clocks(at: clock.now)?.idleLeft == 0)
    #expect(session.clocks(at: clock.now)?.sessionLeft == 0)
  }

  @Test mutating func `looking at the clocks is no use`() {
    let deadline = session.nextDeadline
    clock.pass(milliseconds: minute)
    _ = session.clocks(at: clock.now)
    _ = session.dueLock(at: clock.now)
    #expect(session.nextDeadline == deadline)
  }
}
