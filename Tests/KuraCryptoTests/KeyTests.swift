// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@Suite struct KeyTests {
  private let vault: [UInt8] = (0..<16).map { $0 }

  @Test func `random keys differ`() throws {
    var keys: Set<[UInt8]> = []
    for _ in 0..<50 { keys.insert(bytes(of: try Key.random())) }
    #expect(keys.count == 50)
  }

  @Test func `each purpose and each vault has a key of its own`() throws {
    let key = try key(from: 0)
    var all: Set<[UInt8]> = []
    for purpose in KeyPurpose.allCases {
      all.insert(bytes(of: try key.subkey(purpose, vault: vault.span)))
      let other = Array(vault.reversed())
      all.insert(bytes(of: try key.subkey(purpose, vault: other.span)))
    }
    #expect(all.count == 2 * KeyPurpose.allCases.count)
  }

  @Test func `a subkey is the hash of label and vault id under the key`() throws {
    let key = try key(from: 0)
    let expected = try hash([Array("kura1/ring".utf8), vault], key: key)
    #expect(bytes(of: try key.subkey(.ring, vault: vault.span)) == expected)
  }

  @Test func `a copy has the same bytes`() throws {
    let key = try key(from: 9)
    let copy = try key.copy()
    #expect(bytes(copy.bytes) == (9..<41).map { UInt8($0) })
    #expect(bytes(copy.bytes) == bytes(key.bytes))
  }

  @Test func `no two labels are alike`() {
    let labels: [Label] = [
      .seal, .name, .ring, .tree, .root, .seen, .log, .keyEncryptionKey,
      .protectedKeyEncryptionKey, .recoveryKey, .keyFile, .deviceSecret, .protectedValue,
      .draft, .sync, .remote, .epoch, .own, .twin,
    ]
    #expect(Set(labels.map { "\($0.text)" }).count == labels.count)
  }
}
