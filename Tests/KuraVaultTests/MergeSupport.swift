// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// Two copies of a vault, on two machines.
struct Copies {
  static let isNightly = ProcessInfo.processInfo.environment["KURA_NIGHTLY"] != nil
  /// How many random lives copies have.
  static let runs = isNightly ? 300 : 2

  /// What dice begin with: what `KURA_SEED` gives, to repeat a run; else thrown anew each time.
  static func seed() -> UInt64 {
    ProcessInfo.processInfo.environment["KURA_SEED"].flatMap { UInt64($0) }
      ?? UInt64.random(in: 0...UInt64(UInt32.max))
  }

  /// The same each time, so that what fails is of the change that is tried; the nightly throws.
  static func seed(byDay usual: UInt64) -> UInt64 {
    isNightly || ProcessInfo.processInfo.environment["KURA_SEED"] != nil ? seed() : usual
  }

  let first: TestVault
  let second: TestVault

  init(ofFirstFormat isOld: Bool = false) throws {
    first = try TestVault(creating: false)
    second = try TestVault(creating: false)
    try first.createOfFirstFormat()
    if !isOld { try first.takeOver() }
    second.machine = Array("another machine, of this test".utf8) + [0, 0, 0]
  }

  /// The second copy becomes what the first is.
  func part() throws { try Copies.copy(first, to: second) }

  static func copy(_ first: TestVault, to second: TestVault) throws {
    let directory = second.directory + "/vault"
    try? FileManager.default.removeItem(atPath: directory)
    try FileManager.default.createDirectory(
      atPath: directory, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    try FileManager.default.copyItem(atPath: first.path, toPath: second.path)
  }

  func here(_ body: (inout UnlockedVault) throws -> Void) throws { try first.fill(body) }
  func there(_ body: (inout UnlockedVault) throws -> Void) throws { try second.fill(body) }

  func merge() throws -> MergeReport { try Copies.merge(second, into: first) }
  func mergeBack() throws -> MergeReport { try Copies.merge(first, into: second) }

  func trial() throws -> MergeReport {
    var vault = try first.unlock()
    let copy = try vault.openCopy(at: second.path)
    let report = try vault.merge(copy, isTrial: true)
    vault.fold()
    return report
  }

  static func merge(_ other: TestVault, into file: TestVault) throws -> MergeReport {
    var vault = try file.unlock()
    do {
      let report = try vault.merge(try opened(other, by: vault))
      vault.fold()
      return report
    } catch {
      vault.fold()
      throw error
    }
  }

  /// Another copy, which takes its passcode where it stands under another vault key.
  static func opened(
    _ other: TestVault, by vault: borrowing UnlockedVault, _ passcode: String = TestVault.passcode
  ) throws(VaultError) -> OtherCopy {
    do throws(VaultError) { return try vault.openCopy(at: other.path) } catch {
      guard error == .copyRefused(.otherKey) else { throw error }
    }
    let attempt = try vault.attempt(atCopy: other.path)
    return try vault.openCopy(
      at: other.path, by: attempt.open(.passcode, secret: secret(passcode)))
  }

  /// Puts a copy under a key of its own.
  static func rekey(_ file: TestVault) throws {
    try file.fill { vault throws in _ = try vault.rekey(file.key()) }
  }

  func report(
    added: UInt64 = 0, changed: UInt64 = 0, conflicting: UInt64 = 0, settings: UInt64 = 0,
    looserSettings: UInt64 = 0
  ) -> MergeReport {
    var report = MergeReport()
    report.added = added
    report.changed = changed
    report.conflicting = conflicting
    report.settings = settings
    report.looserSettings = looserSettings
    return report
  }

  /// All that copies have to agree on.
  func state(_ file: TestVault) throws -> [String] { try Copies.state(file) }

  static func state(_ file: TestVault, opening: Bool = true) throws -> [String] {
    var vault = try file.unlock()
    var lines: [String] = []
    for name in try vault.names(includingDeleted: true) {
      let item = try vault.anyItem(name, opening: opening)
      lines.append("\(name) \(item)")
    }
    lines += try vault.conflicts().map {
      $0.replacing(/\ (value|name|attribute) [0-9]+/) { " \($0.1)" }
    }
    vault.fold()
    return lines
  }
}

extension UnlockedVault {
  /// Leaves of an item what it shows.
  mutating func settle(_ name: String) throws(VaultError) {
    let revision = try item(name).revision
    do throws(VaultError) { _ = try restore(Array(name.utf8).span, revision: revision) } catch {
      guard error == .revisionNotFound else { throw error }
    }
  }

  /// Whether a file is a copy of this vault.
  func opens(_ path: String) throws(VaultError) -> Bool {
    _ = try openCopy(at: path)
    return true
  }

  /// Each conflict as `NAME PART REVISION TEXT`, in order.
  mutating func conflicts() throws(VaultError) -> [String] {
    var lines: [String] = []
    var next: ItemTag?
    repeat {
      next = try eachConflict(from: next, limit: 3) { conflict throws(VaultError) in
        let more = text(of: conflict.text.bytes)
        lines.append(
          "\(text(of: conflict.name.bytes)) \(conflict.part) \(conflict.revision)"
            + (more.isEmpty ? "" : " \(more)"))
      }
    } while next != nil
    return lines.sorted()
  }

  /// What an item is, with its value.
  mutating func anyItem(_ name: String, opening: Bool) throws -> String {
    var listing = listing(includingDeleted: true)
    while let item = try listing.next(in: &self) {
      guard text(of: item.name) == name else { continue }
      var line =
        "\(item.isDeleted ? "deleted" : "live") \(item.isProtected ? "protected" : "standard")"
      var cursor = item.attributes.makeCursor()
      while cursor.advance() { line += " \(text(of: cursor.key))=\(text(of: cursor.value))" }
      var secrets = item.view.secretKeys
      while secrets.advance() { line += " \(text(of: secrets.key)):\(secrets.size)" }
      if item.isDeleted { return line }
      let isProtected = item.isProtected
      if isProtected, !opening { return line }
      return line + " " + (try isProtected ? openedText(name) : getText(name)).prefix(40)
    }
    return "none"
  }

  /// Changes something.
  ///
  /// - Returns: What.
  mutating func change(
    _ step: Int, _ dice: inout SystemDice, _ purged: inout Set<String>
  ) throws -> String {
    let names = try names(includingDeleted: true)
    let name = names.isEmpty ? "a" : names[dice.below(names.count)]
    let other = ["a", "b", "c", "d"][dice.below(4)]
    let bytes = Array(name.utf8)
    do throws(VaultError) {
      switch dice.below(12) {
      case 0...3:
        try put(name, "\(name) \(step)")
        return "put \(name)"
      case 4:
        try put(other, "\(other) \(step)")
        return "put \(other)"
      case 5:
        try setAttributes(bytes.span, try edits(["k": "\(step)"]))
        return "attr \(name)"
      case 6:
        try setAttributes(bytes.span, try edits(delete: ["k"]))
        return "unattr \(name)"
      case 7:
        _ = try move(bytes.span, to: Array(other.utf8).span)
        return "move \(name) \(other)"
      case 8:
        try remove(name)
        return "rm \(name)"
      case 9:
        let item = try item(name)
        guard dice.below(3) == 0 else {
          try settle(name)
          return "settle \(name)"
        }
        guard !item.isProtected else { return "left \(name)" }
        _ = try protect(bytes.span)
        return "protect \(name)"
      case 10:
        _ = try restore(bytes.span)
        return "restore \(name)"
      default:
        guard dice.below(3) == 0 else { return "nothing" }
        let values = try values(of: name)
        _ = try purge(bytes.span, .item)
        purged.formUnion(values)
        return "purge \(name)"
      }
    } catch {
      switch error {
      case .notFound, .exists, .ownerNeeded, .notDeleted, .revisionNotFound:
        return "\(error) \(name)"
      default: throw error
      }
    }
  }

  /// All values that are kept of an item.
  mutating func values(of name: String) throws(VaultError) -> Set<String> {
    try values(of: name, at: try revisions(name))
  }

  /// The values of an item that copies have to agree on, which a history is not: it is each copy's own.
  mutating func standingValues(of name: String) throws(VaultError) -> Set<String> {
    var sides: [UInt64] = []
    try eachConflict(of: Array(name.utf8).span) { conflict in
      if conflict.part == .value { sides.append(conflict.revision) }
    }
    return try values(of: name, at: sides)
  }

  private mutating func values(
    of name: String, at revisions: [UInt64]
  ) throws(VaultError) -> Set<String> {
    var values: Set<String> = []
    let key: ProtectedKey? = try protectedKey(from: try owner().key)
    let bytes = Array(name.utf8)
    for revision in [nil] + revisions.map(Optional.some) {
      do throws(VaultError) {
        let value = try value(bytes.span, revision: revision, with: key)
        values.insert(text(of: value.bytes))
      } catch { guard error == .revisionNotFound || error == .notFound else { throw error } }
    }
    return values
  }

  /// A protected value, by the passcode.
  mutating func openedText(_ name: String) throws -> String {
    let key: ProtectedKey? = try protectedKey(from: try owner().key)
    let name = Array(name.utf8)
    let value = try value(name.span, with: key)
    return text(of: value.bytes)
  }

  mutating func secretText(_ name: String, _ key: String) throws -> String {
    let (name, key) = (Array(name.utf8), Array(key.utf8))
    guard try self.item(name.span).hasSecret(key.span) else { return "" }
    let value = try self.secretAttribute(key.span, of: name.span, with: nil)
    return text(of: value.bytes)
  }
}

extension TestVault {
  /// A place for a copy on a machine of its own.
  static func machine(_ number: Int) throws -> TestVault {
    let file = try TestVault(creating: false)
    file.machine = Array("machine \(number) of this test, with a name that is long".utf8)
    return file
  }

  /// All values that are kept.
  func allValues() throws -> Set<String> {
    var vault = try unlock()
    var values: Set<String> = []
    for name in try vault.names(includingDeleted: true) {
      values.formUnion(try vault.values(of: name))
    }
    vault.fold()
    return values
  }

  func standingValues() throws -> Set<String> {
    var vault = try unlock()
    var values: Set<String> = []
    for name in try vault.names() { values.formUnion(try vault.standingValues(of: name)) }
    vault.fold()
    return values
  }

  func unlockedFindings() throws -> [String] {
    var vault = try unlock()
    let findings = try vault.findings()
    vault.fold()
    return findings
  }
}
