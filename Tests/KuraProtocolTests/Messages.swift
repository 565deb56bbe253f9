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
      let request = try Request(payload)
      walk(request, payload)
    }
  }

  /// Follows every position that a request holds: a wrong one traps.
  static func walk(_ request: Request, _ payload: Span<UInt8>) {
    func touch(_ fields: Range<Int>...) { for field in fields { _ = payload.extracting(field) } }
    if let word = request.word { touch(word.secret) }
    switch request {
    case .create(let create): touch(create.passcode)
    case .unlock(let unlock): touch(unlock.secret)
    case .get(let get): touch(get.name)
    case .getAttribute(let get): touch(get.name, get.key)
    case .put(let put):
      touch(put.name)
      put.attributes.forEach(in: payload) { _, _ in }
      if case .inline(let value) = put.source { touch(value) }
    case .list(let list): touch(list.prefix, list.filterKey, list.filterValue, list.text)
    case .show(let name): touch(name)
    case .attributes(let attributes):
      touch(attributes.name)
      attributes.set.forEach(in: payload) { _, _ in }
      attributes.delete.forEach(in: payload) { _ in }
    case .remove(let remove): touch(remove.name)
    case .passcode(let passcode): touch(passcode.current, passcode.new)
    case .slotAdd(let add): touch(add.authority.secret, add.secret, add.label, add.place)
    case .slotRemove(let remove): touch(remove.authority.secret)
    case .slotTest(let test): touch(test.authority.secret)
    case .authorize(let authorize): touch(authorize.secret)
    case .protect(let name): touch(name)
    case .unprotect(let item): touch(item.name)
    case .prompt(let prompt): touch(prompt.place)
    case .rekey(let rekey): touch(rekey.authority.secret, rekey.keyFile)
    case .otp(let name), .history(let name): touch(name)
    case .move(let move): touch(move.name, move.new)
    case .restore(let restore): touch(restore.name)
    case .purge(let purge): touch(purge.name)
    case .putBatch(let batch):
      var offset = batch.start
      for _ in 0..<batch.count {
        let item = PutBatchRequest.item(in: payload, at: &offset)
        touch(item.name, item.attributes, item.value)
      }
    case .status, .lock, .verify, .config, .agentStatus, .agentStop, .wait, .slots, .rotate,
      .compact, .agentFacts, .watch, .log:
      break
    }
  }

  static var requests: [Example] {
    get throws { try [hello] + sessionRequests + itemRequests + uploadFrames }
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

  private static var sessionRequests: [Example] {
    get throws {
      try [
        request("status") { try $0.putRequest(.status) },
        request("create") {
          try $0.putCreate(
            passcode: "secret".utf8.span, cost: KDFParameters(memory: 268_435_456, passes: 3),
            flags: .recoveryKey)
        },
        request("unlock") {
          try $0.putUnlock(
            .passcode, secret: "secret".utf8.span, idleTimeout: 3_000, maxSession: 0, flags: [])
        },
        request("lock") { try $0.putLock(.asked, scope: .all) },
        request("passcode") {
          try $0.putPasscode(
            .recoveryKey, current: key.utf8.span, new: "secret".utf8.span, cost: .calibrated,
            flags: .recoveryKey)
        },
        request("verify") { try $0.putRequest(.verify) },
        request("config") { try $0.putConfig(.set, key: .idleTimeout, value: 60_000) },
        request("config, by the owner") {
          try $0.putConfig(
            .set, key: .idleTimeout, value: 60_000, by: .passcode, word: "secret".utf8.span)
        },
        request("agent-status") { try $0.putRequest(.agentStatus) },
        request("agent-stop") { try $0.putRequest(.agentStop) },
        request("wait") { try $0.putWait(milliseconds: 30_000) },
        request("slots") { try $0.putRequest(.slots) },
        request("rotate") { try $0.putRequest(.rotate) },
        request("compact") { try $0.putRequest(.compact) },
        request("rekey") {
          try $0.putRekey(
            current: "secret".utf8.span, keyFile: "bytes".utf8.span, flags: .recoveryKey)
        },
        request("slot-add") {
          var order = SlotOrder(.keyFile)
          order.label = "usb"
          order.place = "/m/key"
          try $0.putSlotAdd(
            .passcode, current: "secret".utf8.span, order, secret: "bytes".utf8.span)
        },
        request("slot-remove") {
          try $0.putSlotRemove(.passcode, current: "secret".utf8.span, number: 2)
        },
        request("authorize") {
          try $0.putAuthorize(.passcode, secret: "secret".utf8.span)
        },
        request("slot-test") {
          try $0.putSlotTest(.local, secret: "1234".utf8.span, number: nil)
        },
        request("prompt") {
          try $0.putPrompt(at: "pts/3".utf8.span, flags: .seesKeys)
        },
        request("agent-facts") { try $0.putRequest(.agentFacts) },
        request("otp") { try $0.putOTP(name: "a/b".utf8.span) },
        request("move") {
          try $0.putMove(name: "a/b".utf8.span, to: "a/c".utf8.span, flags: .replace)
        },
        request("history") { try $0.putHistory(name: "a/b".utf8.span) },
        request("restore") {
          try $0.putRestore(name: "a/b".utf8.span, revision: 2, ifRevision: 3)
        },
        request("purge") { try $0.putPurge(name: "a/b".utf8.span, .revision, revision: 2) },
        request("watch") { try $0.putRequest(.watch) },
        request("log") { try $0.putRequest(.log) },
        request("put-batch") { buffer in
          var items = try SecretBuffer(capacity: 64)
          var pairs = try SecretBuffer(capacity: 64)
          try pairs.putPair(key: "url".utf8.span, value: "x.org".utf8.span)
          try items.putBatchItem(
            name: "a/b".utf8.span, flags: .protect, value: "one".utf8.span, attributes: pairs.bytes,
            attributeCount: 1)
          try items.putBatchItem(
            name: "a/c".utf8.span, flags: [], value: Span(), attributes: Span(), attributeCount: 0)
          try buffer.putPutBatch(flags: [.replace, .allowEmpty], items: items.bytes, count: 2)
        },
      ]
    }
  }

  private static var itemRequests: [Example] {
    get throws {
      try [
        request("get") { try $0.putGet(name: name.utf8.span, revision: 0) },
        request("get-attribute") {
          try $0.putGetAttribute(name: "a/b".utf8.span, key: "url".utf8.span)
        },
        request("put") {
          try $0.putPut(
            name: "a/b".utf8.span, flags: .replace, revision: 0, value: "hello".utf8.span,
            attributeCount: 1
          ) { buffer throws(ProtocolError) in
            try buffer.putPair(key: "url".utf8.span, value: "x.org".utf8.span)
          }
        },
        request("put, streamed") {
          try $0.putPut(
            name: "a/b".utf8.span, flags: [.ifRevision], revision: 2, value: nil, attributeCount: 0
          ) { _ throws(ProtocolError) in }
        },
        request("list") {
          try $0.putList(
            flags: .attributes, prefix: "com.".utf8.span, filterKey: "".utf8.span,
            filterValue: "".utf8.span, text: "".utf8.span)
        },
        request("show") { try $0.putShow(name: "a/b".utf8.span) },
        request("attributes") {
          try $0.putAttributes(
            name: "a/b".utf8.span, ifRevision: 0, setCount: 1,
            set: { buffer throws(ProtocolError) in
              try buffer.putPair(key: "url".utf8.span, value: "x.org".utf8.span)
            }, deleteCount: 1,
            delete: { buffer throws(ProtocolError) in try buffer.put16(text: "old") })
        },
        request("protect") { try $0.putProtect(name: "a/b".utf8.span) },
        request("unprotect") {
          try $0.putUnprotect(name: "a/b".utf8.span, by: .recoveryKey, word: "AB23".utf8.span)
        },
        request("remove") { try $0.putRemove(name: "a/b".utf8.span, ifRevision: 0) },
      ]
    }
  }

  private static var uploadFrames: [Example] {
    get throws {
      let end = try written { try $0.putUploadEnd(.commit) }
      let confirm = try written { try $0.putConfirm() }
      let data = try written { try $0.putData("hello".utf8.span, from: .client) }
      let word = try written { try $0.putPromptWord(.take) }
      return [
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
