// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import SecureMemory
import Testing

@testable import KuraVault

/// What a log gave.
struct ReadLog {
  var names: [String] = []
  var remarks: [LogRemark] = []
  var flaws: [LogFlaw] = []
  /// The programs of entries that were made while the vault was locked.
  var locked: [String] = []
  var dropped: UInt64 = 0
}

extension TestVault {
  /// Notes a wrong passcode, by a program `guesser`, at the vault, which is locked.
  func noteGuess(at id: VaultID) throws {
    var facts = LogFacts(time: 1, verb: 3, code: 32, detail: 1)
    facts.program = Array("/usr/bin/guesser".utf8)
    try LockedLog.note(facts, of: id, in: stateDirectory)
  }
}

extension UnlockedVault {
  mutating func noteForTest(_ name: String) {
    var facts = LogFacts(time: options.now(), verb: 5)
    facts.parentProgram = Array("/bin/sh".utf8)
    note(facts, name: name.utf8.span, other: Span())
  }

  /// Notes entries, and has them written.
  mutating func log(_ names: [String]) throws(VaultError) {
    for name in names { noteForTest(name) }
    try flushLog(sync: false)
  }

  /// The same where a log that cannot be read stands in the way, and is moved aside first.
  mutating func logUntilDone(_ names: [String]) throws(VaultError) {
    for name in names { noteForTest(name) }
    for _ in 0..<3 {
      do throws(VaultError) { return try flushLog(sync: false) } catch {
        guard error == .busy else { throw error }
      }
    }
  }

  mutating func readWhole() throws -> ReadLog {
    var read = ReadLog()
    guard var reader = try readLog() else { return read }
    read.dropped = reader.dropped
    while let item = try reader.next(in: self) {
      switch consume item {
      case .page(let page): try read.take(page)
      case .finding(let finding): read.flaws.append(finding.flaw)
      }
    }
    return read
  }

  /// Whether a reader says that somebody was at the file, or cannot read it; any other error is none.
  mutating func hasTamperedLog() throws -> Bool {
    do { return try readWhole().flaws.contains { $0 != .torn } } catch {
      guard case .damaged = error as? VaultError else { throw error }
      return true
    }
  }
}

extension ReadLog {
  mutating func take(_ page: consuming LogPage) throws {
    while let entry = try page.entries.next() {
      names.append(String(decoding: bytes(of: page.entries.name(of: entry)), as: UTF8.self))
      if entry.facts.verb == 0, let remark = LogRemark(rawValue: UInt8(entry.facts.detail & 0xFF)) {
        remarks.append(remark)
      }
      if page.wasLocked { locked.append(String(decoding: entry.facts.program, as: UTF8.self)) }
    }
  }
}

extension TestVault {
  var stateFiles: [String] {
    get throws { try FileManager.default.contentsOfDirectory(atPath: stateDirectory) }
  }

  func logBytes(_ id: VaultID) throws -> Data {
    try Data(contentsOf: URL(filePath: stateDirectory + "/\(id.hexadecimal).log"))
  }

  func logBytes(of vault: borrowing UnlockedVault) throws -> Data { try logBytes(vault.id) }

  /// Writes into the file that is there, as it stands.
  func changeLog(of vault: borrowing UnlockedVault, _ body: (inout Data) throws -> Void) throws {
    var bytes = try logBytes(of: vault)
    try body(&bytes)
    let path = stateDirectory + "/\(vault.id.hexadecimal).log"
    let handle = try #require(FileHandle(forUpdatingAtPath: path))
    try handle.truncate(atOffset: 0)
    try handle.write(contentsOf: bytes)
    try handle.close()
  }

  /// Where the frames stand.
  func frames(
    of vault: borrowing UnlockedVault
  ) throws -> [(kind: LogFrame.Kind, range: Range<Int>)] {
    let bytes = [UInt8](try logBytes(of: vault))
    var frames: [(LogFrame.Kind, Range<Int>)] = []
    var offset = LogStart.byteCount
    while offset < bytes.count {
      let rest = Array(bytes[offset...])
      let head = LogFrame(rest.span)
      let frame = try #require(head)
      frames.append((frame.kind, offset..<(offset + frame.frameByteCount)))
      offset += frame.frameByteCount
    }
    return frames
  }
}
