// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@Suite struct `Slots of a vault` {
  @Test func `are told with their labels only while it is unlocked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    var order = SlotOrder(.passcode)
    order.label = "work"
    #expect(try add(order, "second", on: wire, bench).isOK)
    let open = try list(on: wire, bench)
    #expect(open.list.isAuthentic)
    #expect(open.labels == ["", "work"])
    #expect(open.list.slots.map { $0.flags.contains(.opened) } == [true, false])
    #expect(open.list.slots.allSatisfy { $0.flags.isSuperset(of: [.enabled, .withProtected]) })
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let locked = try list(on: wire, bench)
    #expect(!locked.list.isAuthentic)
    #expect(locked.labels == ["", ""])
    #expect(locked.list.slots.map(\.kind) == [.passcode, .passcode])
    #expect(locked.list.slots.map(\.created) == [0, 0])
  }

  @Test func `take a fresh passcode, also while it is unlocked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let wrong = try add(SlotOrder(.passcode), "second", with: "wrong", on: wire, bench)
    #expect(wrong.failure == .wrongPasscode)
    for kind in [Credential.keyFile, .local] {
      let reply = try bench.ask(wire) {
        try $0.putRequest(
          .slotRemove(.init(SlotAuthority(kind, secret: Bench.passcode.utf8.span), number: 0)))
      }
      #expect(reply.refusal == .slotsTakeOwner)
      let disabling = try bench.ask(wire) {
        try $0.putRequest(
          .slotDisable(.init(SlotAuthority(kind, secret: Bench.passcode.utf8.span), number: 0)))
      }
      #expect(disabling.refusal == .slotsTakeOwner)
    }
    #expect(try list(on: wire, bench).list.slots.count == 1)
  }

  @Test func `can be changed while it is locked, and it stays so`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    #expect(try add(SlotOrder(.passcode), "second", on: wire, bench).isOK)
    #expect(try bench.status(wire)?.state == .locked)
    #expect(try bench.ask(wire) { try $0.unlock("second") }.isOK)
  }

  @Test func `take a recovery key only once it was written down`() throws {
    let bench = try Bench()
    _ = try bench.unlocked()
    do {
      let wire = try bench.client()
      let shown = try add(SlotOrder(.recoveryKey), "", on: wire, bench)
      #expect(shown.recoveryKey?.count == 44)
    }
    // It hung up without a word.
    try bench.turn(3)
    let other = try bench.client()
    #expect(try list(on: other, bench).list.slots.count == 1)
    let again = try add(SlotOrder(.recoveryKey), "", on: other, bench)
    let key = try #require(again.recoveryKey)
    #expect(try bench.ask(other) { try $0.putConfirm() }.slot?.number == 1)
    #expect(try bench.ask(other) { try $0.unlock(key, kind: .recoveryKey) }.isOK)
    let second = try add(SlotOrder(.recoveryKey), "", on: other, bench)
    #expect(second.refusal == .recoveryKeyExists)
  }

  @Test func `may take a code where a passcode is typed, which counts as a code`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try add(SlotOrder(.local), "2468", on: wire, bench).isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock("1357") }.failure == .wrongPasscode)
    let tries = try #require(try bench.status(wire)).tries
    #expect(tries.map(\.kind) == [.passcode, .local])
    #expect(tries.map(\.failures) == [1, 1])
    // What is too long for a code is none.
    #expect(try bench.ask(wire) { try $0.unlock("a mistyped passcode") }.failure == .wrongPasscode)
    #expect(try bench.status(wire)?.tries.map(\.failures) == [2, 1])
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.isOK)
    #expect(try list(on: wire, bench).list.slots[1].flags.contains(.opened))
    // It opened the vault, and allows no change of it.
    let change = try bench.ask(wire) { try $0.changePasscode("2468", to: "x") }
    #expect(change.failure == .wrongPasscode)
    #expect(change.wrong?.isUntakenCode == true)
  }

  @Test func `take a code while passcodes wait, and nothing once both must`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try add(SlotOrder(.local), "2468", on: wire, bench).isOK)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    for number in 0..<5 {
      let wrong = try bench.ask(wire) { try $0.unlock("much too long for a code \(number)") }
      #expect(wrong.failure == .wrongPasscode)
    }
    #expect(try bench.ask(wire) { try $0.unlock("too long, and sixth") }.failure == .throttled)
    let tested = try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.passcode, secret: "2468".utf8.span), number: nil)))
    }
    #expect(tested.slot == SlotAnswer(number: 1, kind: .local))
    #expect(try bench.ask(wire) { try $0.unlock("1357") }.failure == .throttled)
    #expect(try bench.status(wire)?.tries.map(\.failures) == [5, 1])
    #expect(try bench.ask(wire) { try $0.unlock("2468") }.isOK)
  }

  @Test func `are tried without unlocking the vault`() throws {
    let bench = try Bench()
    try bench.create()
    let wire = try bench.client()
    let right = try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), number: nil)))
    }
    #expect(right.slot == SlotAnswer(number: 0, kind: .passcode))
    let other = try bench.ask(wire) {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), number: 3)))
    }
    #expect(other.failure == .slotNotFound)
    #expect(try bench.status(wire)?.state == .locked)
  }

  @Test func `that are disabled are listed, and taken again when they are enabled`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try add(SlotOrder(.passcode), "second", on: wire, bench).isOK)
    let authority = SlotAuthority(.passcode, secret: Bench.passcode.utf8.span)
    #expect(
      try bench.ask(wire) { try $0.putRequest(.slotDisable(.init(authority, number: 1))) }.isOK)
    let flags = try list(on: wire, bench).list.slots.map(\.flags)
    #expect(flags.map { $0.contains(.disabled) } == [false, true])
    #expect(flags.map { $0.contains(.enabled) } == [true, false])
    #expect(try list(on: wire, bench).list.slots.map(\.kind) == [.passcode, .passcode])
    #expect(try bench.ask(wire) { try $0.unlock("second") }.failure == .wrongPasscode)
    #expect(
      try bench.ask(wire) { try $0.putRequest(.slotEnable(.init(authority, number: 1))) }.isOK)
    #expect(try bench.ask(wire) { try $0.unlock("second") }.isOK)
  }

  @Test func `that are wrong say which rule`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    var label = SlotOrder(.passcode)
    label.label = "a\nb"
    #expect(try add(label, "x", on: wire, bench).failure == .labelInvalid)
    #expect(try add(SlotOrder(.keyFile), "short", on: wire, bench).failure == .keyFileTooShort)
    #expect(try add(SlotOrder(.local), "123", on: wire, bench).failure == .passcodeInvalid)
    let last = try bench.ask(wire) {
      try $0.putRequest(
        .slotRemove(.init(SlotAuthority(.passcode, secret: Bench.passcode.utf8.span), number: 0)))
    }
    #expect(last.failure == .lastSlot)
  }

  // MARK: - Asking

  private func add(
    _ order: SlotOrder, _ secret: String, with passcode: String = Bench.passcode, on wire: Wire,
    _ bench: Bench
  ) throws -> Received {
    try bench.add(order, secret, with: passcode, on: wire)
  }

  private func list(
    on wire: Wire, _ bench: Bench
  ) throws -> (list: SlotList, labels: [String]) {
    let reply = try bench.ask(wire) { try $0.putRequest(.slots) }
    let list = try SlotList(reply.payload.span)
    return (list, list.slots.map { String(decoding: reply.payload[$0.label], as: UTF8.self) })
  }
}

private struct SlotAnswer: Equatable {
  let number: UInt8
  let kind: SlotKind
}

extension Received {
  fileprivate var slot: SlotAnswer? {
    (try? SlotReply(reply: payload.span)).map { SlotAnswer(number: $0.number, kind: $0.kind) }
  }
}
