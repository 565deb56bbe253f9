// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What the two halves say of slots.
struct SlotTests {
  private func request(_ write: (inout SecretBuffer) throws -> Void) throws -> [UInt8] {
    try payload(written(write), sentBy: .client)
  }

  @Test(arguments: Credential.allCases)
  func `a slot to be added`(_ kind: Credential) throws {
    var order = SlotOrder(kind)
    order.label = "Büro"
    order.place = "/media/usb/key"
    order.cost = KDFParameters(memory: 1 << 30, passes: 4)
    order.flags = [.replace, .weakKDF, .withProtected]
    let payload = try request {
      try $0.putRequest(
        .slotAdd(
          .init(
            SlotAuthority(.recoveryKey, secret: "old".utf8.span), order, secret: "new".utf8.span,
            label: order.label.utf8.span, place: order.place.utf8.span)))
    }
    let request = try Request(payload.span)
    guard case .slotAdd(let add) = request else { return #expect(Bool(false)) }
    #expect(add.authority.credential == .recoveryKey)
    #expect(array(add.authority.secret.bytes) == bytes("old"))
    #expect(add.kind == kind)
    #expect(array(add.secret.bytes) == bytes("new"))
    #expect(array(add.label.bytes) == bytes("Büro"))
    #expect(array(add.place.bytes) == bytes("/media/usb/key"))
    #expect(add.cost == order.cost)
    #expect(add.flags == order.flags)
  }

  @Test func `a slot to be removed, or tried`() throws {
    let removal = try request {
      try $0.putRequest(
        .slotRemove(.init(SlotAuthority(.passcode, secret: "old".utf8.span), number: 15)))
    }
    let first = try Request(removal.span)
    guard case .slotRemove(let remove) = first else { return #expect(Bool(false)) }
    #expect(remove.number == 15)
    let payload = try request {
      try $0.putRequest(
        .slotTest(.init(SlotAuthority(.local, secret: "1234".utf8.span), number: nil)))
    }
    let second = try Request(payload.span)
    guard case .slotTest(let test) = second else { return #expect(Bool(false)) }
    #expect(test.number == SlotRequest.anySlot)
    #expect(array(test.authority.secret.bytes) == bytes("1234"))
  }

  @Test func `a flag that is not known is refused`() throws {
    var frame = try written {
      try $0.putRequest(
        .slotAdd(
          .init(
            SlotAuthority(.passcode, secret: "a".utf8.span), SlotOrder(.passcode),
            secret: "b".utf8.span, label: Span(), place: Span())))
    }
    frame[frame.count - 1] = 32
    let payload = try payload(frame, sentBy: .client)
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(payload.span) }
  }

  @Test func `all slots of a vault`() throws {
    let facts = SlotKind.allCases.map { kind in
      SlotFacts(
        number: kind.rawValue, kind: kind, flags: [.enabled, .weak, .weakMeant],
        availability: kind == .local ? .missing : .here,
        cost: KDFParameters(memory: 8_192, passes: 1), created: 77, size: 5)
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
      #expect(slot.cost == expected.cost && slot.created == 77 && slot.size == 5)
    }
    for cut in 3..<payload.count {
      let part = Array(payload[..<cut])
      #expect(throws: ProtocolError.self) { _ = try SlotList(part.span) }
    }
  }
}
