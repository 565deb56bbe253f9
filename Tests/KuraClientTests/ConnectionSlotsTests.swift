// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraClient

struct ConnectionSlotsTests {
  private static let key = "0123-4567"

  @Test func `slots come with their labels`() throws {
    let facts = SlotFacts(
      number: 3, kind: .keyFile, flags: .enabled, availability: .missing,
      cost: KDFParameters(memory: 0, passes: 0), created: 7)
    try conversation { agent in
      try agent.greet()
      try agent.say { buffer in
        let list = try buffer.openSlotList(isAuthentic: true)
        try buffer.putSlot(facts, label: "usb".utf8.span, place: "/m/key".utf8.span)
        try buffer.closeSlotList(list, count: 1)
      }
    } client: { connection in
      let slots = try connection.slots()
      #expect(slots.isAuthentic)
      #expect(slots.all.map(\.label) == ["usb"])
      #expect(slots.all.map(\.place) == ["/m/key"])
      #expect(slots.all.map(\.facts.availability) == [.missing])
    }
  }

  @Test func `a slot is added at once, and a recovery key once it is confirmed`() throws {
    for kind in [Credential.passcode, .recoveryKey] {
      try conversation { agent in
        try agent.greet()
        if kind == .recoveryKey {
          try agent.say { try $0.putReply(RecoveryKeyReply(Self.key.utf8.span)) }
          _ = try agent.next(.confirm)
        }
        try agent.say { try $0.putReply(SlotReply(number: 5, kind: .passcode)) }
      } client: { connection in
        var shown = ""
        let number = try connection.addSlot(
          .passcode, current: secret("old"), SlotOrder(kind), secret: secret("new")
        ) { key in
          shown = String(repairing: key)
          return true
        }
        #expect(number == 5)
        #expect(shown == (kind == .recoveryKey ? Self.key : ""))
      }
    }
  }

  @Test func `no confirm is sent for a key that was not written down`() throws {
    let next = try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply(RecoveryKeyReply(Self.key.utf8.span)) }
      return try? agent.read()
    } client: { connection in
      let error = failure {
        _ = try connection.addSlot(
          .passcode, current: secret("old"), SlotOrder(.recoveryKey), secret: secret("")
        ) { _ in false }
      }
      #expect(error == .stopped)
    }
    #expect(next == nil)
  }

  @Test func `a slot is removed, and one is tried`() throws {
    let request = try conversation { agent in
      let request = try agent.greet()
      try agent.say { try $0.putReply() }
      return request
    } client: { connection in
      try connection.changeSlot(.remove, 2, .recoveryKey, current: secret("old"))
    }
    guard case .slotRemove(let remove) = try Request(request.span) else {
      return #expect(Bool(false))
    }
    #expect(remove.number == 2)
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply(SlotReply(number: 4, kind: .local)) }
    } client: { connection in
      let number = try connection.testSlot(nil, .local, secret: secret("1234"))
      #expect(number == 4)
    }
  }
}
