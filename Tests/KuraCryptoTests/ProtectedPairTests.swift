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
}
