// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Synchronization
import Testing

@testable import KuraVault

/// Security keys that remember what they were asked; each is a number, with which the ids of its credentials begin.
final class FakeKeys: SecurityKeys {
  struct State {
    /// Those that are plugged in.
    var here: [UInt8] = [1]
    var made: UInt8 = 0
    var isVerified = true
    var fault: ChipFault?
    var salts: [[UInt8]] = []
    var pins: [[UInt8]] = []
  }

  let state = Mutex(State())

  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts {
    try check(credential)
    return SecurityKeyFacts(takesPIN: true, verifies: false, pinTries: credential?.id[0] ?? 8)
  }

  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> EnrolledKey {
    let credential = state.withLock { state in
      state.made += 1
      return KeyCredential(id: [state.here[0], state.made], isVerified: state.isVerified)!
    }
    return EnrolledKey(credential, secret: try secret(of: credential, salt: salt, pin: pin))
  }

  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    try check(credential)
    let (shown, typed) = (bytes(of: salt), bytes(of: pin))
    state.withLock { state in
      state.salts.append(shown)
      state.pins.append(typed)
    }
    let output = shown.map { $0 ^ credential.id[0] ^ (credential.isVerified ? 0x80 : 0) }
    do { return try SecretBytes(copying: output.span) } catch { throw ChipFault(.failed) }
  }

  private func check(_ credential: KeyCredential?) throws(ChipFault) {
    let (fault, here) = state.withLock { ($0.fault, $0.here) }
    if let fault { throw fault }
    if let credential, !here.contains(credential.id[0]) { throw ChipFault(.otherKey) }
  }

  private func bytes(of secret: borrowing SecretBytes) -> [UInt8] {
    secret.bytes.indices.map { secret.bytes[$0] }
  }
}

/// Slots that a security key has its part of.
@Suite("A slot of a security key") struct KeySlotTests {
  private let keys = FakeKeys()
  private let file: TestVault

  init() throws {
    file = try TestVault()
    file.keys = keys
  }

  private func add(_ pin: String = "4711", withProtected: Bool = false) throws {
    var vault = try file.unlock()
    var locked = try file.open()
    let slot = try PreparedSlot.fido2(
      pin: secret(pin), withProtected: withProtected, beside: try locked.attempt())
    try vault.addSlot(slot, authorizedBy: file.key())
    vault.fold()
  }

  private func facts(forNew isNew: Bool) -> Result<SecurityKeyFacts, VaultError> {
    do throws(VaultError) {
      var locked = try file.open()
      return .success(try locked.attempt().keyFacts(forNew: isNew))
    } catch { return .failure(error) }
  }

  @Test func `opens by its key, and by nothing else`() throws {
    #expect(file.refusal("4711", .fido2) == .noSuchSlot(.fido2))
    try add()
    #expect(file.refusal("4711", .fido2) == nil)
    let asked = keys.state.withLock { $0.salts.count }
    for credential in [Credential.passcode, .local, .tpm] {
      #expect(file.refusal("4711", credential) != nil)
    }
    #expect(keys.state.withLock { $0.salts.count } == asked)
    keys.state.withLock { $0.here = [2] }
    #expect(file.refusal("4711", .fido2) == .chip(ChipFault(.otherKey)))
    var vault = try file.unlock()
    let report = try vault.slotReports()[1]
    #expect(report.kind == .fido2 && report.availability == .unknown && !report.holdsProtectedHalf)
  }

  @Test func `is of one of several keys, and the one that is there opens it`() throws {
    try add()
    keys.state.withLock { $0.here = [2] }
    try add()
    for number: UInt8 in [1, 2] {
      keys.state.withLock { $0.here = [number] }
      #expect(try file.unlock("4711", .fido2).unlockSlot == number)
      #expect(facts(forNew: false).map(\.pinTries) == .success(number))
    }
    keys.state.withLock { $0.here = [3] }
    #expect(facts(forNew: false) == .failure(.chip(ChipFault(.otherKey))))
    #expect(facts(forNew: true).map(\.pinTries) == .success(8))
  }

  @Test func `has the key asked for another secret than each other slot`() throws {
    for _ in 0..<3 { try add() }
    let salts = keys.state.withLock { $0.salts }
    #expect(Set(salts).count == 3 && salts.allSatisfy { $0.count == 32 })
  }

  @Test func `hands the key its PIN in normal form, and none that is too long`() throws {
    try add("cafe\u{301}")
    #expect(file.refusal("caf\u{E9}", .fido2) == nil)
    let pin = Array("caf\u{E9}".utf8)
    #expect(keys.state.withLock { $0.pins } == [pin, pin])
    let long = String(repeating: "1", count: 64)
    #expect(file.refusal(long, .fido2) == .passcodeInvalid(.tooLong))
    #expect(file.refusal("1\u{0}1", .fido2) != nil)
    #expect(file.refusal("", .fido2) == nil)
    #expect(keys.state.withLock { $0.pins.count } == 3)
  }

  @Test func `opens protected values where it was made to, and is disabled and enabled`() throws {
    try add()
    #expect(try !file.key("4711", .fido2).opensProtected)
    #expect(throws: VaultError.ownerNeeded) { _ = try OwnerProof(file.key("4711", .fido2)) }
    try add(withProtected: true)
    keys.state.withLock { $0.here = [1] }
    var vault = try file.unlock()
    try vault.removeSlot(1, authorizedBy: file.key())
    #expect(try file.key("4711", .fido2).opensProtected)
    try vault.disableSlot(2, authorizedBy: file.key())
    #expect(file.refusal("4711", .fido2) == .noSuchSlot(.fido2))
    try vault.enableSlot(2, authorizedBy: file.key())
    #expect(file.refusal("4711", .fido2) == nil)
  }

  @Test(arguments: [(true, true), (true, false), (false, true)])
  func `is its owner's word where the key verifies him and it opens what is protected`(
    isVerified: Bool, withProtected: Bool
  ) throws {
    keys.state.withLock { $0.isVerified = isVerified }
    try add(withProtected: withProtected)
    var vault = try file.unlock()
    let origin = try file.key("4711", .fido2).origin
    let long = vault.policy[.maxSession] + 1
    guard isVerified, withProtected else {
      #expect(throws: VaultError.ownerNeeded) { _ = try OwnerProof(file.key("4711", .fido2)) }
      #expect(throws: VaultError.ownerNeeded) {
        try vault.checkTimes(idleTimeout: 0, maxSession: long, by: origin)
      }
      return
    }
    _ = try OwnerProof(file.key("4711", .fido2))
    try vault.checkTimes(idleTimeout: 0, maxSession: long, by: origin)
  }

  @Test(arguments: [true, false])
  func `goes over to another key as it was, by one touch and with another secret`(
    withProtected: Bool
  ) throws {
    try add(withProtected: withProtected)
    let old = try file.key("4711", .fido2)
    var vault = try file.unlock()
    var locked = try file.open()
    let tried = try locked.attempt()
    var slots = try RekeySlots.cheap()
    let touches = keys.state.withLock { $0.salts.count }
    let slot = try PreparedSlot.fido2(
      pin: secret("4711"), withProtected: withProtected, beside: tried, renewing: 1,
      naming: try SlotNaming(label: "blue".utf8.span))
    #expect(slot.header.credential == (try SlotHeader(decoding: old.row.header.span)).credential)
    #expect(slot.header.id != (try SlotHeader(decoding: old.row.header.span)).id)
    slots.keep(slot, at: 1)
    let salts = keys.state.withLock { $0.salts }
    #expect(salts.count == touches + 1 && Set(salts).count == 2)
    try vault.complete(try vault.beginRekey(authorizedBy: file.key(), slots))
    #expect(file.refusal("4711", .fido2) == nil)
    let report = try vault.slotReports()[1]
    #expect(report.number == 1 && report.holdsProtectedHalf == withProtected)
    #expect(report.note?.label == Array("blue".utf8))
  }

  @Test func `goes over in its own place alone, and by its own key`() throws {
    try add()
    var locked = try file.open()
    let tried = try locked.attempt()
    func refusal(renewing number: UInt8) -> VaultError? {
      do throws(VaultError) {
        _ = try PreparedSlot.fido2(pin: secret("4711"), beside: tried, renewing: number)
        return nil
      } catch { return error }
    }
    #expect(refusal(renewing: 0) == .slotOfOtherKind(0, .fido2))
    #expect(refusal(renewing: 2) == .slotNotFound(2))
    keys.state.withLock { $0.here = [2] }
    #expect(refusal(renewing: 1) == .chip(ChipFault(.otherKey)))
  }

  @Test(arguments: [ChipFault(.wrongPIN, 7), ChipFault(.lastPIN, 1), ChipFault(.untouched)])
  func `tells why the key did nothing`(fault: ChipFault) throws {
    try add()
    keys.state.withLock { $0.fault = fault }
    #expect(file.refusal("4711", .fido2) == .chip(fault))
    #expect(file.refusal("4711", .fido2)?.isWrongSecret == (fault.kind == .wrongPIN))
    #expect(facts(forNew: false) == .failure(.chip(fault)))
    file.keys = nil
    #expect(file.refusal("4711", .fido2) == .chip(ChipFault(.noProgram)))
    #expect(facts(forNew: true) == .failure(.chip(ChipFault(.noProgram))))
  }

  @Test func `opens each copy of the vault once they have met`() throws {
    let pair = try Copies()
    try pair.part()
    for copy in [pair.first, pair.second] { copy.keys = keys }
    do {
      var locked = try pair.first.open()
      let slot = try PreparedSlot.fido2(pin: secret("4711"), beside: try locked.attempt())
      var first = try pair.first.unlock()
      try first.addSlot(slot, authorizedBy: pair.first.key())
      first.fold()
    }
    var second = try pair.second.unlock()
    #expect(try second.merge(try second.openCopy(at: pair.first.path)).slots == 1)
    #expect(try second.findings() == [])
    second.fold()
    #expect(pair.second.refusal("4711", .fido2) == nil)
  }
}
