// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

@Suite struct `The count of tries` {
  private let vault: VaultID = {
    let bytes = [UInt8](repeating: 9, count: 16)
    return VaultID(bytes.span)
  }()
  private let origin = ClockOrigin.current()

  private func path(_ file: TestVault) -> String {
    file.stateDirectory + "/\(vault.hexadecimal).tries"
  }

  /// Counts a wrong passcode, as it is done before it is tried.
  private func count(_ file: TestVault) throws {
    var held = try TryFile.hold(vault, in: file.stateDirectory, patience: 0)
    var record = held.record
    record[.passcode].count(at: 5, in: origin)
    try held.write(record)
  }

  private func failures(_ file: TestVault) -> UInt32 {
    TryFile.look(at: vault, in: file.stateDirectory)[.passcode].failures
  }

  @Test func `is nothing where there is no file, and looking makes none`() throws {
    let file = try TestVault(creating: false)
    #expect(failures(file) == 0)
    #expect(!FileManager.default.fileExists(atPath: file.stateDirectory))
  }

  @Test func `is kept in a file of 512 bytes that only its owner can read`() throws {
    let file = try TestVault(creating: false)
    for number in 1...4 {
      try count(file)
      #expect(failures(file) == UInt32(number))
    }
    let attributes = try FileManager.default.attributesOfItem(atPath: path(file))
    #expect(attributes[.posixPermissions] as? Int == 0o600)
    #expect(attributes[.size] as? Int == 512)
  }

  @Test func `is held by one try at a time, and looked at meanwhile`() throws {
    let file = try TestVault(creating: false)
    try count(file)
    let held = try TryFile.hold(vault, in: file.stateDirectory, patience: 0)
    #expect(throws: VaultError.busy) {
      _ = try TryFile.hold(vault, in: file.stateDirectory, patience: 20)
    }
    #expect(failures(file) == 1)
    #expect(held.record[.passcode].failures == 1)
  }

  @Test func `survives a torn write`() throws {
    let file = try TestVault(creating: false)
    for _ in 1...3 { try count(file) }
    let whole = try Data(contentsOf: URL(filePath: path(file)))
    // Counters 1 and 3 stand in the second half, 2 in the first.
    for (half, left) in [(0, 3), (256, 2)] as [(Int, UInt32)] {
      var torn = whole
      torn.replaceSubrange((half + 60)..<(half + 256), with: Data(count: 196))
      try torn.write(to: URL(filePath: path(file)))
      #expect(failures(file) == left)
    }
  }

  @Test func `of another vault counts as five, and is written over`() throws {
    let file = try TestVault(creating: false)
    try count(file)
    let bytes = [UInt8](repeating: 8, count: 16)
    let other = VaultID(bytes.span)
    let copy = file.stateDirectory + "/\(other.hexadecimal).tries"
    try FileManager.default.copyItem(atPath: path(file), toPath: copy)
    #expect(TryFile.look(at: other, in: file.stateDirectory)[.passcode].failures == 5)
    var held = try TryFile.hold(other, in: file.stateDirectory, patience: 0)
    try held.write(held.record)
    let record = TryFile.look(at: other, in: file.stateDirectory)
    #expect(record[.passcode].failures == 5)
    #expect(record.counter == 1)
  }

  @Test func `cannot be taken where a link, a pipe or a directory stands`() throws {
    let file = try TestVault(creating: false)
    try count(file)
    try FileManager.default.moveItem(atPath: path(file), toPath: path(file) + "-away")
    try FileManager.default.createSymbolicLink(
      atPath: path(file), withDestinationPath: path(file) + "-away")
    #expect(throws: VaultError.self) { try count(file) }
    #expect(failures(file) == 0)
    try FileManager.default.removeItem(atPath: path(file))
    #expect(mkfifo(path(file), 0o600) == 0)
    #expect(throws: VaultError.self) { try count(file) }
    #expect(failures(file) == 0)
    try FileManager.default.removeItem(atPath: path(file))
    #expect(mkdir(path(file), 0o700) == 0)
    #expect(throws: VaultError.self) { try count(file) }
  }

  @Test func `is not to be had where there is no directory to be made`() throws {
    let file = try TestVault(creating: false)
    try Data().write(to: URL(filePath: file.stateDirectory))
    #expect(throws: VaultError.self) { try count(file) }
  }
}

@Suite struct `Known mistakes` {
  /// A wrong secret, by what it came to.
  private func mistake(_ numbers: UInt8...) -> Mistake {
    var mistake = Mistake()
    for number in numbers {
      let bytes = [UInt8](repeating: number, count: 32)
      mistake.add(Digest(bytes.span))
    }
    return mistake
  }

  /// What a passcode comes to at a vault's slots.
  private func mistake(_ passcode: String, at locked: inout LockedVault) throws -> Mistake {
    var mistake = Mistake()
    let attempt = try locked.attempt()
    #expect(throws: VaultError.wrongPasscode) {
      _ = try attempt.open(.passcode, secret: secret(passcode), noting: &mistake)
    }
    return mistake
  }

  @Test func `are told by what they came to at each slot`() {
    var mistakes = KnownMistakes()
    mistakes.insert(mistake(1, 2))
    #expect(mistakes.contains(mistake(1, 2)))
    #expect(mistakes.contains(mistake(2)))
    // A slot that was not there before may be opened by what the others refuse.
    #expect(!mistakes.contains(mistake(1, 2, 3)))
    #expect(!mistakes.contains(mistake()))
  }

  @Test func `are not kept for ever`() {
    var mistakes = KnownMistakes()
    for number in UInt8(0)..<65 { mistakes.insert(mistake(number)) }
    #expect(!mistakes.contains(mistake(0)))
    #expect(mistakes.contains(mistake(1)))
    #expect(mistakes.contains(mistake(64)))
  }

  @Test func `are those of one passcode at one vault`() throws {
    let (file, other) = (try TestVault(), try TestVault())
    var locked = try file.open()
    var foreign = try other.open()
    let first = try mistake("wrong", at: &locked)
    #expect(first.marks.count == 1)
    #expect(try mistake("wrong", at: &locked) == first)
    #expect(try mistake("wring", at: &locked) != first)
    #expect(try mistake("wrong", at: &foreign) != first)
  }
}
