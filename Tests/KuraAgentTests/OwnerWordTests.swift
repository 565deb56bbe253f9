// SPDX-License-Identifier: MIT

import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

/// A request that takes the owner's word.
private enum Owned: CaseIterable {
  case config, unprotect, purge, purgeHistory, purgeRevision, move, moveOnto, moveOntoDeleted

  func write(
    _ frames: inout SecretBuffer, _ kind: Credential? = nil, _ word: String = ""
  ) throws {
    let word = word.utf8.span
    let name = "a".utf8.span
    switch self {
    case .config:
      try frames.putRequest(
        .config(.init(.set, key: .reuseWindow, value: 5_000, word: OwnerWord(kind, word))))
    case .unprotect:
      try frames.putRequest(.unprotect(.init(name: name, word: OwnerWord(kind, word))))
    case .purge:
      try frames.putRequest(.purge(.init(name: name, .item, word: OwnerWord(kind, word))))
    case .purgeHistory:
      try frames.putRequest(.purge(.init(name: name, .history, word: OwnerWord(kind, word))))
    case .purgeRevision:
      try frames.putRequest(
        .purge(.init(name: name, .revision, revision: 1, word: OwnerWord(kind, word))))
    case .move:
      try frames.putRequest(
        .move(.init(name: name, to: "z".utf8.span, flags: [], word: OwnerWord(kind, word))))
    case .moveOnto:
      try frames.putRequest(
        .move(.init(name: "x".utf8.span, to: name, flags: .replace, word: OwnerWord(kind, word))))
    case .moveOntoDeleted:
      try frames.putRequest(
        .move(.init(name: "x".utf8.span, to: "d".utf8.span, flags: [], word: OwnerWord(kind, word)))
      )
    }
  }
}

@Suite struct `The owner's word` {
  /// An unlocked vault with items, protected but for `x`; `d` is deleted.
  private func bench() throws -> (Bench, Wire) {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for value in ["1", "2"] {
      #expect(try bench.ask(wire) { try $0.put("a", value, flags: [.protect, .replace]) }.isOK)
    }
    #expect(try bench.ask(wire) { try $0.put("d", "3", flags: .protect) }.isOK)
    #expect(try bench.ask(wire) { try $0.remove("d") }.isOK)
    #expect(try bench.ask(wire) { try $0.put("x", "4") }.isOK)
    return (bench, wire)
  }

  @Test(arguments: Owned.allCases)
  private func `is asked for, and is good for one request`(owned: Owned) throws {
    let (bench, wire) = try bench()
    let epoch = try bench.status(wire)?.epoch
    let refused = try bench.ask(wire) { try owned.write(&$0) }
    #expect(refused.failure == .ownerNeeded)
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(.authorize(.init(.passcode, secret: Bench.passcode.utf8.span)))
      }.isOK)
    #expect(try bench.ask(wire) { try owned.write(&$0) }.failure == .ownerNeeded)
    let wrong = try bench.ask(wire) { try owned.write(&$0, .passcode, "wrong") }
    #expect(wrong.wrong?.failures == 1)
    #expect(try bench.status(wire)?.epoch == epoch)
    #expect(try bench.ask(wire) { try owned.write(&$0, .passcode, Bench.passcode) }.isOK)
    #expect(try bench.status(wire)?.epoch == (epoch ?? 0) + 1)
    let another = try bench.ask(wire) {
      try $0.putRequest(.config(.init(.set, key: .idleTimeout, value: 1_000_000)))
    }
    #expect(another.failure == .ownerNeeded)
  }

  @Test func `is slowed down as a passcode is at an unlock`() throws {
    let (bench, wire) = try bench()
    for number in 1...5 {
      let refused = try bench.ask(wire) { try Owned.purge.write(&$0, .passcode, "wrong \(number)") }
      #expect(refused.wrong?.failures == UInt32(number))
    }
    let waiting = try bench.ask(wire) { try Owned.purge.write(&$0, .passcode, Bench.passcode) }
    #expect(waiting.failure == .throttled)
    bench.clock.pass(milliseconds: 5_000)
    #expect(try bench.ask(wire) { try Owned.purge.write(&$0, .passcode, Bench.passcode) }.isOK)
  }

  @Test func `is no key file and no code, in no place of it`() throws {
    let (bench, wire) = try bench()
    for kind in [Credential.keyFile, .local] {
      let client = try bench.client()
      let refused = try bench.ask(client) {
        // No client can write it: the word's first byte is made what it is not.
        try Owned.config.write(&$0, .passcode, "4711")
        $0.overwrite(at: $0.count - 7, with: [kind.rawValue].span)
      }
      #expect(refused.failure == .malformed)
    }
    var order = SlotOrder(.local)
    order.flags = .withProtected
    #expect(try bench.add(order, "4711", on: wire).isOK)
    let refused = try bench.ask(wire) { try Owned.config.write(&$0, .passcode, "4711") }
    #expect(refused.failure == .wrongPasscode)
    #expect(refused.wrong?.isUntakenCode == true)
  }

  @Test func `that a lock comes upon is dropped`() throws {
    let (bench, wire) = try bench()
    let other = try bench.client()
    try wire.send { try Owned.config.write(&$0, .passcode, Bench.passcode) }
    try other.send { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }
    #expect(try bench.reply(on: other).isOK)
    #expect(try bench.reply(on: wire).failure == .locked)
    try bench.settle(other)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    let reply = try bench.ask(wire) { try $0.putRequest(.config(.init(.get, key: .reuseWindow))) }
    #expect(try SettingValue.all(reply.payload.span) == [SettingValue(key: 5, value: 0)])
  }

  @Test func `takes an unlocked vault`() throws {
    let (bench, wire) = try bench()
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let refused = try bench.ask(wire) { try Owned.config.write(&$0, .passcode, Bench.passcode) }
    #expect(refused.failure == .locked)
  }

  @Test func `names what it is about where it does not help`() throws {
    let (bench, wire) = try bench()
    let refused = try bench.ask(wire) {
      try $0.putRequest(
        .move(
          .init(
            name: "none".utf8.span, to: "z".utf8.span, flags: [],
            word: OwnerWord(.passcode, Bench.passcode.utf8.span))))
    }
    #expect(refused.refusal == .notFound(.text("none")))
  }
}

@Suite struct `Longer times than the vault's` {
  private static let key = String(repeating: "k", count: 40)

  @Test(arguments: [(1_000_000 as UInt64, 0 as UInt64), (0, 30_000_000)])
  func `take more than a key file or a code, locked or not`(idle: UInt64, max: UInt64) throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try bench.add(SlotOrder(.keyFile), Self.key, on: wire).isOK)
    #expect(try bench.add(SlotOrder(.local), "4711", on: wire).isOK)
    for isLocked in [false, true] {
      for (kind, secret) in [(Credential.keyFile, Self.key), (.passcode, "4711")] {
        if isLocked {
          #expect(
            try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
        }
        let refused = try bench.ask(wire) {
          try $0.unlock(secret, kind: kind, idle: idle, max: max)
        }
        #expect(refused.failure == .ownerNeeded)
        #expect(try bench.status(wire)?.state == (isLocked ? .locked : .unlocked))
        #expect(try bench.ask(wire) { try $0.unlock(secret, kind: kind, idle: 1_000) }.isOK)
        #expect(try bench.status(wire)?.idleTimeout == 1_000)
      }
    }
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode, idle: idle, max: max) }.isOK)
    let status = try bench.status(wire)
    #expect(status?.idleTimeout == (idle > 0 ? idle : 900_000))
    #expect(status?.maxSession == (max > 0 ? max : 28_800_000))
  }
}
