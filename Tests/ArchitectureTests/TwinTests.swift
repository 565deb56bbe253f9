// SPDX-License-Identifier: MIT

import Testing

/// The public types of a file that stand for themselves, not within another.
private func publicTypes(in file: SourceTree.File) -> [String] {
  file.lines.compactMap { text in
    // An expression costs more than all else here: it is tried where it may fit.
    guard text.hasPrefix("public ") else { return nil }
    return text.firstMatch(
      of: /^public (?:final |indirect )*(?:struct|enum|class|protocol|actor|typealias) (\w+)/
    ).map { String($0.1) }
  }
}

/// The names that public types of more than one target have, each with those targets.
private func twins(in files: [SourceTree.File]) -> [String: Set<String>] {
  var targets: [String: Set<String>] = [:]
  for file in files {
    for name in publicTypes(in: file) { targets[name, default: []].insert(file.target) }
  }
  return targets.filter { $0.value.count > 1 }
}

/// One name is one thing: who reads it in one target need not ask which of two is meant.
@Suite struct TwinTests {
  /// The names that two targets may have, and why.
  static let allowed = [
    "Entry": "the command line's is its front door, and nothing that anybody links against",
    "Item": "an item as the library of the vault has it, and as that of the agent does",
    "OneTimeCode": "likewise: a program links one of the two libraries",
  ]

  @Test func `no public type has the name of another target's`() {
    for (name, targets) in twins(in: SourceTree.sources) where Self.allowed[name] == nil {
      Issue.record("\(name) is declared in \(targets.sorted().joined(separator: " and "))")
    }
  }

  @Test func `whatever is allowed is there`() {
    #expect(Set(Self.allowed.keys).isSubset(of: twins(in: SourceTree.sources).keys))
  }

  @Test func `the check sees a type that is there twice`() {
    let files = [
      ("KuraFormat/A", "public struct Facts {\n  public enum Kind {}\n}\nstruct Own {}"),
      ("KuraProtocol/B", "public final class Facts {}\npublic enum Kind {}\npublic struct Own {}"),
      ("KuraProtocol/C", "public typealias Other = Facts"),
    ].map { SourceTree.File(path: "Sources/\($0.0).swift", text: $0.1) }
    #expect(twins(in: files) == ["Facts": ["KuraFormat", "KuraProtocol"]])
  }
}
