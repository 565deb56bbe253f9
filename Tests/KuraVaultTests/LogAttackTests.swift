// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

@Suite struct `Somebody who writes to the access log` {
  /// A log of some frames, all noted.
  private func prepared(_ file: TestVault) throws -> UnlockedVault {
    var vault = try file.unlock()
    for name in ["a", "b", "c", "d"] { try vault.log([name]) }
    let read0 = try vault.readWhole()
    #expect(read0.flaws.isEmpty)
    return vault
  }

  @Test func `is found out by each byte that is changed`() throws {
    let file = try TestVault()
    var vault = try prepared(file)
    let whole = try file.logBytes(of: vault)
    for index in whole.indices {
      try file.changeLog(of: vault) { $0[index] ^= 1 << UInt8(index % 8) }
      let found1 = try vault.hasTamperedLog()
      #expect(found1, "byte \(index)")
      try file.changeLog(of: vault) { $0 = whole }
    }
    let found2 = try vault.hasTamperedLog()
    #expect(!found2)
  }

  @Test func `is found out by each length it is cut to`() throws {
    let file = try TestVault()
    var vault = try prepared(file)
    let whole = try file.logBytes(of: vault)
    for count in stride(from: 0, to: whole.count, by: 13) {
      try file.changeLog(of: vault) { $0 = $0.prefix(count) }
      let found3 = try vault.hasTamperedLog()
      #expect(found3, "cut to \(count)")
      try file.changeLog(of: vault) { $0 = whole }
    }
  }

  @Test func `is found out by frames left out, swapped, doubled or taken from another log`() throws
  {
    let (file, other) = (try TestVault(), try TestVault())
    var vault = try prepared(file)
    let foreign = try prepared(other)
    let whole = try file.logBytes(of: vault)
    let ranges = try file.frames(of: vault).map(\.range)
    let stranger = try other.logBytes(of: foreign)[other.frames(of: foreign)[1].range]
    for (index, range) in ranges.enumerated() {
      try file.changeLog(of: vault) { $0.removeSubrange(range) }
      let found4 = try vault.hasTamperedLog()
      #expect(found4, "without \(index)")
      try file.changeLog(of: vault) { $0 = whole + whole[range] }
      let found5 = try vault.hasTamperedLog()
      #expect(found5, "doubled \(index)")
      let (head, tail) = (whole[..<range.lowerBound], whole[range.lowerBound...])
      try file.changeLog(of: vault) { $0 = head + stranger + tail }
      let found6 = try vault.hasTamperedLog()
      #expect(found6, "another's before \(index)")
      guard index > 0 else { continue }
      let before = ranges[index - 1]
      try file.changeLog(of: vault) {
        $0 = whole[..<before.lowerBound] + whole[range] + whole[before] + whole[range.upperBound...]
      }
      let found7 = try vault.hasTamperedLog()
      #expect(found7, "swapped \(index)")
    }
    try file.changeLog(of: vault) { $0 = whole }
    let found8 = try vault.hasTamperedLog()
    #expect(!found8)
  }

  @Test func `loses no entries that are whole`() throws {
    let file = try TestVault()
    var vault = try prepared(file)
    let second = try file.frames(of: vault)[1].range
    try file.changeLog(of: vault) { $0[second.lowerBound + 100] ^= 1 }
    let read = try vault.readWhole()
    #expect(read.names.filter { !$0.isEmpty } == ["a", "c", "d"])
    #expect(read.flaws == [.damaged])
  }

  @Test func `cannot put an older copy back unseen, nor remove it`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let old = try file.logBytes(of: vault)
    try vault.log(["b"])
    let id = vault.id
    vault.fold()
    let path = file.stateDirectory + "/\(id.hexadecimal).log"
    try old.write(to: URL(filePath: path))
    var again = try file.unlock()
    try again.log(["c"])
    let read9 = try again.readWhole()
    #expect(read9.remarks == [.begun, .cut])
    // It stays told.
    let read10 = try again.readWhole()
    #expect(read10.flaws.isEmpty)
    again.fold()
    try FileManager.default.removeItem(atPath: path)
    var third = try file.unlock()
    try third.log(["d"])
    let read11 = try third.readWhole()
    #expect(read11.remarks == [.cut])
  }

  @Test func `cannot have an entry of a locked vault told twice`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    let id = vault.id
    vault.fold()
    try file.noteGuess(at: id)
    var again = try file.unlock()
    try again.log(["b"])
    let place = try #require(try file.frames(of: again).first { $0.kind == .locked }).range
    try file.changeLog(of: again) {
      let copy = $0[place]
      $0 += copy
    }
    let read = try again.readWhole()
    #expect(read.locked.count == 1)
    #expect(read.flaws.contains(.misplaced))
  }

  @Test func `is not suspected for a write that a crash cut off`() throws {
    let file = try TestVault()
    var vault = try file.unlock()
    try vault.log(["a"])
    vault.noteForTest("b")
    try vault.flushLog(sync: false)
    let last = try #require(try file.frames(of: vault).last).range
    let id = vault.id
    _ = vault.lock()
    for (tail, index) in zip([5, 60, last.count - 1], 0...) {
      let path = file.stateDirectory + "/\(id.hexadecimal).log"
      let whole = try Data(contentsOf: URL(filePath: path))
      let kept = index == 0 ? whole[..<last.lowerBound] : whole
      try (kept + whole[last.lowerBound...].prefix(tail)).write(to: URL(filePath: path))
      var again = try file.unlock()
      try again.log(["after \(index)"])
      let read = try again.readWhole()
      #expect(read.flaws.isEmpty, "\(tail)")
      #expect(read.remarks.last == .torn)
      #expect(!read.remarks.contains(.cut))
      _ = again.lock()
    }
  }
}
