// SPDX-License-Identifier: MIT

import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// A vault has up to 256 machines, and all of them may be away when they change the same thing.
@Suite struct `Many machines that change one thing` {
  /// At night one more than there is room for.
  private static let count = Copies.isNightly ? 257 : 66

  /// Something that each of them changes.
  enum Thing: CaseIterable {
    case value, purge, setting, slots

    /// How many changes of it stand side by side.
    fileprivate var room: Int { self == .purge ? 256 : 255 }

    /// Changes it on a machine.
    fileprivate func change(_ file: TestVault, _ number: Int) throws {
      try file.fill { vault throws in
        switch self {
        case .value: try vault.put("thing", "of \(number)")
        case .purge: _ = try vault.purge(Array("thing".utf8).span, .item)
        case .setting: try vault.setPolicy(.idleTimeout, to: UInt64(100 + number) * 1_000)
        case .slots: try vault.removeSlot(1, authorizedBy: try file.key())
        }
      }
    }

    /// Looks at what came of the changes of so many, of which the first has the number 0.
    fileprivate func expect(_ file: TestVault, after count: Int) throws {
      try file.fill { vault throws in
        switch self {
        case .value: #expect(try vault.values(of: "thing").count == count + 1)
        case .purge: #expect(throws: VaultError.notFound) { try vault.getText("thing") }
        case .setting: #expect(vault.policy[.idleTimeout] == 100_000)
        case .slots: #expect(file.refusal("old") != nil)
        }
        #expect(try vault.findings() == [])
      }
    }

    /// Changes it once more, by somebody who knows of all others.
    fileprivate func settle(_ file: TestVault) throws {
      try file.fill { vault throws in
        switch self {
        case .value: _ = try vault.restore("thing", try vault.put("thing", "settled").revision)
        case .purge: return
        case .setting: try vault.setPolicy(.idleTimeout, to: 50_000)
        case .slots: _ = try vault.addSlot(passcodeSlot("new"), authorizedBy: try file.key())
        }
      }
    }

    fileprivate func expectSettled(_ file: TestVault) throws {
      try file.fill { vault throws in
        switch self {
        case .value: #expect(try vault.getText("thing") == "settled")
        case .purge: #expect(throws: VaultError.notFound) { try vault.getText("thing") }
        case .setting: #expect(vault.policy[.idleTimeout] == 50_000)
        case .slots: #expect(file.refusal("new") == nil)
        }
        #expect(try vault.findings() == [])
      }
    }
  }

  private func merge(_ other: TestVault, into file: TestVault) throws -> VaultError? {
    do { _ = try Copies.merge(other, into: file) } catch let error as VaultError { return error }
    return nil
  }

  @Test(arguments: Thing.allCases)
  func `stand side by side, until one of them follows the others`(thing: Thing) throws {
    let first = try TestVault.machine(0)
    try first.createOfFirstFormat()
    try first.takeOver()
    try first.fill { vault throws in
      try vault.put("thing", "1")
      _ = try vault.addSlot(passcodeSlot("old"), authorizedBy: try first.key())
    }
    let others = try (1...Self.count).map { try TestVault.machine($0) }
    for (number, other) in others.enumerated() {
      try Copies.copy(first, to: other)
      try thing.change(other, number)
    }
    for other in others.prefix(thing.room) {
      let refused = try merge(other, into: first)
      #expect(refused == nil)
    }
    for other in others.dropFirst(thing.room) {
      // Nothing is taken of what does not fit, and what is held stays as it is.
      let refused = try merge(other, into: first)
      #expect(refused == .tooManySides)
    }
    try thing.expect(first, after: min(thing.room, Self.count))
    try thing.settle(first)
    // A purge that nothing follows stays one of too many for who purged the item, too.
    let late = thing == .purge ? [] : others.dropFirst(thing.room)
    for other in late + others.prefix(1) {
      let refused = try merge(first, into: other)
      #expect(refused == nil)
      try thing.expectSettled(other)
    }
  }
}
