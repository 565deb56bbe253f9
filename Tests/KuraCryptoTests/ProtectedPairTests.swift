// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@Suite struct ProtectedPairTests {
  @Test func `the public half is X25519's`() throws {
    // RFC 7748 §6.1, Alice's pair.
    let digits = "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"
    let secret = try Vector(file: "", number: 0, fields: ["secret": digits]).bytes("secret")
    let pair = ProtectedPair(secretHalf: try SecretBytes(copying: secret.span))
    #expect(
      hexadecimal(pair.publicHalf)
        == "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a")
    #expect(bytes(of: pair.finish()) == secret)
  }

  @Test func `random pairs differ`() throws {
    #expect(try ProtectedPair.random().publicHalf != ProtectedPair.random().publicHalf)
  }

  @Test func `what is sealed to the public half opens with the secret half alone`() throws {
    let pair = try ProtectedPair.random()
    let other = try ProtectedPair.random()
    let sealing = try ProtectedPair.sealingKey(to: pair.publicHalf)
    let key = bytes(sealing.key.bytes)
    #expect(bytes(of: try pair.openingKey(ephemeral: sealing.ephemeral.span)) == key)
    #expect(bytes(of: try other.openingKey(ephemeral: sealing.ephemeral.span)) != key)
    let again = try ProtectedPair.sealingKey(to: pair.publicHalf)
    #expect(again.ephemeral != sealing.ephemeral)
    #expect(bytes(again.key.bytes) != key)
  }

  @Test func `a point of small order, or none, is refused`() throws {
    let pair = try ProtectedPair.random()
    for point in [[UInt8](repeating: 0, count: 32), [1] + [UInt8](repeating: 0, count: 31), [7]] {
      #expect(throws: CryptoError.damaged) { _ = try pair.openingKey(ephemeral: point.span) }
      #expect(throws: CryptoError.damaged) { _ = try ProtectedPair.sealingKey(to: point) }
    }
  }
}
