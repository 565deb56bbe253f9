// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What a message is written as.
func written(
  _ write: (inout SecretBuffer) throws -> Void
) throws -> [UInt8] {
  var buffer = try SecretBuffer(capacity: 16)
  try write(&buffer)
  return array(buffer.bytes)
}

func array(_ span: Span<UInt8>) -> [UInt8] {
  var bytes: [UInt8] = []
  for index in span.indices { bytes.append(span[index]) }
  return bytes
}

func bytes(_ text: String) -> [UInt8] { Array(text.utf8) }

/// Attributes as a request has them.
func pairs(_ pairs: KeyValuePairs<String, String>) throws -> SecretBuffer {
  var buffer = try SecretBuffer(capacity: 16)
  for (key, value) in pairs { try buffer.putPair(key: key.utf8.span, value: value.utf8.span) }
  return buffer
}

/// Keys as a request has them.
func keys(_ keys: String...) throws -> SecretBuffer {
  var buffer = try SecretBuffer(capacity: 16)
  for key in keys { try buffer.put16(text: key) }
  return buffer
}

/// The payload of the one frame that bytes hold.
func payload(_ frame: [UInt8], sentBy side: Side) throws -> [UInt8] {
  guard let found = try Frame.next(in: frame.span, sentBy: side) else { return [] }
  return Array(frame[found.payload])
}

/// One message of each kind: what the man page shows, what the writers write, and how it is read.
struct Example: Sendable, CustomTestStringConvertible {
  let label: String
  let side: Side
  let bytes: [UInt8]
  /// Reads the payload and everything that hangs on it.
  let read: @Sendable (Span<UInt8>) throws(ProtocolError) -> Void

  var testDescription: String { label }
}

enum Examples {
  static let name = "com.example.juice/userIdentifier"

  static let facts = ItemFacts(
    revision: 3, size: 5, created: 1_700_000_000_000, modified: 1_700_000_001_000,
    protection: .standard, kind: .value)

  static let key = "0123-4567-89AB"

  // What cannot be written fails every test that goes over them.
  static let all: [Example] = try! requests + replies

  static func request(
    _ label: String, _ write: (inout SecretBuffer) throws -> Void
  ) throws -> Example {
    Example(label: label, side: .client, bytes: try written(write)) {
      payload throws(ProtocolError) in
      // What was read is written as it stood.
      var again: [UInt8] = []
      do {
        let request = try Request(payload)
        again = try written { try $0.putRequest(request) }
      } catch let error as ProtocolError { throw error } catch { throw .outOfMemory }
      guard again.suffix(payload.count) == array(payload)[...] else { throw .fieldValue }
    }
  }

  static var requests: [Example] {
    get throws {
      try [hello] + plainRequests + sessionRequests + itemRequests + syncRequests + uploadFrames
    }
  }

  private static var hello: Example {
    get throws {
      let bytes = try written { buffer in
        try buffer.putHello(vault: "/home/u/a.kura".utf8.span, terminal: "pts/3".utf8.span)
      }
      return Example(label: "hello", side: .client, bytes: bytes) {
        payload throws(ProtocolError) in
        let hello = try Hello(payload)
        _ = payload.extracting(hello.vault)
        _ = payload.extracting(hello.terminal)
      }
    }
  }

  /// The requests without fields, and those with a name alone: as the table has them.
  private static var plainRequests: [Example] {
    get throws {
      var examples: [Example] = []
      for verb in Verb.allCases {
        for fields in ["", "\u{3}\0a/b"] {
          let payload = [verb.rawValue] + bytes(fields)
          do { _ = try Request(payload.span) } catch { continue }
          examples.append(
            try request(verb.word) { try $0.putRequest(Request(payload.span)) })
        }
      }
      return examples
    }
  }

  private static var sessionRequests: [Example] {
    get throws {
      try [
        request("create") {
          try $0.putRequest(
            .create(
              .init(
                passcode: "secret".utf8.span, cost: KDFParameters(memory: 268_435_456, passes: 3),
                flags: .recoveryKey)))
        },
        request("unlock") {
          try $0.putRequest(
            .unlock(
              .init(
                .passcode, secret: "secret".utf8.span, idleTimeout: 3_000, maxSession: 0, flags: [])
            ))
        },
        request("unlock, to read") { buffer in
          let names = try keys("a/b")
          try buffer.putRequest(
            .unlock(
              .init(
                .passcode, secret: "secret".utf8.span, flags: .authorize,
                scope: ProofScope(KeyFields(names.bytes, count: 1)))))
        },
        request("lock") { try $0.putRequest(.lock(.init(.asked, scope: .all))) },
        request("passcode") {
          try $0.putRequest(
            .passcode(
              .init(
                .recoveryKey, current: key.utf8.span, new: "secret".utf8.span, cost: .calibrated,
                flags: .recoveryKey)))
        },
        request("merge") {
          try $0.putRequest(.merge(.init(path: "/m/b.kura".utf8.span)))
        },
        request("set-secret") {
          try $0.putRequest(
            .setSecret(
              .init(name: "a/b".utf8.span, key: "pin".utf8.span, value: "0815".utf8.span)))
        },
        request("get-secrets") {
          try $0.putRequest(.getSecrets(.init(name: "a/b".utf8.span)))
        },
        request("backup") {
          try $0.putRequest(.backup(.init(path: "/m/a.kura".utf8.span, keeping: 7)))
        },
        request("config") {
          try $0.putRequest(.config(.init(.set, key: .idleTimeout, value: 60_000)))
        },
        request("config, by the owner") {
          try $0.putRequest(
            .config(
              .init(
                .set, key: .idleTimeout, value: 60_000,
                word: OwnerWord(.passcode, "secret".utf8.span))))
        },
        request("draft-key") {
          let sealed = [UInt8](repeating: 7, count: 104)
          try $0.putRequest(.draftKey(.init(sealed.span)))
        },
        request("wait") { try $0.putRequest(.wait(.init(milliseconds: 30_000))) },
        request("rekey") {
          try $0.putRequest(
            .rekey(
              .init(current: "secret".utf8.span, keyFile: "bytes".utf8.span, flags: .recoveryKey)))
        },
        request("clone") {
          try $0.putRequest(
            .clone(
              .init(
                slots: .init(
                  current: "secret".utf8.span, keyFile: "bytes".utf8.span, flags: .recoveryKey),
                path: "/c.kura".utf8.span)))
        },
        request("slot-add") {
          var order = SlotOrder(.keyFile)
          order.label = "usb"
          order.place = "/m/key"
          try $0.putRequest(
            .slotAdd(
              .init(
                SlotAuthority(.passcode, secret: "secret".utf8.span), order,
                secret: "bytes".utf8.span, label: order.label.utf8.span,
                place: order.place.utf8.span)))
        },
        request("slot-remove") {
          try $0.putRequest(
            .slotRemove(.init(SlotAuthority(.passcode, secret: "secret".utf8.span), number: 2)))
        },
        request("slot-disable") {
          try $0.putRequest(
            .slotDisable(.init(SlotAuthority(.passcode, secret: "secret".utf8.span), number: 2)))
        },
        request("slot-enable") {
          try $0.putRequest(
            .slotEnable(.init(SlotAuthority(.passcode, secret: "secret".utf8.span), number: 2)))
        },
        request("authorize") { buffer in
          let names = try keys("a/b")
          try buffer.putRequest(
            .authorize(
              .init(
                .passcode, secret: "secret".utf8.span,
                for: ProofScope(KeyFields(names.bytes, count: 1), revision: 2))))
        },
        request("grant") { buffer in
          let names = try keys("a/b")
          try buffer.putRequest(
            .grant(
              .init(
                SlotAuthority(.passcode, secret: "secret".utf8.span),
                KeyFields(names.bytes, count: 1), to: .process, process: 4_242, lifetime: 900_000,
                uses: 3, reason: "tests".utf8.span)))
        },
        request("wish") { buffer in
          let names = try keys("a/b")
          try buffer.putRequest(
            .wish(
              .init(
                KeyFields(names.bytes, count: 1), flags: .ifAwaited, patience: 30_000,
                reason: "tests".utf8.span)))
        },
        request("wishes") { try $0.putRequest(.wishes(.init(.own, seen: 3, patience: 60_000))) },
        request("approve") { buffer in
          let wish = try wish
          try buffer.putRequest(
            .approve(
              .init(
                SlotAuthority(.passcode, secret: "secret".utf8.span), of: wish.span, .quarter)))
        },
        request("decline") { try $0.putRequest(.decline(.init(7))) },
        request("grant-revoke") { try $0.putRequest(.grantRevoke(.init(7))) },
        request("slot-test") {
          try $0.putRequest(
            .slotTest(.init(SlotAuthority(.local, secret: "1234".utf8.span), number: nil)))
        },
        request("prompt") {
          try $0.putRequest(.prompt(.init(at: "pts/3".utf8.span, flags: .seesKeys)))
        },
        request("move") { buffer in
          let files = try keys("a/b/d")
          let new = try keys("a/c/d")
          try buffer.putRequest(
            .move(
              .init(
                name: "a/b".utf8.span, to: "a/c".utf8.span, flags: .replace,
                files: KeyFields(files.bytes, count: 1), newFiles: KeyFields(new.bytes, count: 1))))
        },
        request("restore") { buffer in
          let files = try keys("a/b/d")
          try buffer.putRequest(
            .restore(
              .init(
                name: "a/b".utf8.span, revision: 2, ifRevision: 3,
                files: KeyFields(files.bytes, count: 1))))
        },
        request("purge") {
          try $0.putRequest(.purge(.init(name: "a/b".utf8.span, .revision, revision: 2)))
        },
        request("put-batch") { buffer in
          var items = try SecretBuffer(capacity: 64)
          var pairs = try SecretBuffer(capacity: 64)
          try pairs.putPair(key: "url".utf8.span, value: "x.org".utf8.span)
          try items.putItem(
            BatchItem(
              name: "a/b".utf8.span, flags: .protect,
              attributes: AttributeFields(pairs.bytes, count: 1), value: "one".utf8.span))
          try items.putItem(BatchItem(name: "a/c".utf8.span, flags: [], value: Span()))
          try buffer.putRequest(
            .putBatch(.init(flags: [.replace, .allowEmpty], items: items.bytes, count: 2)))
        },
        request("put-batch, secret") { buffer in
          var items = try SecretBuffer(capacity: 64)
          var pairs = try SecretBuffer(capacity: 64)
          try pairs.putPair(key: "pin".utf8.span, value: "0815".utf8.span)
          try items.putItem(
            BatchItem(
              name: "a/b".utf8.span, secrets: AttributeFields(pairs.bytes, count: 1),
              value: "one".utf8.span))
          try buffer.putRequest(.putBatch(.init(flags: .replace, items: items.bytes, count: 1)))
        },
        request("put-batch, going on") { buffer in
          var items = try SecretBuffer(capacity: 64)
          try items.putItem(BatchItem(name: "a/b".utf8.span, value: "one".utf8.span))
          try items.putItem(BatchItem(name: Span(), flags: .goesOn, value: "two".utf8.span))
          try buffer.putRequest(
            .putBatch(.init(flags: [.whole, .allowEmpty], items: items.bytes, count: 2)))
        },
        request("put-batch, dated") { buffer in
          var items = try SecretBuffer(capacity: 64)
          let times = ItemTimes(created: 1_700_000_000_000, modified: 1_700_000_001_000)
          try items.putItem(
            BatchItem(
              name: "a/b".utf8.span, flags: [.replaceAttributes, .delete], value: Span(),
              times: times))
          try buffer.putRequest(.putBatch(.init(flags: .replace, items: items.bytes, count: 1)))
        },
      ]
    }
  }

  private static var itemRequests: [Example] {
    get throws {
      try [
        request("get") { try $0.putRequest(.get(.init(name: name.utf8.span, revision: 0))) },
        request("get-attribute") {
          try $0.putRequest(.getAttribute(.init(name: "a/b".utf8.span, key: "url".utf8.span)))
        },
        request("put") {
          let pairs = try pairs(["url": "x.org"])
          try $0.putRequest(
            .put(
              .init(
                name: "a/b".utf8.span, flags: .replace,
                attributes: AttributeFields(pairs.bytes, count: 1), value: "hello".utf8.span)))
        },
        request("put, streamed") {
          try $0.putRequest(
            .put(.init(name: "a/b".utf8.span, flags: .ifRevision, revision: 2, value: nil)))
        },
        request("list") {
          try $0.putRequest(
            .list(
              .init(
                flags: .attributes, prefix: "com.".utf8.span, filterKey: "".utf8.span,
                filterValue: "".utf8.span, text: "".utf8.span)))
        },
        request("attributes") {
          let pairs = try pairs(["url": "x.org"])
          let keys = try keys("old")
          try $0.putRequest(
            .attributes(
              .init(
                name: "a/b".utf8.span, set: AttributeFields(pairs.bytes, count: 1),
                delete: KeyFields(keys.bytes, count: 1))))
        },
        request("confine") { buffer in
          let names = try keys("a/b")
          try buffer.putRequest(.confine(.init(KeyFields(names.bytes, count: 1))))
        },
        request("unprotect") {
          try $0.putRequest(
            .unprotect(
              .init(name: "a/b".utf8.span, word: OwnerWord(.recoveryKey, "AB23".utf8.span))))
        },
        request("remove") { buffer in
          let files = try keys("a/b/d")
          try buffer.putRequest(
            .remove(
              .init(
                name: "a/b".utf8.span, ifRevision: 0, files: KeyFields(files.bytes, count: 1))))
        },
      ]
    }
  }

  private static var uploadFrames: [Example] {
    get throws {
      let end = try written { try $0.putUploadEnd(.commit) }
      let confirm = try written { try $0.putConfirm() }
      let data = try written { try $0.putData("hello".utf8.span, from: .client) }
      let word = try written { try $0.putPromptWord(.take) }
      let taken = try written { try $0.putNeedleWord(NeedleWord(7, isTaken: true)) }
      return [
        Example(label: "data: a word about a value to be masked", side: .client, bytes: taken) {
          payload throws(ProtocolError) in
          guard try NeedleWord(payload) == NeedleWord(7, isTaken: true) else { throw .fieldValue }
        },
        Example(label: "data: a word about a prompt", side: .client, bytes: word) {
          payload throws(ProtocolError) in _ = try PromptWord(payload)
        },
        Example(label: "data, from the client", side: .client, bytes: data) {
          _ throws(ProtocolError) in
        },
        Example(label: "end, from the client", side: .client, bytes: end) {
          payload throws(ProtocolError) in _ = try UploadEnd(payload)
        },
        Example(label: "confirm", side: .client, bytes: confirm) { _ throws(ProtocolError) in },
      ]
    }
  }
}
