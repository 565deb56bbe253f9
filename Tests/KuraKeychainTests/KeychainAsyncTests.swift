// SPDX-License-Identifier: MIT

import KuraClient
import KuraKeychain
import KuraTesting
import Testing

@Suite struct KeychainAsyncTests {
  @Test func `each call has a form that blocks no thread of a task`() async throws {
    let keychain = try TestVault().keychain(service: "com.example.juice")
    try await keychain.set("ada", for: "userIdentifier")
    #expect(try await keychain.get("userIdentifier") == "ada")
    #expect(try await keychain.contains("userIdentifier"))
    #expect(try await keychain.accounts() == ["userIdentifier"])
    #expect(try await keychain.remove("userIdentifier"))
    #expect(try await keychain.get("userIdentifier") == nil)
  }

  @Test func `its errors are those of the form that blocks`() async throws {
    let vault = try TestVault()
    let keychain = vault.keychain(service: "com.example.juice")
    try vault.lock()
    await #expect(throws: KeychainError.locked) { try await keychain.get("userIdentifier") }
  }

  @Test func `many at once are all answered`() async throws {
    let keychain = try TestVault().keychain(service: "com.example.juice")
    try await withThrowingTaskGroup(of: Void.self) { group in
      for number in 1...40 {
        group.addTask { try await keychain.set("\(number)", for: "a\(number)") }
      }
      try await group.waitForAll()
    }
    #expect(try await keychain.accounts().count == 40)
  }

  @Test func `locks and unlocks are told as they come, the present state first`() async throws {
    let vault = try TestVault()
    var states = vault.keychain(service: "com.example.juice").observe().makeAsyncIterator()
    #expect(await states.next() == .unlocked)
    try vault.lock()
    #expect(await states.next() == .locked(because: "asked"))
    try vault.unlock()
    #expect(await states.next() == .unlocked)
  }

  @Test func `who stops to listen ends the thread that waited`() async throws {
    let vault = try TestVault()
    for _ in 0..<100 {
      for await state in vault.keychain(service: "a").observe() {
        #expect(state == .unlocked)
        break
      }
    }
    // The agent has room for 56 who wait.
    var states = vault.keychain(service: "a").observe().makeAsyncIterator()
    #expect(await states.next() == .unlocked)
    try vault.lock()
    #expect(await states.next() == .locked(because: "asked"))
  }
}
