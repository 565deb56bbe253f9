// SPDX-License-Identifier: MIT

import KuraFormat
import KuraVault
import Testing

@testable import KuraAgent

private let second: UInt64 = 1_000
private let minute = 60 * second

@Suite struct TryPolicyTests {
  private var clock = FakeClock()
  private let origin = ClockOrigin(boot: identifier(1), namespace: 4_026_531_834)

  private func standing(_ kind: TryKind, _ tally: TryTally) -> TryStanding {
    TryPolicy.standing(kind, tally, at: clock.now.boot, in: origin)
  }

  /// A tally whose wrong tries were all made now.
  private func tally(_ failures: Int) -> TryTally {
    var tally = TryTally.none
    for _ in 0..<failures { tally.count(at: clock.now.boot, in: origin) }
    return tally
  }

  private func wait(_ kind: TryKind, _ failures: Int) -> UInt64 {
    standing(kind, tally(failures)).wait
  }

  @Test(arguments: TryKind.allCases)
  func `four wrong ones are free`(_ kind: TryKind) {
    for failures in 0...4 {
      let standing = standing(kind, tally(failures))
      #expect(standing.isAllowed)
      #expect(standing.left == UInt32(5 - failures))
      #expect(standing.failures == UInt32(failures))
    }
  }

  @Test func `wrong passcodes wait 5, 15, 30, 60 seconds and never more`() {
    let waits = (5...12).map { wait(.passcode, $0) / second }
    #expect(waits == [5, 15, 30, 60, 60, 60, 60, 60])
    var tally = tally(9)
    tally.failures = .max
    #expect(standing(.passcode, tally).wait == 60 * second)
    tally.count(at: clock.now.boot, in: origin)
    #expect(tally.failures == .max)
  }

  @Test func `wrong codes wait 1, 5, 15, 60 minutes and never more`() {
    #expect((5...10).map { wait(.local, $0) / minute } == [1, 5, 15, 60, 60, 60])
  }

  @Test func `key files wait for the passcode, however long that takes`() {
    #expect(wait(.keyFile, 5) == TryPolicy.untilPasscode)
    #expect(wait(.tpm, 4) == 0 && wait(.tpm, 5) == TryPolicy.untilPasscode)
    let tally = tally(5)
    var later = self
    later.clock.pass(milliseconds: 1_000_000 * minute)
    #expect(later.standing(.keyFile, tally).wait == TryPolicy.untilPasscode)
  }

  @Test func `a wait passes to the millisecond, asleep or awake`() {
    let tally = tally(5)
    var later = self
    later.clock.pass(milliseconds: 2 * second)
    #expect(later.standing(.passcode, tally).wait == 3 * second)
    later.clock.sleep(milliseconds: 2_999)
    #expect(later.standing(.passcode, tally).wait == 1)
    #expect(later.standing(.passcode, tally).left == 0)
    later.clock.pass(milliseconds: 1)
    #expect(later.standing(.passcode, tally).isAllowed)
    #expect(later.standing(.passcode, tally).left == 1)
  }

  @Test func `setting the clock does not help`() {
    let tally = tally(6)
    var later = self
    later.clock.setWall(.max)
    #expect(later.standing(.passcode, tally).wait == 15 * second)
    later.clock.setWall(0)
    #expect(later.standing(.passcode, tally).wait == 15 * second)
  }

  @Test func `a restart, or another time namespace, begins the wait anew, however late it is`() {
    let elsewhere = [
      ClockOrigin(boot: identifier(2), namespace: origin.namespace),
      ClockOrigin(boot: identifier(2), namespace: 0),
      ClockOrigin(boot: origin.boot, namespace: 4_026_532_001),
      ClockOrigin(boot: origin.boot, namespace: 0),
      ClockOrigin(boot: identifier(2), namespace: 4_026_532_001), .none,
    ]
    for other in elsewhere {
      for (kind, wait) in [(.passcode, 60_000), (.local, 3_600_000)] as [(TryKind, UInt64)] {
        var tally = tally(8)
        let standing = TryPolicy.standing(kind, tally, at: .max, in: other)
        #expect(standing.wait == wait && standing.mustRestart && standing.left == 0)
        // Noted, it passes like any other, there alone.
        tally.restart(at: 1_000, in: other)
        let later = TryPolicy.standing(kind, tally, at: 1_000 + wait, in: other)
        #expect(later.isAllowed && !later.mustRestart)
      }
    }
  }

  @Test func `a time that is yet to come is a whole wait, and does not shut the owner out`() {
    var tally = tally(8)
    tally.last = .max
    let standing = TryPolicy.standing(.passcode, tally, at: 60 * second, in: origin)
    #expect(standing.wait == 60 * second && standing.mustRestart)
    tally.restart(at: 60 * second, in: origin)
    #expect(TryPolicy.standing(.passcode, tally, at: 120 * second, in: origin).isAllowed)
  }
}

// MARK: - Successes

extension TryPolicyTests {
  private func record(after credential: Credential) -> [UInt32] {
    var record = TryRecord(vault: identifier(7))
    for kind in TryKind.allCases { record[kind] = tally(6) }
    record.succeed(credential)
    return [TryKind.passcode, .keyFile, .local].map { record[$0].failures }
  }

  @Test func `the passcode clears everything`() {
    #expect(record(after: .passcode) == [0, 0, 0])
  }

  @Test func `a recovery key leaves key files to the passcode`() {
    #expect(record(after: .recoveryKey) == [0, 6, 0])
  }

  @Test func `a key file clears its own`() {
    #expect(record(after: .keyFile) == [6, 0, 6])
  }
}

private func identifier<Subject>(_ byte: UInt8) -> Identifier<Subject> {
  let bytes = [UInt8](repeating: byte, count: 16)
  return Identifier(bytes.span)
}
