// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

/// Two meetings of one vault at a time, as where somebody asks for one beside a watch.
@Suite struct `A meeting that another one overtakes` {
  let machines: Machines
  var store: TestStore { machines.store }
  var file: TestVault { machines.all[0] }

  init() throws {
    machines = try Machines(2)
    try file.fill { try $0.put("a", "1") }
  }

  /// Meets the store.
  ///
  /// - Parameters:
  ///   - isLate: Whether that is done while the head is on its way.
  ///   - body: What is done once the head stands there, before the meeting hears so.
  private func meet(
    _ vault: inout UnlockedVault, compacts: Bool = false, late isLate: Bool = false,
    beside body: (inout UnlockedVault) throws -> Void = { _ in }
  ) throws {
    var run = try SyncRun(&vault, compacts: compacts)
    var (answer, isWritten): (SyncAnswer?, Bool) = (nil, false)
    while let wish = try run.next(answer, in: &vault) {
      let isHead = if case .write(.head, _) = wish { true } else { false }
      if !isLate || !isHead { answer = store.answer(wish) }
      if isHead, !isWritten { try body(&vault) }
      if isLate, isHead { answer = store.answer(wish) }
      isWritten = isWritten || isHead
    }
    #expect(isWritten)
    #expect(run.report.findings.isEmpty)
  }

  /// Meets the store until the head is on its way.
  private func meetUntilHead(_ vault: inout UnlockedVault) throws {
    var run = try SyncRun(&vault)
    var (answer, isHead): (SyncAnswer?, Bool) = (nil, false)
    while !isHead, let wish = try run.next(answer, in: &vault) {
      if case .write(.head, _) = wish { isHead = true } else { answer = store.answer(wish) }
    }
    #expect(isHead)
  }

  /// That all have all, and nobody has anything to tell.
  private func expectAgreement() throws {
    for told in try machines.settle() { #expect(told.findings.isEmpty) }
    #expect(try machines.agree() && file.isCarried())
  }

  @Test func `goes on where that noted that its head is there`() throws {
    try file.fill { vault throws in
      try meet(&vault) { vault throws in
        var other = try SyncRun(&vault)
        var answer: SyncAnswer?
        while let wish = try other.next(answer, in: &vault) { answer = store.answer(wish) }
        #expect(try vault.memoryOfShared().pending == nil)
      }
    }
    try expectAgreement()
  }

  @Test func `ends where that wrote another head`() throws {
    try file.fill { vault throws in
      #expect(throws: VaultError.busy) {
        try meet(&vault) { vault throws in
          try vault.put("b", "1")
          try meet(&vault)
        }
      }
    }
    try expectAgreement()
  }

  @Test(arguments: [false, true])
  func `does not take a head for written that is on its way`(late isLate: Bool) throws {
    try file.fill { vault throws in
      let before = try vault.memoryOfShared().standing.place.number
      var refusal: VaultError?
      do {
        try meet(&vault, late: isLate) { vault throws in
          try vault.put("b", "1")
          try meetUntilHead(&vault)
        }
      } catch let error as VaultError { refusal = error }
      #expect(refusal == (isLate ? .busy : nil))
      let memory = try vault.memoryOfShared()
      #expect(memory.pending?.place.number == before + 2)
      #expect(memory.standing.place.number == (isLate ? before : before + 1))
    }
    try machines.settle()
    #expect(try machines.agree() && file.isCarried())
  }

  @Test func `leaves a round to be begun that was asked for after it began one`() throws {
    try file.fill { vault throws in
      #expect(throws: VaultError.busy) {
        try meet(&vault, compacts: true) { vault throws in
          let begun = try vault.memoryOfShared().pending?.place.number
          _ = try vault.purge(Array("a".utf8).span, .item)
          try meet(&vault, compacts: true)
          let (device, memory) = (try vault.ownDevice(), try vault.memoryOfShared())
          let number = memory.standing.place.number
          #expect(try number > #require(begun))
          #expect(try vault.toldReport(by: device)?.report?.round == number)
        }
      }
    }
    try expectAgreement()
  }
}
