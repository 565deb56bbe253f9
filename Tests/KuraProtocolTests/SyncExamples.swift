// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory

/// What is said of a store.
extension Examples {
  static let device = [UInt8](repeating: 0x2A, count: 16)

  static var syncRequests: [Example] {
    get throws {
      try [
        request("sync") { try $0.putRequest(.sync(.init())) },
        request("sync-given") { buffer in
          let names = try keys(StorePlace.head(device: device).text)
          try buffer.putRequest(
            .syncGiven(.init(names: KeyFields(names.bytes, count: 1), hasMore: false)))
        },
        request("sync-given, in part") {
          try $0.putRequest(.syncGiven(.init(bytes: "hello".utf8.span, hasMore: true)))
        },
        request("sync-given, done") { try $0.putRequest(.syncGiven(.init(.done))) },
        request("sync-start") {
          try $0.putRequest(.syncStart(.init(label: "desk".utf8.span)))
        },
        request("sync-join") {
          var offers = try SecretBuffer(capacity: 64)
          try offers.putOffer(
            head: "head".utf8.span, header: "header".utf8.span, record: "record".utf8.span)
          try $0.putRequest(
            .syncJoin(
              .init(
                label: "desk".utf8.span, by: OwnerWord(.passcode, "secret".utf8.span),
                OfferFields(offers.bytes, count: 1))))
        },
        request("rekey, with a code for the TPM") {
          try $0.putRequest(
            .rekey(
              .init(
                current: "secret".utf8.span, keyFile: Span(), code: "4711".utf8.span,
                flags: [.recoveryKey, .chip], removing: Span())))
        },
        request("rekey, with a security key") {
          try $0.putRequest(
            .rekey(
              .init(
                current: "secret".utf8.span, keyFile: Span(), keySlot: 2, pin: "4711".utf8.span,
                flags: [.recoveryKey, .securityKey], removing: Span())))
        },
        request("rekey, and a device is taken out") {
          let device = Examples.device
          try $0.putRequest(
            .rekey(
              .init(
                current: "secret".utf8.span, keyFile: Span(), flags: [],
                removing: device.span)))
        },
        request("sync-enter") {
          try $0.putRequest(
            .syncEnter(
              .init(
                by: OwnerWord(.passcode, "secret".utf8.span),
                here: OwnerWord(.passcode, "own".utf8.span))))
        },
        request("security-key") { try $0.putRequest(.securityKey(.init(forNew: true))) },
      ]
    }
  }

  static let chip = ChipFacts(
    failures: 1, mostFailures: 32, interval: 7_200, hasLockoutPassword: true)

  static let securityKey = SecurityKeyFacts(takesPIN: true, verifies: false, pinTries: 8)

  static var syncReplies: [Example] {
    get throws {
      let errand = StoreErrand(.list, StorePlace.objects(of: device), size: 0)
      return try [
        reply("data: what is to be done in a store") {
          try $0.putErrand(errand)
        } reading: { payload throws(ProtocolError) in
          guard try StoreErrand(data: payload) == errand else { throw .fieldValue }
        },
        reply("data: what came of a meeting with a store") {
          try $0.putSync(met)
        } reading: { payload throws(ProtocolError) in
          guard try SyncReply(data: payload) == met else { throw .fieldValue }
        },
        reply("reply to sync-status") {
          try $0.putReply(status(of: device))
        } reading: { payload throws(ProtocolError) in
          guard try SyncStatusReply(reply: payload) == status(of: device) else {
            throw .fieldValue
          }
        },
        reply("reply to chip") {
          try $0.putReply(ChipReply(chip))
        } reading: { payload throws(ProtocolError) in
          guard try ChipReply(reply: payload).facts == chip else { throw .fieldValue }
        },
        reply("reply to security-key") {
          try $0.putReply(SecurityKeyReply(securityKey))
        } reading: { payload throws(ProtocolError) in
          guard try SecurityKeyReply(reply: payload).facts == securityKey else { throw .fieldValue }
        },
      ]
    }
  }

  private static var met: SyncReply {
    var reply = SyncReply()
    (reply.came.added, reply.came.conflicting) = (2, 1)
    (reply.sent, reply.objects, reply.bytes, reply.waiting) = (3, 1, 4_096, 4)
    reply.news = [SyncNews(.late, of: device, label: bytes("desk"), heard: 1_700_000_000_000)]
    return reply
  }

  private static func status(of device: [UInt8]) -> SyncStatusReply {
    var reply = SyncStatusReply()
    (reply.isShared, reply.isSparing, reply.waiting) = (true, true, 4)
    reply.epoch = [UInt8](repeating: 7, count: 16)
    reply.fingerprint = [UInt8](repeating: 8, count: 32)
    (reply.heads, reply.otherHeads) = ([1, 2], [3])
    var one = SyncDevice()
    (one.device, one.label, one.number) = (device, bytes("desk"), 9)
    (one.heard, one.isThis, one.isBehind) = (1_700_000_001_000, true, true)
    one.isAwaited = true
    reply.devices = [one]
    return reply
  }
}
