// SPDX-License-Identifier: MIT

import KuraProtocol
import KuraVault
import SecureMemory
import Synchronization
import Testing

@testable import KuraAgent

/// A security key with a PIN, which counts how often it was touched.
private final class OneKey: SecurityKeys {
  struct State {
    /// Which key is plugged in: the first byte of what it makes.
    var here: UInt8 = 1
    var made: UInt8 = 0
    var touches = 0
  }

  let state = Mutex(State())

  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts {
    SecurityKeyFacts(takesPIN: true, verifies: false, pinTries: 8)
  }

  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> EnrolledKey {
    let credential = state.withLock { state in
      state.made += 1
      return KeyCredential(id: [state.here, state.made], isVerified: true)!
    }
    return EnrolledKey(credential, secret: try secret(of: credential, salt: salt, pin: pin))
  }

  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    guard credential.id[0] == state.withLock({ $0.here }) else { throw ChipFault(.otherKey) }
    let isRight = pin.bytes.count == 4 && pin.bytes[0] == UInt8(ascii: "4")
    guard isRight else { throw ChipFault(.wrongPIN, 7) }
    state.withLock { $0.touches += 1 }
    let output = salt.bytes.indices.map { salt.bytes[$0] ^ credential.id[1] }
    do { return try SecretBytes(copying: output.span) } catch { throw ChipFault(.failed) }
  }
}

/// What the agent does with slots of a security key.
@Suite struct `Slots of a security key` {
  private let key: OneKey
  private let bench: Bench

  init() throws {
    let made = OneKey()
    key = made
    bench = try Bench { $0.keys = { _ in made } }
  }

  private func add(
    _ label: String, flags: SlotAddRequest.Flags = [], on wire: Wire
  ) throws {
    var order = SlotOrder(.fido2)
    (order.label, order.flags) = (label, flags)
    #expect(try bench.add(order, "4711", on: wire).isOK)
  }

  private func slots(on wire: Wire) throws -> [String] {
    let reply = try bench.ask(wire) { try $0.putRequest(.slots) }
    return try SlotList(reply.payload.span).slots.map { facts in
      let label = String(decoding: reply.payload[facts.label], as: UTF8.self)
      return "\(facts.number) " + label + (facts.flags.contains(.withProtected) ? "+" : "")
    }
  }

  private func rekey(_ slot: UInt8, _ pin: String, on wire: Wire) throws -> Received {
    let begun = try bench.ask(wire) {
      try $0.putRequest(
        .rekey(
          .init(
            current: Bench.passcode.utf8.span, keyFile: Span(), keySlot: slot, pin: pin.utf8.span,
            flags: .securityKey, removing: Span())))
    }
    guard begun.isOK else { return begun }
    var frame = try bench.ask(wire) { try $0.putConfirm() }
    while frame.type == .progress { frame = try bench.reply(on: wire) }
    return frame
  }

  /// What the log says was shown that was wrong.
  private func wrong(on wire: Wire) throws -> [UInt64] {
    var shown: [UInt64] = []
    var frame = try bench.ask(wire) { try $0.putRequest(.log) }
    while frame.type != .end {
      guard frame.type == .data else { return [] }
      for case .entry(let facts, _, _, _, _) in try LogBatch(frame.payload.span).parts
      where facts.code == Failure.wrongKey.rawValue { shown.append(facts.detail) }
      frame = try bench.reply(on: wire)
    }
    return shown
  }

  @Test func `go over to another key by a touch and the PIN, each as it was, and no others`()
    throws
  {
    let wire = try bench.unlocked()
    key.state.withLock { $0.here = 2 }
    try add("away", on: wire)
    key.state.withLock { $0.here = 1 }
    try add("blue", flags: .withProtected, on: wire)
    try add("twin", on: wire)
    let before = ["0 +", "1 away", "2 blue+", "3 twin"]
    #expect(try rekey(2, "1111", on: wire).refusal == .wrongPIN(left: 7))
    #expect(try wrong(on: wire) == [UInt64(Credential.fido2.rawValue)])
    #expect(try rekey(1, "4711", on: wire).refusal == .chipUnfit(ChipFault(.otherKey)))
    #expect(try rekey(0, "4711", on: wire).refusal == .slotOfOtherKind(0, .fido2))
    #expect(try slots(on: wire) == before)
    let touches = key.state.withLock { $0.touches }
    #expect(try rekey(2, "4711", on: wire).type == .end)
    #expect(key.state.withLock { $0.touches } == touches + 1)
    #expect(try slots(on: wire) == ["0 +", "2 blue+"])
    #expect(try bench.ask(wire) { try $0.unlock("4711", kind: .fido2) }.isOK)
  }
}
