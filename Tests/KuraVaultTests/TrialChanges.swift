// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@testable import KuraVault

// What is done to the items and slots of one machine.

extension Trial {
  func changeSlots(of machine: Machine) throws {
    let dice = (word: dice.below(3), place: dice.below(64))
    try machine.file.fill { vault throws in
      let key = try machine.file.key()
      let files = try vault.slotReports().filter { $0.kind == .keyFile }.map(\.number)
      log.append("\(machine.number) changes its slots: \(dice.word)")
      do {
        try record.noteSlots(on: machine.number, in: &vault) { vault throws in
          switch dice.word {
          case 0:
            let slot: PreparedSlot? = try passcodeSlot(TestVault.passcode)
            try vault.changeSlots(authorizedBy: key, passcode: slot, recovery: nil)
          case 1 where !files.isEmpty:
            try vault.removeSlot(files[dice.place % files.count], authorizedBy: key)
          default:
            guard files.count < 8 else { return }
            try vault.addSlot(PreparedSlot.keyFile(keyFile(UInt8(dice.place))), authorizedBy: key)
          }
        }
      } catch VaultError.slotsAwaited {
        log.append("\(machine.number) waits for its slot table")
        #expect(try vault.remoteMemory()?.awaitsSlots == true)
      }
    }
  }

  func change(_ machine: Machine, _ step: Int) throws {
    var dice = dice
    let number = machine.number
    try machine.file.fill { vault throws in
      let there = try vault.names(includingDeleted: true)
      let name =
        there.isEmpty || dice.below(6) == 0
        ? Self.names[dice.below(6)] : there[dice.below(there.count)]
      let other = Self.names[dice.below(6)]
      let key = ["x", "y"][dice.below(2)]
      let text = dice.below(12) == 0 ? "the same" : "\(number) at \(step)"
      let bytes = Array(name.utf8)
      let kind = dice.below(20)
      let sort = dice.below(3)
      func note(
        _ word: String, to after: String? = nil, key: String? = nil,
        _ body: (inout UnlockedVault) throws -> Void
      ) throws {
        log.append(
          "\(number) \(word) \(name)\(after.map { " \($0)" } ?? "")\(key.map { " \($0)" } ?? "")\(kind == 9 ? " gone" : "")"
        )
        do {
          let set = key.map { kind == 9 ? [:] : [$0: text] } ?? [:]
          try self.note(word, name, to: after, setting: set, on: number, in: &vault, body)
        } catch let error as VaultError {
          switch error {
          case .notFound, .exists, .ownerNeeded, .notDeleted, .revisionNotFound, .revisionCurrent:
            log.append("refused: \(error)")
          default: throw error
          }
        }
      }
      switch kind {
      case 0...6: try note("put") { try $0.put(name, text) }
      case 7...8:
        try note("attr", key: key) { try $0.setAttributes(bytes.span, try edits([key: text])) }
      case 9:
        try note("attr", key: key) { try $0.setAttributes(bytes.span, try edits(delete: [key])) }
      case 10...11:
        try note("mv", to: other) { _ = try $0.move(bytes.span, to: Array(other.utf8).span) }
      case 12...13: try note("rm") { try $0.remove(name) }
      case 14: try note("keep") { try $0.settle(name) }
      case 15: try note("restore") { _ = try $0.restore(bytes.span) }
      case 16:
        let rows = try vault.revisionsIfAny(name)
        guard rows.count > 1 else { return }
        let row = rows[dice.below(rows.count - 1)]
        try note("restore") { _ = try $0.restore(bytes.span, revision: row) }
      case 17 where sort == 0: try note("purge") { _ = try $0.purge(bytes.span, .item) }
      case 18: try note("protect") { _ = try $0.protect(bytes.span) }
      case 19:
        try note("unprotect") { _ = try $0.unprotect(bytes.span, by: try $0.owner()) }
      default: try note("put") { try $0.put(name, letters(4_000, seed: step).text) }
      }
    }
  }
}

extension UnlockedVault {
  fileprivate mutating func revisionsIfAny(_ name: String) throws(VaultError) -> [UInt64] {
    do throws(VaultError) { return try revisions(name) } catch {
      guard error == .notFound else { throw error }
      return []
    }
  }
}

extension [UInt8] {
  fileprivate var text: String { String(decoding: self, as: UTF8.self) }
}
