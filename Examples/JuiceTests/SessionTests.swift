// SPDX-License-Identifier: MIT

import KuraKeychain
import KuraTesting
import Testing

/// Tests as an app has them: with a vault of their own, and nobody's passcode.
@Suite struct SessionTests {
  @Test func `who signed in is known at the next launch`() throws {
    let keychain = try TestVault().keychain(service: "com.example.juice")
    #expect(try keychain.get("userIdentifier") == nil)
    try keychain.set("001742.8c3d51f0a9be.0931", for: "userIdentifier")
    #expect(try keychain.get("userIdentifier") == "001742.8c3d51f0a9be.0931")
  }

  @Test func `a locked vault is no sign-out`() throws {
    let vault = try TestVault()
    let keychain = vault.keychain(service: "com.example.juice")
    try keychain.set("ada", for: "userIdentifier")
    try vault.lock()
    #expect(throws: KeychainError.locked) { try keychain.get("userIdentifier") }
    try vault.unlock()
    #expect(try keychain.get("userIdentifier") == "ada")
  }

  @Test func `an app may wait for nobody`() async throws {
    let vault = try TestVault()
    let keychain = vault.keychain(service: "com.example.juice")
    try await keychain.set("ada", for: "userIdentifier")
    #expect(try await keychain.get("userIdentifier") == "ada")
    #expect(try await keychain.remove("userIdentifier"))
    #expect(try await keychain.get("userIdentifier") == nil)
  }
}
