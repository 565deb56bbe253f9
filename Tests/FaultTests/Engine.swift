// SPDX-License-Identifier: MIT

import KuraFormat
import KuraVault
import SecureMemory

/// What a vault is opened with in a test.
struct Secret {
  let credential: Credential
  let bytes: [UInt8]

  static func passcode(_ text: String) -> Secret {
    Secret(credential: .passcode, bytes: Array(text.utf8))
  }

  static func recoveryKey(_ text: String) -> Secret {
    Secret(credential: .recoveryKey, bytes: Array(text.utf8))
  }
}

/// Where and how a test opens vaults.
struct Site {
  /// A directory for seen files.
  let state: String
  /// Which comparisons the engine makes; all but in the tests of the tests.
  var checks = IntegrityChecks.all
  /// What slots of a TPM and of a security key are opened by.
  var hardware: VectorHardware?

  var options: VaultOptions {
    var options = VaultOptions(stateDirectory: state)
    options.checks = checks
    (options.chip, options.keys) = (hardware, hardware)
    return options
  }
}

/// The engine's calls as tests need them.
enum Engine {
  /// Looked up once: the engine's own look before each unlocking costs an eighth of a trial.
  private static let memory = MemoryBudget.available()

  static func open(
    _ path: String, at site: Site, with secret: Secret, acceptingRollback: Bool = false
  ) throws(VaultError) -> UnlockedVault {
    var locked = try LockedVault(at: path, options: site.options)
    let attempt = try locked.attempt(availableMemory: memory)
    let bytes = try secretBytes(secret.bytes)
    let key = try attempt.open(secret.credential, secret: bytes)
    return try locked.unlock(with: key, acceptingRollback: acceptingRollback)
  }

  static func secretBytes(_ bytes: [UInt8]) throws(VaultError) -> SecretBytes {
    do { return try SecretBytes(copying: bytes.span) } catch { throw .outOfMemory }
  }

  /// Creates or replaces an item; a long value goes up in pieces.
  @discardableResult
  static func put(
    _ name: String, _ value: [UInt8], _ attributes: [String: String] = [:],
    in vault: inout UnlockedVault
  ) throws(VaultError) -> UInt64 {
    var edits = AttributeEdits(replacingAll: true)
    for (key, value) in attributes {
      let (key, value) = (Array(key.utf8), Array(value.utf8))
      try edits.set(key.span, to: value.span)
    }
    let name = Array(name.utf8)
    guard value.count > 65_536 else {
      return try vault.put(name.span, value: value.span, attributes: edits, condition: .replace)
        .revision
    }
    var upload = try vault.beginUpload(name.span, attributes: edits, condition: .replace)
    var start = 0
    while start < value.count {
      let end = min(start + 100_000, value.count)
      try vault.append(value.span.extracting(start..<end), to: &upload)
      start = end
    }
    return try vault.commit(&upload).revision
  }

  /// Gives the vault at `path`, which is open as `vault`, another passcode.
  static func changePasscode(
    to passcode: String, of path: String, at site: Site, with secret: Secret,
    in vault: inout UnlockedVault
  ) throws(VaultError) {
    var locked = try LockedVault(at: path, options: site.options)
    let attempt = try locked.attempt()
    let bytes = try secretBytes(secret.bytes)
    let fresh = try attempt.open(secret.credential, secret: bytes)
    let new = try secretBytes(Array(passcode.utf8))
    let slot: PreparedSlot? = try PreparedSlot.passcode(new, kdf: cheap, allowsWeak: true)
    try vault.changeSlots(authorizedBy: fresh, passcode: slot, recovery: nil)
    locked.close()
  }

  /// The owner's proof for the vault at `path`.
  static func owner(
    of path: String, at site: Site, with secret: Secret
  ) throws(VaultError) -> OwnerProof {
    var locked = try LockedVault(at: path, options: site.options)
    let attempt = try locked.attempt()
    locked.close()
    let bytes = try secretBytes(secret.bytes)
    return try OwnerProof(try attempt.open(secret.credential, secret: bytes))
  }

  /// What a derivation costs in tests.
  static let cheap = KDFParameters(memory: 1 << 20, passes: 1)

  static func remove(
    _ name: String, ifThere: Bool = false, in vault: inout UnlockedVault
  ) throws(VaultError) {
    let name = Array(name.utf8)
    do throws(VaultError) {
      try vault.remove(name.span)
    } catch {
      guard ifThere, error == .notFound else { throw error }
    }
  }

  /// A whole value, however it is kept.
  static func value(
    _ name: [UInt8], revision: UInt64? = nil, in vault: inout UnlockedVault
  ) throws(VaultError) -> [UInt8] {
    var value = try vault.value(name.span, revision: revision)
    return try whole(&value, in: &vault)
  }

  private static func whole(
    _ value: inout Value, in vault: inout UnlockedVault
  ) throws(VaultError) -> [UInt8] {
    guard value.isStream else { return copied(value.bytes) }
    var bytes: [UInt8] = []
    while let part = try value.next(in: &vault) { bytes += copied(part.bytes) }
    return bytes
  }

  static func copied(_ span: Span<UInt8>) -> [UInt8] {
    span.withUnsafeBufferPointer { Array($0) }
  }

  /// Everything `verify` finds.
  static func findings(_ vault: inout UnlockedVault) throws(VaultError) -> [FindingKind] {
    var verification = try vault.beginVerify()
    var found: [FindingKind] = []
    while true {
      let progress = try verification.step(in: vault)
      while let finding = try verification.takeFinding() { found.append(finding.kind) }
      if progress.isFinished { return found }
    }
  }
}

// MARK: - Lines of vector files

extension Engine {
  /// What the engine says where `line` was written.
  static func text(
    _ line: ExpectedLine, in vault: inout UnlockedVault, with key: borrowing ProtectedKey? = nil
  ) throws(VaultError) -> String {
    if line.isProtected { return try protectedText(line, in: &vault, with: key) }
    var value = try vault.value(line.name.span, revision: line.revision, with: key)
    let bytes = try whole(&value, in: &vault)
    let isPattern = bytes.count > 256 && bytes == Bytes.pattern(bytes.count)
    return line.head + facts(value.item, value: isPattern ? "pattern" : Bytes.hex(bytes))
      + line.tail
  }

  /// What opens protected values; nil where the slot does not hold it.
  static func protectedKey(
    of path: String, at site: Site, with secret: Secret, in vault: inout UnlockedVault
  ) throws(VaultError) -> ProtectedKey? {
    var locked = try LockedVault(at: path, options: site.options)
    let bytes = try secretBytes(secret.bytes)
    let fresh = try locked.attempt(availableMemory: memory).open(secret.credential, secret: bytes)
    locked.close()
    guard fresh.holdsProtectedHalf else { return nil }
    return try vault.protectedKey(from: fresh)
  }

  /// A protected value is refused, which is what the line says of it.
  private static func protectedText(
    _ line: ExpectedLine, in vault: inout UnlockedVault, with key: borrowing ProtectedKey?
  ) throws(VaultError) -> String {
    do throws(VaultError) {
      _ = try vault.value(line.name.span, with: key)
      return "read without the passcode: \(line.text)"
    } catch {
      guard error == .protected else { throw error }
    }
    return line.head + facts(try vault.item(line.name.span), value: "protected")
  }

  /// `NAME-HEX revision=… kind=… class=… size=… value=… KEY-HEX:VALUE-HEX …`
  static func facts(_ item: borrowing Item, value: String) -> String {
    var text = Bytes.hex(copied(item.name))
    text += " revision=\(item.revision) kind=\(item.isDeleted ? 1 : item.isOTP ? 2 : 0)"
    text += " class=\(item.isProtected ? 1 : 0) size=\(item.size) value=\(value)"
    var cursor = item.attributes.makeCursor()
    while cursor.advance() {
      text += " " + Bytes.hex(copied(cursor.key)) + ":" + Bytes.hex(copied(cursor.value))
    }
    return text
  }

  /// The whole vault as `item:` and `old:` lines, as the reference prints them.
  static func lines(_ vault: inout UnlockedVault) throws(VaultError) -> [String] {
    var lines: [String] = []
    var names: [(bytes: [UInt8], isDeleted: Bool)] = []
    var listing = vault.listing(includingDeleted: true)
    while let item = try listing.next(in: &vault) {
      names.append((copied(item.name), item.isDeleted))
      if item.isDeleted { lines.append("item: " + facts(item, value: "")) }
    }
    for (name, isDeleted) in names {
      let current = "item: \(Bytes.hex(name)) value=x"
      if !isDeleted { lines.append(try text(ExpectedLine(current), in: &vault)) }
      for revision in try vault.revisions(name.span) {
        let old = "old: \(Bytes.hex(name)) revision=\(revision) of=\(Bytes.hex(name))"
        do throws(VaultError) {
          lines.append(try text(ExpectedLine(old), in: &vault))
        } catch {
          guard error == .revisionNotFound || error == .notFound else { throw error }
        }
      }
    }
    return lines
  }
}
