// SPDX-License-Identifier: MIT

import KuraHardware
import KuraTerms
import SecureMemory
import Testing

/// What the agent and `kura-hardware` say to each other, each of which reads the other as a stranger.
@Suite struct HardwareWordsTests {
  private static let object = ChipObject(
    storageKey: [1, 2, 3], publicArea: Array(repeating: 4, count: 90),
    privateArea: Array(repeating: 5, count: 600))!

  private func secret(_ byte: UInt8, _ count: Int) throws -> SecretBytes {
    try SecretBytes(copying: Array(repeating: byte, count: count).span)
  }

  private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.bytes.indices.map { secret.bytes[$0] }
  }

  private func wishes() throws -> [[UInt8]] {
    [
      bytes(try HardwareWish.look.encoded()),
      bytes(
        try HardwareWish.seal(SealOrder(secret: secret(6, 32), code: secret(7, 32))).encoded()),
      bytes(try HardwareWish.seal(SealOrder(secret: secret(6, 32), code: secret(7, 0))).encoded()),
      bytes(try HardwareWish.unseal(UnsealOrder(Self.object, code: secret(8, 32))).encoded()),
      bytes(try HardwareWish.meet(nil).encoded()),
      bytes(try HardwareWish.meet(Self.credential).encoded()),
      bytes(try wish(nil, 0).encoded()),
      bytes(try wish(Self.credential, 63).encoded()),
    ]
  }

  private static let credential = KeyCredential(
    id: Array(repeating: 7, count: 64), isVerified: true)!

  private func wish(_ credential: KeyCredential?, _ pin: Int) throws -> HardwareWish {
    .touch(KeyOrder(of: credential, salt: try secret(6, 32), pin: try secret(9, pin)))
  }

  private func answers() throws -> [[UInt8]] {
    let facts = ChipFacts(
      failures: 1, mostFailures: 32, interval: 7_200, hasLockoutPassword: true)
    return [
      bytes(try HardwareAnswer.facts(facts).encoded()),
      bytes(try HardwareAnswer.sealed(Self.object).encoded()),
      bytes(try HardwareAnswer.secret(secret(9, 32)).encoded()),
      bytes(try HardwareAnswer.fault(ChipFault(.lockedOut, 77)).encoded()),
      bytes(
        try HardwareAnswer.met(
          SecurityKeyFacts(takesPIN: true, verifies: false, pinTries: 8)
        ).encoded()),
      bytes(
        try HardwareAnswer.made(MadeCredential(Self.credential, secret: secret(9, 32))).encoded()),
    ]
  }

  @Test func `come out as they went in`() throws {
    for wish in try wishes() {
      let read = try HardwareWords.wish(wish.span)
      #expect(bytes(try read.encoded()) == wish)
    }
    for answer in try answers() {
      let read = try HardwareWords.answer(answer.span)
      #expect(bytes(try read.encoded()) == answer)
    }
  }

  @Test func `are refused where they are cut off, have more, or are of no kind`() throws {
    for wish in try wishes() {
      // Of what asks to meet the key of a credential the first byte alone asks for any.
      for end in 0..<wish.count where wish[0] != 4 || end != 1 {
        isRefused(wish: Array(wish[..<end]))
      }
      isRefused(wish: wish + [0])
      isRefused(wish: [9] + wish.dropFirst())
    }
    for answer in try answers() {
      for end in 0..<answer.count { isRefused(answer: Array(answer[..<end])) }
      isRefused(answer: answer + [0])
      isRefused(answer: [9] + answer.dropFirst())
    }
    // A code of another length, a secret of another, a fault that there is not.
    isRefused(wish: [2, 32, 0] + [UInt8](repeating: 6, count: 32) + [1, 0, 7])
    isRefused(answer: [3, 31, 0] + [UInt8](repeating: 6, count: 31))
    isRefused(answer: [4, 200, 0, 0, 0, 0])
    // A credential of another form, one without an id, a PIN that is cut by NUL, and one too long.
    isRefused(wish: [4, 2, 1, 0, 7])
    isRefused(wish: [4, 1, 0, 0])
    let salt = [32, 0] + [UInt8](repeating: 6, count: 32)
    isRefused(wish: [5] + salt + [4, 0, 49, 0, 49, 49])
    isRefused(wish: [5] + salt + [64, 0] + [UInt8](repeating: 49, count: 64))
    isRefused(answer: [5, 4, 8])
  }

  private func isRefused(wish: [UInt8]) {
    do {
      _ = try HardwareWords.wish(wish.span)
      Issue.record("\(wish) is read")
    } catch { #expect(error == .malformed) }
  }

  private func isRefused(answer: [UInt8]) {
    do {
      _ = try HardwareWords.answer(answer.span)
      Issue.record("\(answer) is read")
    } catch { #expect(error == .malformed) }
  }

  @Test func `tell how a TPM holds against guessing`() {
    func facts(_ failures: UInt32, of most: UInt32, each interval: UInt32) -> ChipFacts {
      ChipFacts(
        failures: failures, mostFailures: most, interval: interval, hasLockoutPassword: false)
    }
    #expect(facts(0, of: 32, each: 7_200).isLimited)
    #expect(!facts(0, of: 0, each: 7_200).isLimited)
    #expect(!facts(0, of: 101, each: 7_200).isLimited)
    #expect(!facts(0, of: 32, each: 9).isLimited)
    #expect(facts(16, of: 32, each: 600).mayTry)
    #expect(!facts(17, of: 32, each: 600).mayTry)
    #expect(facts(18, of: 32, each: 600).wait == 1_200)
    #expect(facts(40, of: 32, each: 600).wait == 9_600)
    #expect(facts(32, of: 32, each: .max).wait == .max)
    #expect(facts(9, of: 0, each: 600).mayTry)
  }
}
