// SPDX-License-Identifier: MIT

import Glibc
import KuraClient
import KuraKeychain
import KuraProtocol
import KuraTesting
import SecureMemory
import Testing

@Suite struct KeychainTests {
  let vault: TestVault
  let keychain: Keychain

  init() throws {
    vault = try TestVault()
    keychain = vault.keychain(service: "com.example.juice")
  }

  /// What `kura` finds in the vault.
  private func revisions(of name: String) throws -> [UInt64] {
    var connection = try Connection.open(vault.path, engine: .running)
    return try connection.show(name).revisions
  }

  @Test func `an account is the item of its service and name`() throws {
    try keychain.set("ada", for: "userIdentifier")
    try keychain.set("bob", for: "userIdentifier")
    #expect(try keychain.get("userIdentifier") == "bob")
    #expect(try revisions(of: "com.example.juice/userIdentifier") == [1])
  }

  @Test func `nothing is there before, and nothing after`() throws {
    #expect(try keychain.get("userIdentifier") == nil)
    let isMissing = try keychain.secret("userIdentifier") == nil
    #expect(isMissing)
    #expect(try !keychain.contains("userIdentifier"))
    #expect(try !keychain.remove("userIdentifier"))
    try keychain.set("", for: "userIdentifier")
    #expect(try keychain.get("userIdentifier") == "")
    #expect(try keychain.contains("userIdentifier"))
    #expect(try keychain.remove("userIdentifier"))
    #expect(try keychain.get("userIdentifier") == nil)
  }

  @Test func `what is removed has no history, unless it is to be kept`() throws {
    try keychain.set("ada", for: "gone")
    try keychain.set("ada", for: "kept")
    try keychain.remove("gone")
    try keychain.remove("kept", keepingHistory: true)
    var connection = try Connection.open(vault.path, engine: .running)
    var values: [String] = []
    for name in ["com.example.juice/kept", "com.example.juice/gone"] {
      _ = try? connection.get(name, revision: 1) { values.append(String(copying: $0)) }
    }
    #expect(values == ["ada"])
  }

  @Test func `accounts are those of the service alone, sorted`() throws {
    try keychain.set("1", for: "b")
    try keychain.set("1", for: "a/c")
    try vault.keychain(service: "com.example.juicer").set("1", for: "d")
    #expect(try keychain.accounts() == ["a/c", "b"])
  }

  @Test func `what is no text is had as bytes alone`() throws {
    try keychain.set(try SecretBytes(copying: [0xFF, 0, 1].span), for: "key")
    #expect(throws: KeychainError.notText) { try keychain.get("key") }
    guard let secret = try keychain.secret("key") else {
      Issue.record("it is not there")
      return
    }
    let isSame = secret.isEqual(to: [0xFF, 0, 1].span)
    #expect(isSame)
  }

  @Test func `a value of many pieces comes whole`() throws {
    let value = [UInt8](repeating: 0xA5, count: 200_000)
    try keychain.set(try SecretBytes(copying: value.span), for: "long")
    guard let secret = try keychain.secret("long") else {
      Issue.record("it is not there")
      return
    }
    let isSame = secret.isEqual(to: value.span)
    #expect(isSame)
  }

  @Test func `locked is said of every call, and is never a value missed`() throws {
    try keychain.set("ada", for: "userIdentifier")
    try vault.lock()
    #expect(throws: KeychainError.locked) { try keychain.get("userIdentifier") }
    #expect(throws: KeychainError.locked) { try keychain.get("other") }
    #expect(throws: KeychainError.locked) { try keychain.contains("userIdentifier") }
    #expect(throws: KeychainError.locked) { try keychain.set("bob", for: "userIdentifier") }
    #expect(throws: KeychainError.locked) { try keychain.remove("userIdentifier") }
    #expect(throws: KeychainError.locked) { try keychain.accounts() }
    #expect("\(KeychainError.locked)" == "the vault is locked")
    try vault.unlock()
    #expect(try keychain.get("userIdentifier") == "ada")
  }

  @Test func `what its owner protected is not read, and not removed, without him`() throws {
    try keychain.set("ada", for: "userIdentifier")
    try vault.protect("userIdentifier", of: keychain)
    #expect(throws: KeychainError.protected) { try keychain.get("userIdentifier") }
    #expect(throws: KeychainError.protected) { try keychain.remove("userIdentifier") }
    #expect(try keychain.contains("userIdentifier"))
  }

  @Test func `a vault that was never made is told apart from a locked one`() throws {
    let none = Keychain(service: "a", vault: try VaultPath(at: vault.path.path + "-none.kura"))
    #expect(throws: KeychainError.noVault) { try none.get("b") }
  }

  @Test func `a name that no item can have is refused in words`() throws {
    do throws(KeychainError) {
      try keychain.set("x", for: "a\u{7}b")
      Issue.record("it was taken")
    } catch {
      #expect(error.description.hasPrefix("a name "))
    }
  }

  @Test func `an agent that stands still is waited for no longer than was said`() throws {
    try keychain.set("ada", for: "userIdentifier")
    var connection = try Connection.open(vault.path, engine: .running)
    let process = Int32(try connection.agentStatus().processID)
    var hasty = keychain
    hasty.timeLimit = 50
    try #require(kill(process, SIGSTOP) == 0)
    defer { kill(process, SIGCONT) }
    #expect(throws: KeychainError.client(.timedOut)) { try hasty.get("userIdentifier") }
  }
}

extension String {
  init(copying bytes: Span<UInt8>) {
    var copy: [UInt8] = []
    for index in bytes.indices { copy.append(bytes[index]) }
    self.init(decoding: copy, as: UTF8.self)
  }
}
