// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@Suite struct SigningPairTests {
  private func bytes(_ hex: String) -> [UInt8] {
    let digits = Array(hex.utf8)
    return stride(from: 0, to: digits.count, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<($0 + 2)], as: UTF8.self), radix: 16)
    }
  }

  /// RFC 8032, section 7.1, test 2.
  @Test func `a seed makes the published pair and signature`() throws {
    let seed = bytes("4ccd089b28ff96da9db6c346ec114e0f5b8a319f35aba624da8cf6ed4fb8a6fb")
    let pair = try SigningPair(seed: SecretBytes(copying: seed.span))
    #expect(
      pair.publicHalf == bytes("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c"))
    let signature = pair.signature(of: [0x72])
    #expect(
      signature
        == bytes(
          "92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
            + "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00"))
    #expect(SigningPair.isSigned([0x72], by: pair.publicHalf, signature: signature))
  }

  @Test func `what was changed, or another one signed, is not signed`() throws {
    let pair = try SigningPair(seed: SecretBytes(copying: [UInt8](repeating: 1, count: 32).span))
    let other = try SigningPair(seed: SecretBytes(copying: [UInt8](repeating: 2, count: 32).span))
    let signature = pair.signature(of: [1, 2, 3])
    #expect(SigningPair.isSigned([1, 2, 3], by: pair.publicHalf, signature: signature))
    #expect(!SigningPair.isSigned([1, 2, 4], by: pair.publicHalf, signature: signature))
    #expect(!SigningPair.isSigned([1, 2, 3], by: other.publicHalf, signature: signature))
    #expect(!SigningPair.isSigned([1, 2, 3], by: pair.publicHalf, signature: signature + [0]))
    #expect(!SigningPair.isSigned([1, 2, 3], by: [], signature: signature))
  }
}
