// SPDX-License-Identifier: MIT

import Foundation
import KuraVault
import Testing

/// Real files of each release, which every later build must read and write.
@Suite("Frozen vaults")
struct FrozenVaultTests {
  @Test func `there is a vault of the first release`() {
    #expect(FrozenVault.all.contains { $0.name == "0.1.0/vault" })
  }

  @Test(arguments: FrozenVault.all)
  func `each reads as it was written, by passcode and by recovery key`(
    _ vault: FrozenVault
  ) throws {
    for secret in try vault.secrets {
      let scratch = try Scratch()
      let path = try vault.copy(to: scratch)
      let site = Site(state: scratch.file("state"))
      let reading = Reading(path, at: site, with: secret, expected: try vault.expected)
      if !reading.isHarmless { Issue.record("\(vault.name): \(reading)") }
    }
  }

  @Test func `one of format 2 has secret attributes, and what two copies did not agree on`() throws
  {
    let vault = try #require(FrozenVault.all.first { $0.name == "0.2.0/second" })
    let scratch = try Scratch()
    let path = try vault.copy(to: scratch)
    var opened = try Engine.open(
      path, at: Site(state: scratch.file("state")), with: try vault.secrets[0])
    let (key, name) = (Array("pin".utf8), Array("web/mary".utf8))
    let pin = try opened.secretAttribute(key.span, of: name.span, with: nil)
    let isKept = pin.isEqual(to: Array("4711".utf8).span)
    #expect(isKept)
    #expect(throws: VaultError.protected) {
      _ = try opened.secretAttribute(key.span, of: Array("bank".utf8).span, with: nil)
    }
    var revisions: [UInt64] = []
    let next = try opened.eachConflict(from: nil, limit: 100, until: { false }) { conflict in
      revisions.append(conflict.revision)
    }
    #expect(next == nil && revisions == [2])
    #expect(try Engine.findings(&opened).isEmpty)
    opened.lock().close()
  }

  @Test(arguments: FrozenVault.all)
  func `each can be written to`(_ vault: FrozenVault) throws {
    let scratch = try Scratch()
    let path = try vault.copy(to: scratch)
    let site = Site(state: scratch.file("state"))
    let secret = try vault.secrets[0]
    var opened = try Engine.open(path, at: site, with: secret)
    let revision = try Engine.put("web/mary", Array("newer".utf8), in: &opened)
    try Engine.put("fresh", Bytes.pattern(80_000), in: &opened)
    opened.lock().close()
    var reopened = try Engine.open(path, at: site, with: secret)
    #expect(try Engine.findings(&reopened).isEmpty)
    #expect(try Engine.value(Array("web/mary".utf8), in: &reopened) == Array("newer".utf8))
    let before = try Engine.value(
      Array("web/mary".utf8), revision: revision - 1, in: &reopened)
    #expect(before == Array("three".utf8))
    reopened.lock().close()
  }
}

/// A vault file of a release, and beside it what must be read from it.
struct FrozenVault: Sendable, CustomTestStringConvertible {
  /// The release and the file: `0.1.0/vault`.
  let name: String

  var testDescription: String { name }

  private static let directory = Repository.root + "/Fixtures/vaults"

  static let all: [FrozenVault] = {
    let files = FileManager.default.enumerator(atPath: directory)
    let names = files?.compactMap { $0 as? String } ?? []
    return names.filter { $0.hasSuffix(".kura") }.sorted().map {
      FrozenVault(name: String($0.dropLast(5)))
    }
  }()

  private var lines: [String] {
    get throws {
      let bytes = try Bytes.read("\(Self.directory)/\(name).lines")
      return String(decoding: bytes, as: UTF8.self).split(separator: "\n").map(String.init)
    }
  }

  var expected: [ExpectedLine] {
    get throws {
      try lines.filter { $0.hasPrefix("item: ") || $0.hasPrefix("old: ") }.map { ExpectedLine($0) }
    }
  }

  /// The passcode, then the recovery key.
  var secrets: [Secret] {
    get throws {
      let fields = Dictionary(
        try lines.compactMap { line in
          line.range(of: ": ").map { (line[..<$0.lowerBound], line[$0.upperBound...]) }
        }, uniquingKeysWith: { first, _ in first })
      let passcode = Bytes.fromHex(fields["passcode-hex"] ?? "")
      return [
        Secret(credential: .passcode, bytes: passcode),
        .recoveryKey(String(fields["recovery-key"] ?? "")),
      ]
    }
  }

  func copy(to scratch: Scratch) throws -> String {
    let path = scratch.file("vault.kura")
    try Bytes.write(try Bytes.read("\(Self.directory)/\(name).kura"), to: path)
    return path
  }
}
