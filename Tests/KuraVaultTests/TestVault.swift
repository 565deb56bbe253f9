// SPDX-License-Identifier: MIT

import CSQLite
import Foundation
import KuraFormat
import KuraStorage
import SecureMemory
import Synchronization
import TestGround
import Testing

@testable import KuraVault

/// A vault file of its own, with a state directory of its own, gone with its test.
final class TestVault {
  static let passcode = "correct horse"
  /// As cheap as Argon2id can be.
  static let kdf = KDFParameters(memory: 8_192, passes: 1)

  let directory: String
  var recoveryKey: [UInt8] = []
  private let clock = TestClock()
  /// What an engine that lives on remembers; nil for one that does not.
  var memory: VaultMemory?
  /// Whose changes were left out when it entered a key.
  var leftOut: Set<DeviceID> = []
  /// What speaks to a TPM; nil for nothing.
  var chip: (any SealingChip)?
  /// What speaks to security keys; nil for nothing.
  var keys: (any SecurityKeys)?
  /// What opens it where nothing is said.
  var opener: (text: String, credential: Credential) = (TestVault.passcode, .passcode)
  /// What tells the machine from others; nil for this one.
  var machine: [UInt8]?
  /// How many bytes of the tree a merge keeps in memory; nil for as many as ever.
  var mostHeld: Int?

  var path: String { directory + "/vault/test.kura" }
  /// Another vault's, of the same machine.
  var sharedState: String?
  var stateDirectory: String { sharedState ?? directory + "/state" }
  var options: VaultOptions {
    let clock = clock
    var options = VaultOptions(stateDirectory: stateDirectory) { clock.tick() }
    options.memory = memory
    if let machine { options.machine = machine }
    (options.chip, options.keys) = (chip, keys)
    if let mostHeld { options.mostHeld = mostHeld }
    return options
  }

  /// What the machine's clock says from now on, in milliseconds.
  func setClock(to time: UInt64) { clock.set(time) }

  init(creating: Bool = true, wantsRecoveryKey: Bool = false) throws {
    directory = try Ground.inMemory.directory("vault")
    if creating { try create(wantsRecoveryKey: wantsRecoveryKey) }
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  func createOfFirstFormat(wantsRecoveryKey: Bool = false) throws {
    let draft = try draft(wantsRecoveryKey: wantsRecoveryKey)
    recoveryKey = bytes(of: draft.recoveryKeyText)
    try draft.commit()
  }

  func create(wantsRecoveryKey: Bool = false) throws {
    try createOfFirstFormat(wantsRecoveryKey: wantsRecoveryKey)
    if Self.isOfSecondFormat { try takeOver() }
  }

  /// Whether all vaults are taken over as soon as they are made: `KURA_FORMAT=2`.
  static let isOfSecondFormat = ProcessInfo.processInfo.environment["KURA_FORMAT"] == "2"
  /// What an item that was purged leaves: in format 2 a row by which other copies know of it.
  static let traces: UInt64 = isOfSecondFormat ? 1 : 0

  /// How many changes are behind a vault that was just made.
  static let begun: UInt64 = isOfSecondFormat ? 1 : 0

  /// Makes the vault one of format 2, and leaves no copy.
  func takeOver() throws {
    var vault = try unlock()
    let copy = try #require(try vault.takeOver())
    try FileManager.default.removeItem(atPath: copy)
    vault.fold()
  }

  func draft(wantsRecoveryKey: Bool = false) throws(VaultError) -> VaultDraft {
    try VaultDraft.make(
      at: path, options: options, passcode: secret(Self.passcode), kdf: Self.kdf,
      allowsWeak: true, wantsRecoveryKey: wantsRecoveryKey)
  }

  func open() throws(VaultError) -> LockedVault { try LockedVault(at: path, options: options) }

  func key(
    _ text: String? = nil, _ credential: Credential? = nil
  ) throws(VaultError) -> VaultKey {
    var locked = try open()
    return try open(text, credential, locked.attempt())
  }

  private func open(
    _ text: String?, _ credential: Credential?, _ attempt: UnlockAttempt
  ) throws(VaultError) -> VaultKey {
    let usual = text == nil ? opener.credential : .passcode
    return try attempt.open(credential ?? usual, secret: secret(text ?? opener.text))
  }

  /// Opens and unlocks the vault.
  func unlock(
    _ text: String? = nil, _ credential: Credential? = nil,
    accepting: Bool = false, acceptingExchange: Bool = false,
    without skipped: IntegrityChecks = []
  ) throws(VaultError) -> UnlockedVault {
    var options = options
    options.checks.subtract(skipped)
    var locked = try LockedVault(at: path, options: options)
    let key = try open(text, credential, locked.attempt())
    return try locked.unlock(
      with: key, acceptingRollback: accepting, acceptingExchange: acceptingExchange)
  }

  /// Why the vault does not unlock; nil when it does.
  func refusal(
    _ text: String? = nil, _ credential: Credential? = nil,
    without skipped: IntegrityChecks = []
  ) -> VaultError? {
    do throws(VaultError) {
      _ = try unlock(text, credential, without: skipped)
      return nil
    } catch { return error }
  }

  /// Fills a vault and leaves it locked.
  func fill(_ body: (inout UnlockedVault) throws -> Void) throws {
    var vault = try unlock()
    try body(&vault)
    try vault.flushSeen()
    vault.lock().close()
  }

  var files: [String] {
    let content = try? FileManager.default.contentsOfDirectory(atPath: directory + "/vault")
    return (content ?? []).sorted()
  }

  /// All bytes of the vault's files.
  func content(of name: String = "test.kura") throws -> Data {
    try Data(contentsOf: URL(filePath: directory + "/vault/" + name))
  }

  /// Puts the vault file back as it was.
  func restore(_ content: Data) throws {
    for name in files where name != "test.kura" {
      try FileManager.default.removeItem(atPath: directory + "/vault/" + name)
    }
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: content)
    try handle.close()
  }

  /// What somebody with the file and no key can do; values come back as hexadecimal digits.
  @discardableResult
  func attack(_ statements: String..., attaching other: TestVault? = nil) -> [String] {
    var db: OpaquePointer?
    #expect(sqlite3_open_v2(path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    defer { sqlite3_close(db) }
    var results: [String] = []
    let attach = other.map { ["ATTACH '\($0.path)' AS other"] } ?? []
    for text in attach + statements {
      var statement: OpaquePointer?
      let status = sqlite3_prepare_v2(db, text, -1, &statement, nil)
      #expect(status == SQLITE_OK, "\(text): \(String(cString: sqlite3_errmsg(db)))")
      while sqlite3_step(statement) == SQLITE_ROW {
        results.append(String(cString: sqlite3_column_text(statement, 0)))
      }
      #expect(sqlite3_finalize(statement) == SQLITE_OK, "\(text)")
    }
    return results
  }
}

/// A clock that goes on by a second with each look at it.
final class TestClock: Sendable {
  private let state = Mutex(UInt64(1_700_000_000_000))

  func tick() -> UInt64 {
    state.withLock {
      $0 += 1_000
      return $0
    }
  }

  func set(_ time: UInt64) { state.withLock { $0 = time } }
}

func secret(_ text: String) -> SecretBytes { secret(Array(text.utf8)) }

func secret(_ bytes: [UInt8]) -> SecretBytes {
  do { return try SecretBytes(copying: bytes.span) } catch { fatalError("no memory") }
}

func bytes(of span: Span<UInt8>) -> [UInt8] { [UInt8](copying: span) }

func text(of span: Span<UInt8>) -> String { String(decoding: bytes(of: span), as: UTF8.self) }

/// Bytes that no two lengths share much of.
func pattern(_ count: Int, seed: Int = 7) -> [UInt8] {
  // A prime length keeps chunks from being alike.
  let block = (0..<4_093).map { UInt8(truncatingIfNeeded: ($0 &* 31 &+ seed) ^ ($0 >> 8)) }
  var bytes: [UInt8] = []
  bytes.reserveCapacity(count + block.count)
  while bytes.count < count { bytes += block }
  return Array(bytes.prefix(count))
}

// MARK: - Short words for tests

extension UnlockedVault {
  @discardableResult
  mutating func put(
    _ name: String, _ value: [UInt8], _ condition: PutCondition = .replace,
    _ attributes: [String: String] = [:], replacingAll: Bool = false
  ) throws(VaultError) -> PutResult {
    let name = Array(name.utf8)
    return try put(
      name.span, value: value.span, attributes: edits(attributes, replacingAll: replacingAll),
      condition: condition)
  }

  /// The owner's proof, by the passcode that a test's vault begins with.
  func owner() throws(VaultError) -> OwnerProof {
    var locked = try LockedVault(at: path, options: options)
    return try OwnerProof(try locked.attempt().open(.passcode, secret: secret(TestVault.passcode)))
  }

  mutating func setPolicy(_ key: Setting, to value: UInt64) throws(VaultError) {
    try setPolicy(key, to: value, by: try owner())
  }

  @discardableResult
  mutating func put(
    _ name: String, _ value: String, _ condition: PutCondition = .replace
  ) throws(VaultError) -> PutResult {
    try put(name, Array(value.utf8), condition)
  }

  /// The whole value, streamed or not.
  mutating func get(_ name: String, revision: UInt64? = nil) throws(VaultError) -> [UInt8] {
    let name = Array(name.utf8)
    var value = try value(name.span, revision: revision)
    guard value.isStream else { return bytes(of: value.bytes) }
    var all: [UInt8] = []
    while let piece = try value.next(in: &self) { all += bytes(of: piece.bytes) }
    return all
  }

  mutating func getText(_ name: String, revision: UInt64? = nil) throws(VaultError) -> String {
    String(decoding: try get(name, revision: revision), as: UTF8.self)
  }

  mutating func item(_ name: String) throws(VaultError) -> Item {
    let name = Array(name.utf8)
    return try item(name.span)
  }

  mutating func attributes(of name: String) throws(VaultError) -> [String: String] {
    let item = try item(name)
    var found: [String: String] = [:]
    var cursor = item.attributes.makeCursor()
    while cursor.advance() { found[text(of: cursor.key)] = text(of: cursor.value) }
    return found
  }

  mutating func remove(_ name: String, ifRevision: UInt64? = nil) throws(VaultError) {
    let name = Array(name.utf8)
    try remove(name.span, ifRevision: ifRevision)
  }

  mutating func revisions(_ name: String) throws(VaultError) -> [UInt64] {
    let name = Array(name.utf8)
    return try revisions(name.span)
  }

  /// Stores a value piece by piece.
  @discardableResult
  mutating func upload(
    _ name: String, _ value: [UInt8], _ condition: PutCondition = .replace, piece: Int = 65_536
  ) throws(VaultError) -> PutResult {
    let name = Array(name.utf8)
    var upload = try beginUpload(name.span, attributes: AttributeEdits(), condition: condition)
    for start in stride(from: 0, to: value.count, by: piece) {
      let end = min(start + piece, value.count)
      try append(value.span.extracting(start..<end), to: &upload)
    }
    return try commit(&upload)
  }

  mutating func names(includingDeleted: Bool = false) throws(VaultError) -> [String] {
    var listing = listing(includingDeleted: includingDeleted)
    var names: [String] = []
    while let item = try listing.next(in: &self) { names.append(text(of: item.name)) }
    return names.sorted()
  }

  /// What a whole verification finds.
  mutating func findings() throws(VaultError) -> [String] {
    var verification = try beginVerify()
    var steps = 0
    while !(try verification.step(in: self).isFinished) { steps += 1 }
    var found: [String] = []
    while let finding = try verification.takeFinding() {
      found.append("\(finding.kind): \(text(of: finding.place))")
    }
    return found
  }

  mutating func sweepAll() throws(VaultError) { while try sweep() {} }
}

func edits(
  _ set: [String: String] = [:], delete: [String] = [], replacingAll: Bool = false
) throws(VaultError) -> AttributeEdits {
  var edits = AttributeEdits(replacingAll: replacingAll)
  for (key, value) in set {
    let (key, value) = (Array(key.utf8), Array(value.utf8))
    try edits.set(key.span, to: value.span)
  }
  for key in delete {
    let key = Array(key.utf8)
    try edits.delete(key.span)
  }
  return edits
}

/// Somebody else who holds the write lock.
final class Blocker {
  private var db: OpaquePointer?

  init(_ file: TestVault) throws {
    #expect(sqlite3_open_v2(file.path, &db, SQLITE_OPEN_READWRITE, nil) == SQLITE_OK)
    #expect(sqlite3_exec(db, "BEGIN IMMEDIATE", nil, nil, nil) == SQLITE_OK)
  }

  func release() {
    sqlite3_close(db)
    db = nil
  }

  deinit { sqlite3_close(db) }
}
