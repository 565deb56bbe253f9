// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI
@testable import KuraClient

@Suite struct ComplaintTests {
  /// A refusal as the agent sends it.
  private func refused(
    _ failure: Failure, _ detail: UInt64 = 0, _ detail2: UInt64 = 0
  ) throws -> ClientError {
    var out = try SecretBuffer(capacity: 256)
    try out.putRefusal(
      failure, detail: detail, detail2: detail2, detail3: 0, text: Span(), as: .reply)
    let frame = try #require(try Frame.next(in: out.bytes, sentBy: .agent))
    let payload = out.bytes.extracting(frame.payload)
    guard case .refused(let refusal) = try Reply(payload) else { throw Failure.fault }
    return .refused(Refused(refusal, in: payload))
  }

  @Test func `a wrong code is not called a passcode`() throws {
    #expect(Complaint(try refused(.wrongPasscode), isCode: true)?.text == "Wrong code, try again.")
    #expect(
      Complaint(try refused(.wrongPasscode), isCode: false)?.text == "Wrong passcode, try again.")
  }

  @Test func `a wait is counted down, or told to who sees no terminal`() throws {
    let complaint = Complaint(try refused(.wrongPasscode, 5, 4_001), isCode: false)
    #expect(complaint?.wait == 4_001)
    #expect(complaint?.text == "Wrong passcode.")
    #expect(complaint?.textWithWait == "Wrong passcode. The next try is possible in 5 s.")
  }

  @Test func `a recovery key is counted in characters`() throws {
    let one = Complaint(try refused(.recoveryKeyTypo, 0, 1), isCode: false)
    #expect(one?.text == "It has 1 character, a recovery key has 36; try again.")
  }

  @Test func `what no other answer helps is no complaint`() throws {
    #expect(Complaint(try refused(.locked), isCode: false) == nil)
    #expect(Complaint(try refused(.throttled, 5_000), isCode: false) == nil)
    #expect(Complaint(.noAgent, isCode: false) == nil)
  }

  @Test func `a throttled try says how long, but not where only the passcode helps`() throws {
    #expect(try refused(.throttled, 5_000).wait == 5_000)
    #expect(try refused(.throttled, TryReport.untilPasscode).wait == nil)
    #expect(try refused(.wrongPasscode, 5_000).wait == nil)
  }
}
