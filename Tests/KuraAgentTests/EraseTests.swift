// SPDX-License-Identifier: MIT

import Glibc
import KuraFormat
import KuraProtocol
import KuraVault
import Testing

@testable import KuraAgent

/// Wrong codes that destroy this machine's secret for them, and nothing else.
@Suite struct `Too many wrong codes` {
  /// A locked vault with a passcode and a code, 2468, that may be wrong twice.
  private func bench(after limit: UInt64 = 3) throws -> (Bench, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.add(SlotOrder(.local), "2468", on: wire).isOK)
    let set = try bench.ask(wire) { try $0.set(.eraseLocalAfter, limit) }
    #expect(set.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    return (bench, wire)
  }

  private func secrets(_ bench: Bench) -> [String] {
    bench.scratch.names(in: "state/device").filter { $0 != "CACHEDIR.TAG" }
  }

  private func isHere(_ bench: Bench, _ wire: Wire) throws -> KuraProtocol.SlotAvailability? {
    let reply = try bench.ask(wire) { try $0.putRequest(.slots) }
    return try SlotList(reply.payload.span).slots.first { $0.kind == .local }?.availability
  }

  @Test func `destroy the secret at the last one, and say so`() throws {
    let (bench, wire) = try bench()
    #expect(secrets(bench).count == 2)
    for code in ["1111", "2222"] {
      #expect(try bench.ask(wire) { try $0.unlock(code) }.failure == .wrongPasscode)
    }
    #expect(try isHere(bench, wire) == .here)
    let last = try bench.ask(wire) { try $0.unlock("3333") }
    #expect(last.refusal == .localErased(failures: 3))
    #expect(secrets(bench) == [])
    #expect(try isHere(bench, wire) == .missing)
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  @Test func `are in a row: what is right begins the count again`() throws {
    let (bench, wire) = try bench()
    for code in ["1111", "2222", "2468", "3333", "4444", Bench.passcode, "5555", "6666"] {
      _ = try bench.ask(wire) { try $0.unlock(code) }
    }
    #expect(secrets(bench).count == 2)
    #expect(try bench.ask(wire) { try $0.unlock("7777") }.failure == .localErased)
  }

  @Test func `are not made by a short passcode that is right`() throws {
    let (bench, wire) = try bench(after: 1)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let change = try bench.ask(wire) { try $0.changePasscode(Bench.passcode, to: "short") }
    #expect(change.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.ask(wire) { try $0.unlock("short") }.isOK)
    #expect(secrets(bench).count == 2)
    #expect(try bench.ask(wire) { try $0.unlock("short") }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock("shirt") }.failure == .localErased)
    #expect(secrets(bench) == [])
  }

  @Test func `count before they are tried: who was killed in the last one gets no other`() throws {
    let (bench, wire) = try bench(after: 2)
    #expect(try bench.ask(wire) { try $0.unlock("1111") }.failure == .wrongPasscode)
    // As an engine leaves it that is killed while it derives: counted, and nothing else.
    try countCode(bench)
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.failure == .localErased)
    #expect(secrets(bench) == [])
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
  }

  /// Counts one wrong code more in the tries file, as it is done before a key is derived.
  private func countCode(_ bench: Bench) throws {
    let name = try #require(bench.scratch.names(in: "state").first { $0.hasSuffix(".tries") })
    let digits = Array(name.utf8.prefix(32)).map { $0 < 0x40 ? $0 - 0x30 : $0 - 0x57 }
    let bytes = stride(from: 0, to: 32, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
    let id = VaultID(bytes.span)
    var file = try bench.agent.tallies.hold(id, patience: 1_000)
    var record = file.record
    bench.agent.tallies.count(.local, in: &record)
    try file.write(record)
  }

  @Test func `are none where the setting is off or taken back`() throws {
    let (bench, wire) = try bench(after: 1)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(
      try bench.ask(wire) { try $0.set(.eraseLocalAfter, 0) }.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.ask(wire) { try $0.unlock("1111") }.failure == .wrongPasscode)
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.isOK)
  }

  @Test func `cannot be had by damage to what says how many they are`() throws {
    let (bench, wire) = try bench(after: 1)
    let name = try #require(secrets(bench).first { $0.hasSuffix(".erase") })
    let path = bench.scratch.path + "/state/device/" + name
    let file = open(path, O_WRONLY | O_CLOEXEC)
    #expect(pwrite(file, [9], 1, 24) == 1)
    close(file)
    let refused = try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.local, secret: "1111".utf8.span), number: nil)))
    }
    #expect(refused.refusal == .eraseRuleDamaged)
    // An unlock by the passcode writes it anew.
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    _ = try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    let spent = try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.local, secret: "1111".utf8.span), number: nil)))
    }
    #expect(spent.failure == .localErased)
    #expect(secrets(bench) == [])
  }

  @Test func `more than a hundred cannot be set`() throws {
    let (bench, wire) = try bench()
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let refused = try bench.ask(wire) {
      try $0.putRequest(.config(.init(.set, key: .eraseLocalAfter, value: 101)))
    }
    #expect(refused.refusal == .settingInvalid(.eraseLocalAfter))
  }
}
