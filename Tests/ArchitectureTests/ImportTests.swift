// SPDX-License-Identifier: MIT

import Testing

/// Who may import whom. The picture in CONTRIBUTING.md, as a table.
private let allowed: [String: Set<String>] = [
  "KuraTerms": [],
  "SecureMemory": ["CKuraSystem"],
  "KuraProtocol": ["KuraTerms", "SecureMemory"],
  "KuraMask": ["SecureMemory"],
  "KuraCrypto": ["CKuraSystem", "CSodium", "SecureMemory"],
  "KuraFormat": ["CUnicode", "KuraCrypto", "KuraTerms", "SecureMemory", "Glibc"],
  "KuraStorage": ["CSQLite", "Glibc", "Synchronization"],
  "KuraVault": [
    "KuraCrypto", "KuraFormat", "KuraStorage", "KuraTerms", "SecureMemory", "Glibc",
    "Synchronization",
  ],
  "KuraAgent": [
    "CKuraSystem", "KuraFormat", "KuraHardware", "KuraProtocol", "KuraVault", "SecureMemory",
    "Glibc",
    "Synchronization",
  ],
  "kura-agent": ["KuraAgent", "Glibc"],
  "KuraClient": ["CKuraSystem", "KuraProtocol", "SecureMemory"],
  "KuraKeychain": ["KuraClient", "KuraProtocol", "SecureMemory", "Glibc"],
  "KuraTesting": [
    "KuraClient", "KuraKeychain", "KuraProtocol", "SecureMemory", "Foundation", "Glibc",
    "Synchronization",
  ],
  "KuraCLI": ["CKuraSystem", "KuraClient", "KuraMask", "KuraProtocol", "SecureMemory"],
  "kura": ["CKuraSystem", "KuraCLI"],
  "KuraDesktop": [
    "CKuraSystem", "CSystemd", "KuraClient", "KuraHardware", "KuraProtocol", "KuraTerms",
    "SecureMemory", "Glibc",
  ],
  "kura-desktop": ["KuraDesktop", "Glibc"],
  "KuraUI": [
    "CKuraSystem", "CNcurses", "KuraClient", "KuraProtocol", "SecureMemory", "Glibc",
  ],
  "KuraImport": [
    "CArgon2", "CExpat", "CKuraSystem", "CMinizip", "CNettle", "CZlib", "KuraClient",
    "KuraProtocol", "KuraTerms", "SecureMemory",
  ],
  "kura-import": ["CKuraSystem", "KuraImport"],
  "KuraStore": ["KuraTerms", "Glibc"],
  "KuraSync": [
    "CKuraSystem", "KuraClient", "KuraProtocol", "KuraStore", "KuraTerms", "SecureMemory", "Glibc",
  ],
  "KuraPostgres": ["CPostgres", "KuraStore", "KuraTerms", "Glibc"],
  "kura-sync-postgres": ["KuraPostgres", "Glibc"],
  "KuraHardware": ["KuraTerms", "SecureMemory", "Glibc"],
  "KuraTPM": ["CTSS", "KuraHardware", "KuraTerms", "SecureMemory", "Glibc"],
  "KuraFIDO": [
    "CFIDO2", "KuraHardware", "KuraTerms", "SecureMemory", "Glibc", "Synchronization",
  ],
  "kura-hardware": [
    "KuraFIDO", "KuraHardware", "KuraTPM", "KuraTerms", "SecureMemory", "Glibc",
  ],
  "kura-sync": ["CKuraSystem", "KuraSync"],
  "kura-ui": ["CKuraSystem", "KuraUI"],
  "kura-strength": ["CKuraSystem", "CZxcvbn", "SecureMemory"],
]

private func imports(of file: SourceTree.File) -> [String] {
  file.code.compactMap { _, text in
    let words = text.split(separator: " ")
    guard let index = words.firstIndex(of: "import"), index + 1 < words.count,
      words[..<index].allSatisfy({
        $0.hasPrefix("@")
          || ["public", "package", "internal", "private", "fileprivate"].contains($0)
      })
    else { return nil }
    let kinds: Set<Substring> = ["struct", "func", "enum", "class", "protocol", "typealias", "var"]
    let name = kinds.contains(words[index + 1]) ? words[index + 2] : words[index + 1]
    return String(name.split(separator: ".")[0])
  }
}

@Suite struct ImportTests {
  @Test func `every target stands in the table, and every row has a target`() {
    #expect(Set(SourceTree.sources.map(\.target)) == Set(allowed.keys))
  }

  @Test(arguments: SourceTree.sources)
  func `a file imports what its target may`(_ file: SourceTree.File) {
    let refused = Set(imports(of: file)).subtracting(allowed[file.target] ?? [])
    #expect(refused.isEmpty, "\(file.path) imports \(refused.sorted())")
  }

  @Test func `the table has no cycle`() {
    var order: [String] = []
    var rest = allowed.mapValues { $0.intersection(allowed.keys) }
    while let next = rest.first(where: { $0.value.isSubset(of: order) })?.key {
      order.append(next)
      rest[next] = nil
    }
    #expect(rest.isEmpty)
  }

  @Test func `the check sees an import that is not allowed`() {
    let file = SourceTree.File(
      path: "Sources/KuraCLI/Planted.swift",
      text: "internal import Foundation\n@testable import CSQLite")
    #expect(Set(imports(of: file)).subtracting(allowed["KuraCLI"]!) == ["Foundation", "CSQLite"])
  }
}
