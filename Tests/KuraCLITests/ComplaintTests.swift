// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

@testable import KuraCLI
@testable import KuraClient

@Suite struct ComplaintTests {
  private func wrong(wait: UInt64 = 0) -> ClientError {
    var wrong = WrongPasscode()
    wrong.wait = wait
    return .refused(.wrongPasscode(wrong))
  }

  private func throttled(_ wait: UInt64) -> ClientError {
    .refused(.throttled(wait: wait, hasRecoveryKey: false))
  }

  @Test func `a wrong code is not called a passcode`() {
    #expect(Complaint(wrong(), isCode: true)?.text == "Wrong code, try again.")
    #expect(
      Complaint(wrong(), isCode: false)?.text == "Wrong passcode, try again.")
  }

  @Test func `a wait is counted down, or told to who sees no terminal`() {
    let complaint = Complaint(wrong(wait: 4_001), isCode: false)
    #expect(complaint?.wait == 4_001)
    #expect(complaint?.text == "Wrong passcode.")
    #expect(complaint?.textWithWait == "Wrong passcode. The next try is possible in 5 s.")
  }

  @Test func `a recovery key is counted in characters`() {
    let one = Complaint(.refused(.recoveryKeyTypo(.length(1))), isCode: false)
    #expect(one?.text == "It has 1 character, a recovery key has 36; try again.")
  }

  @Test func `what no other answer helps is no complaint`() {
    #expect(Complaint(.refused(.locked(LockNote())), isCode: false) == nil)
    #expect(Complaint(throttled(5_000), isCode: false) == nil)
    #expect(Complaint(.noAgent, isCode: false) == nil)
  }

  @Test func `a throttled try says how long, but not where only the passcode helps`() {
    #expect(throttled(5_000).wait == 5_000)
    #expect(throttled(TryReport.untilPasscode).wait == nil)
    #expect(wrong().wait == nil)
  }
}
