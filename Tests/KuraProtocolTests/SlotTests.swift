// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What the two halves say of slots.
struct SlotTests {
  private func request(_ write: (inout SecretBuffer) throws -> Void) throws -> (Request, [UInt8]) {
    let payload = try payload(written(write), sentBy: .client)
    return (try Request(payload.span), payload)
  }

  @Test(arguments: Credential.allCases)
  func `a slot to be added`(_ kind: Credential) throws {
    var order = SlotOrder(kind)
    order.label = "Büro"
    order.place = "/media/usb/key"
    order.cost = KDFParameters(memory: 1 << 30, passes: 4)
    order.flags = [.replace, .weakKDF, .withProtected]
    let (request, payload) = try request {
      try $0.putSlotAdd(.recoveryKey, current: "old".utf8.span, order, secret: "new".utf8.span)
    }
    guard case .slotAdd(let add) = request else { return #expect(Bool(false)) }
    #expect(add.authority.credential == .recoveryKey)
    #expect(Array(payload[add.authority.secret]) == bytes("old"))
    #expect(add.kind == kind)
    #expect(Array(payload[add.secret]) == bytes("new"))
    #expect(Array(payload[add.label]) == bytes("Büro"))
    #expect(Array(payload[add.place]) == bytes("/media/usb/key"))
    #expect(add.cost == order.cost)
    #expect(add.flags == order.flags)
  }

  @Test func `a slot to be removed, or tried`() throws {
    let (first, _) = try request {
      try $0.putSlotRemove(.passcode, current: "old".utf8.span, number: 15)
    }
    guard case .slotRemove(let remove) = first else { return #expect(Bool(false)) }
    #expect(remove.number == 15)
    let (second, payload) = try request {
      try $0.putSlotTest(.local, secret: "1234".utf8.span, number: nil)
    }
    guard case .slotTest(let test) = second else { return #expect(Bool(false)) }
    #expect(test.number == SlotTestRequest.anySlot)
    #expect(Array(payload[test.authority.secret]) == bytes("1234"))
  }

  @Test func `a flag that is not known is refused`() throws {
    var frame = try written {
      try $0.putSlotAdd(
        .passcode, current: "a".utf8.span, SlotOrder(.passcode), secret: "b".utf8.span)
    }
    frame[frame.count - 1] = 8
    let payload = try payload(frame, sentBy: .client)
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(payload.span) }
  }

  @Test func `all slots of a vault`() throws {
    let facts = SlotKind.allCases.map { kind in
      SlotFacts(
        number: kind.rawValue, kind: kind, flags: [.enabled, .weak, .weakMeant],
        availability: kind == .local ? .missing : .here,
        cost: KDFParameters(memory: 8_192, passes: 1), created: 77)
    }
    let frame = try written { buffer in
      let list = try buffer.openSlotList(isAuthentic: false)
      for slot in facts {
        try buffer.putSlot(slot, label: slot.kind.name.utf8.span, place: "".utf8.span)
      }
      try buffer.closeSlotList(list, count: facts.count)
    }
    let payload = try payload(frame, sentBy: .agent)
    let list = try SlotList(payload.span)
    #expect(!list.isAuthentic)
    #expect(list.slots.map(\.kind) == SlotKind.allCases)
    #expect(list.slots.map { Array(payload[$0.label]) } == facts.map { bytes($0.kind.name) })
    for (slot, expected) in zip(list.slots, facts) {
      #expect(slot.flags == expected.flags && slot.availability == expected.availability)
      #expect(slot.cost == expected.cost && slot.created == 77)
    }
    for cut in 3..<payload.count {
      let part = Array(payload[..<cut])
      #expect(throws: ProtocolError.self) { _ = try SlotList(part.span) }
    }
  }
}
