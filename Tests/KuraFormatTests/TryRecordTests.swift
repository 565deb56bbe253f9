// SPDX-License-Identifier: MIT

import KuraFormat
import Testing

@Suite struct TryRecordTests {
  private let vault: VaultID = identifier(9)
  private let origin = ClockOrigin(boot: identifier(3), namespace: 0x1122)

  private func record(_ counter: UInt64) -> TryRecord {
    var record = TryRecord(vault: vault)
    record.counter = counter
    record[.passcode] = TryTally(failures: UInt32(counter), last: 77, origin: origin)
    record[.local] = TryTally(
      failures: 2, last: 78, origin: ClockOrigin(boot: identifier(4), namespace: 1))
    return record
  }

  private func read(_ file: [UInt8]) throws -> TryRecord {
    try TryRecord(file: file.span, vault: vault)
  }

  private func isSuspect(_ file: [UInt8]) throws -> Bool {
    let record = try read(file)
    return TryKind.allCases.allSatisfy { record[$0].failures == 5 } && record.counter == 0
  }

  @Test func `a record is 256 bytes`() throws {
    let encoded = try record(7).encode()
    let passcode =
      little(UInt32(7)) + little(UInt64(77)) + origin.boot.bytes + little(UInt64(0x1122))
    let keyFile = [UInt8](repeating: 0, count: 36)
    let local =
      little(UInt32(2)) + little(UInt64(78)) + [UInt8](repeating: 4, count: 16) + little(UInt64(1))
    let head = Array("KURATRY2".utf8) + little(UInt64(7)) + vault.bytes
    let content = head + passcode + keyFile + local
    #expect(encoded.count == 256)
    #expect(Array(encoded[..<content.count]) == content)
    #expect(encoded[content.count..<224].allSatisfy { $0 == 0 })
  }

  @Test func `a record from before, without time namespaces, is read`() throws {
    let tally = little(UInt32(6)) + little(UInt64(77)) + origin.boot.bytes
    let head = Array("KURATRY1".utf8) + little(UInt64(7)) + vault.bytes
    let hashed = head + tally + tally + tally + [UInt8](repeating: 0, count: 224 - 116)
    let older = try read(hashed + plainHash(hashed))
    let then = ClockOrigin(boot: origin.boot, namespace: 0)
    // Of codes for a TPM nothing was counted then.
    #expect(older[.tpm] == .none)
    for kind in TryKind.allCases where kind != .tpm {
      #expect(older[kind] == TryTally(failures: 6, last: 77, origin: then))
    }
    // The next one is of today's form.
    let next = try older.encode()
    #expect(try read(next) == older)
  }

  @Test(arguments: [(1, 2), (2, 1), (7, 8), (4, 3)] as [(UInt64, UInt64)])
  func `the valid record with the higher counter counts`(first: UInt64, second: UInt64) throws {
    let file = try record(first).encode() + record(second).encode()
    #expect(try read(file) == record(max(first, second)))
  }

  @Test func `a torn record leaves the other one`() throws {
    let (old, new) = (try record(1).encode(), try record(2).encode())
    for cut in [0, 1, 100, 224, 255] {
      let torn = Array(new[..<cut]) + [UInt8](repeating: 0xEE, count: 256 - cut)
      #expect(try read(torn + old) == record(1))
    }
  }

  @Test func `a file without bytes, or of zeros, is new`() throws {
    for count in [0, 1, 256, 512] {
      #expect(try read([UInt8](repeating: 0, count: count)) == TryRecord(vault: vault))
    }
  }

  @Test func `each changed byte is noticed, and damage is no way to more tries`() throws {
    let encoded = try record(3).encode()
    for index in encoded.indices {
      var changed = encoded
      changed[index] ^= 1
      #expect(try isSuspect(changed), "byte \(index)")
    }
    #expect(try isSuspect(Array(encoded.dropLast())))
    #expect(try isSuspect([1]))
  }

  @Test func `another vault's file counts as damage`() throws {
    let file = try record(3).encode()
    let other = try TryRecord(file: file.span, vault: identifier(8))
    #expect(other[.passcode].failures == 5)
  }

  @Test func `the highest counter is refused, for no record could follow it`() throws {
    #expect(try isSuspect(try record(1).encode().replacingCounter(.max)))
  }

  @Test func `what is behind both records is not looked at`() throws {
    let file = try record(2).encode() + record(1).encode() + record(9).encode()
    #expect(try read(file) == record(2))
  }

  @Test func `a boot id is read as the kernel writes it`() {
    let text = "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1f0\n"
    #expect(hexadecimal(BootID(text: text)?.bytes ?? []) == "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
    for text in ["", "0f1e", "0f1e2d3c-4b5a-6978-8796-a5b4c3d2e1fx", text + "00", "\u{E9}"] {
      #expect(BootID(text: text) == nil)
    }
  }
}

extension [UInt8] {
  /// The record with another counter, its hash made anew.
  fileprivate func replacingCounter(_ counter: UInt64) throws -> [UInt8] {
    let hashed = Array(self[..<8]) + little(counter) + Array(self[16..<224])
    return try hashed + plainHash(hashed)
  }
}
