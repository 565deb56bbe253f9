// SPDX-License-Identifier: MIT

import KuraFormat
import SecureMemory
import Synchronization
import Testing

@testable import KuraVault

/// The published answers, given by a vault whose clock a test sets.
@Suite struct `Published one-time codes` {
  /// `12345678901234567890`, as both RFCs have it.
  private static let secret = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ"

  /// A wall clock that stands still.
  private final class StandingClock: Sendable {
    private let seconds = Atomic<UInt64>(1)
    func set(_ value: UInt64) { seconds.store(value, ordering: .relaxed) }
    var milliseconds: UInt64 { seconds.load(ordering: .relaxed) * 1_000 }
  }

  private func unlock(_ file: TestVault, _ clock: StandingClock) throws -> UnlockedVault {
    let options = VaultOptions(stateDirectory: file.stateDirectory) { clock.milliseconds }
    var locked = try LockedVault(at: file.path, options: options)
    let passcode = KuraVaultTests.secret(TestVault.passcode)
    let key = try locked.attempt().open(.passcode, secret: passcode)
    return try locked.unlock(with: key)
  }

  private func put(
    _ name: String, _ uri: String, in vault: inout UnlockedVault
  ) throws(VaultError) {
    let (name, uri) = (Array(name.utf8), Array(uri.utf8))
    _ = try vault.put(
      name.span, value: uri.span, attributes: AttributeEdits(), condition: .create, kind: .otp)
  }

  /// RFC 6238, appendix B: 30 seconds a step, eight digits, a secret as long as the hash.
  @Test func `of a time are those of RFC 6238`() throws {
    let answers: [(time: UInt64, codes: [String])] = [
      (59, ["94287082", "46119246", "90693936"]),
      (1_111_111_109, ["07081804", "68084774", "25091201"]),
      (1_111_111_111, ["14050471", "67062674", "99943326"]),
      (1_234_567_890, ["89005924", "91819424", "93441116"]),
      (2_000_000_000, ["69279037", "90698825", "38618901"]),
      (20_000_000_000, ["65353130", "77737706", "47863826"]),
    ]
    let secrets = [
      "SHA1": Self.secret,
      "SHA256": Self.secret + "GEZDGNBVGY3TQOJQGEZA====",
      "SHA512": String(repeating: Self.secret, count: 3) + "GEZDGNA=",
    ]
    let file = try TestVault()
    let clock = StandingClock()
    var vault = try unlock(file, clock)
    for (algorithm, secret) in secrets {
      let uri = "otpauth://totp/a?digits=8&algorithm=\(algorithm)&secret=\(secret)"
      try put(algorithm, uri, in: &vault)
    }
    for (time, codes) in answers {
      clock.set(time)
      for (algorithm, code) in zip(["SHA1", "SHA256", "SHA512"], codes) {
        let made = try vault.made(algorithm)
        #expect(made.code == code, "\(algorithm), \(time) s")
        #expect(made.left == (30 - time % 30) * 1_000)
        #expect(made.factor == .time(period: 30))
      }
    }
  }

  @Test func `of a time change with its step, and at no other moment`() throws {
    let file = try TestVault()
    let clock = StandingClock()
    var vault = try unlock(file, clock)
    try put("a", "otpauth://totp/a?digits=8&secret=\(Self.secret)", in: &vault)
    var codes: [UInt64: String] = [:]
    for time in [1_111_111_109, 1_111_111_110, 1_111_111_139, 1_111_111_140] as [UInt64] {
      clock.set(time)
      codes[time] = try vault.made("a").code
    }
    #expect(codes[1_111_111_109] != codes[1_111_111_110])
    #expect(codes[1_111_111_110] == codes[1_111_111_139])
    #expect(codes[1_111_111_139] != codes[1_111_111_140])
  }

  /// RFC 4226, appendix D: the counter moves by itself.
  @Test func `of a counter are those of RFC 4226`() throws {
    let answers = [
      "755224", "287082", "359152", "969429", "338314", "254676", "287922", "162583", "399871",
      "520489",
    ]
    let file = try TestVault()
    let clock = StandingClock()
    var vault = try unlock(file, clock)
    try put("a", "otpauth://hotp/a?secret=\(Self.secret)&counter=0", in: &vault)
    for (counter, code) in answers.enumerated() {
      let made = try vault.made("a")
      #expect(made.code == code)
      #expect(made.factor == .counter(UInt64(counter)))
    }
  }
}

extension UnlockedVault {
  fileprivate mutating func made(
    _ name: String
  ) throws(VaultError) -> (code: String, left: UInt64, factor: OTPSeed.Factor) {
    let name = Array(name.utf8)
    let made = try oneTimeCode(name.span)
    return (text(of: made.text.bytes), made.left, made.factor)
  }
}
