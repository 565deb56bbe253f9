// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What a client wrote is what the agent reads.
struct RequestTests {
  private func read(
    _ write: (inout SecretBuffer) throws -> Void
  ) throws -> (Request, [UInt8]) {
    let payload = try payload(written(write), sentBy: .client)
    return (try Request(payload.span), payload)
  }

  @Test(arguments: [
    Verb.status, .verify, .agentStatus, .agentStop, .slots, .agentFacts, .watch, .log,
  ])
  func `a request without fields`(_ verb: Verb) throws {
    let (request, payload) = try read { try $0.putRequest(verb) }
    #expect(request.verb == verb)
    #expect(payload == [verb.rawValue])
  }

  @Test func `create`() throws {
    let (request, payload) = try read {
      try $0.putCreate(
        passcode: "pass".utf8.span, cost: KDFParameters(memory: 1 << 40, passes: 7),
        flags: [.recoveryKey, .weakKDF])
    }
    guard case .create(let create) = request else { return #expect(Bool(false)) }
    #expect(create.cost == KDFParameters(memory: 1 << 40, passes: 7))
    #expect(create.flags == [.recoveryKey, .weakKDF])
    #expect(Array(payload[create.passcode]) == bytes("pass"))
  }

  @Test(arguments: Credential.allCases)
  func `unlock`(_ kind: Credential) throws {
    let (request, payload) = try read {
      try $0.putUnlock(
        kind, secret: "pass".utf8.span, idleTimeout: 3_000, maxSession: 9, flags: .acceptRollback)
    }
    guard case .unlock(let unlock) = request else { return #expect(Bool(false)) }
    #expect(unlock.credential == kind)
    #expect(unlock.idleTimeout == 3_000)
    #expect(unlock.maxSession == 9)
    #expect(unlock.flags == .acceptRollback)
    #expect(Array(payload[unlock.secret]) == bytes("pass"))
  }

  @Test(arguments: LockReason.allCases, LockRequest.Scope.allCases)
  func `lock`(_ reason: LockReason, _ scope: LockRequest.Scope) throws {
    let (request, _) = try read { try $0.putLock(reason, scope: scope) }
    guard case .lock(let lock) = request else { return #expect(Bool(false)) }
    #expect(lock.reason == reason)
    #expect(lock.scope == scope)
  }

  @Test func `get`() throws {
    let (request, payload) = try read {
      try $0.putGet(name: Examples.name.utf8.span, revision: .max)
    }
    guard case .get(let get) = request else { return #expect(Bool(false)) }
    #expect(get.revision == .max)
    #expect(get.flags.isEmpty)
    #expect(get.purpose == .get)
    #expect(Array(payload[get.name]) == bytes(Examples.name))
  }

  @Test(arguments: ReadPurpose.allCases)
  func `get says what for, and the log keeps it`(_ purpose: ReadPurpose) throws {
    let (request, _) = try read {
      try $0.putGet(name: "a".utf8.span, revision: 7, flags: .attributes, for: purpose)
    }
    guard case .get(let get) = request else { return #expect(Bool(false)) }
    #expect(get.flags == .attributes)
    #expect(get.purpose == purpose)
    #expect(ReadPurpose(logDetail: get.logDetail) == purpose)
    #expect(get.logDetail & ReadPurpose.revisions == 7)
    #expect(ReadPurpose(logDetail: .max) == .get)
  }

  @Test(arguments: [8, 9]) func `get with a flag or purpose that is not known is refused`(
    _ offset: Int
  ) throws {
    var frame = try written { try $0.putGet(name: "a".utf8.span, revision: 7) }
    // Behind length, type and verb.
    frame[6 + offset] = 0x40
    let payload = try payload(frame, sentBy: .client)
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(payload.span) }
  }

  @Test func `get-attribute`() throws {
    let (request, payload) = try read {
      try $0.putGetAttribute(name: "a".utf8.span, key: "k".utf8.span)
    }
    guard case .getAttribute(let get) = request else { return #expect(Bool(false)) }
    #expect(Array(payload[get.name]) == bytes("a"))
    #expect(Array(payload[get.key]) == bytes("k"))
  }

  @Test func `put with a value and attributes`() throws {
    let (request, payload) = try read {
      try $0.putPut(
        name: "a".utf8.span, flags: [.replace, .ifRevision], revision: 5, value: "v".utf8.span,
        attributeCount: 2
      ) { buffer throws(ProtocolError) in
        try buffer.putPair(key: "k".utf8.span, value: "1".utf8.span)
        try buffer.putPair(key: "".utf8.span, value: "".utf8.span)
      }
    }
    guard case .put(let put) = request else { return #expect(Bool(false)) }
    #expect(put.flags == [.replace, .ifRevision])
    #expect(put.revision == 5)
    #expect(Array(payload[put.name]) == bytes("a"))
    var pairs: [[UInt8]] = []
    put.attributes.forEach(in: payload.span) { key, value in pairs += [array(key), array(value)] }
    #expect(pairs == [bytes("k"), bytes("1"), [], []])
    guard case .inline(let value) = put.source else { return #expect(Bool(false)) }
    #expect(Array(payload[value]) == bytes("v"))
  }

  @Test func `put with a stream behind it`() throws {
    let (request, _) = try read {
      try $0.putPut(
        name: "a".utf8.span, flags: [], revision: 0, value: nil, attributeCount: 0
      ) { _ throws(ProtocolError) in }
    }
    guard case .put(let put) = request else { return #expect(Bool(false)) }
    #expect(put.source == .stream)
    #expect(put.attributes.count == 0)
  }

  @Test func `put with a revision and no condition is refused`() throws {
    let bytes = try payload(
      written {
        try $0.putPut(
          name: "a".utf8.span, flags: [], revision: 1, value: nil, attributeCount: 0
        ) { _ throws(ProtocolError) in }
      }, sentBy: .client)
    #expect(throws: ProtocolError.fieldValue) { try Request(bytes.span) }
  }

  @Test func `list`() throws {
    let (request, payload) = try read {
      try $0.putList(
        flags: [.deleted, .attributes], prefix: "p".utf8.span, filterKey: "k".utf8.span,
        filterValue: "v".utf8.span, text: "t".utf8.span)
    }
    guard case .list(let list) = request else { return #expect(Bool(false)) }
    #expect(list.flags == [.deleted, .attributes])
    let fields = [list.prefix, list.filterKey, list.filterValue, list.text]
    #expect(fields.map { Array(payload[$0]) } == ["p", "k", "v", "t"].map(bytes))
  }

  @Test func `attributes`() throws {
    let (request, payload) = try read {
      try $0.putAttributes(
        name: "a".utf8.span, ifRevision: 2, setCount: 1,
        set: { buffer throws(ProtocolError) in
          try buffer.putPair(key: "k".utf8.span, value: "v".utf8.span)
        }, deleteCount: 2,
        delete: { buffer throws(ProtocolError) in
          try buffer.put16(text: "x")
          try buffer.put16(text: "y")
        })
    }
    guard case .attributes(let attributes) = request else { return #expect(Bool(false)) }
    #expect(attributes.ifRevision == 2)
    #expect(attributes.set.count == 1)
    var deleted: [[UInt8]] = []
    attributes.delete.forEach(in: payload.span) { deleted.append(array($0)) }
    #expect(deleted == [bytes("x"), bytes("y")])
  }

  @Test func `passcode`() throws {
    let (request, payload) = try read {
      try $0.putPasscode(
        .keyFile, current: "old".utf8.span, new: "new".utf8.span, cost: .calibrated, flags: [])
    }
    guard case .passcode(let passcode) = request else { return #expect(Bool(false)) }
    #expect(passcode.credential == .keyFile)
    #expect(Array(payload[passcode.current]) == bytes("old"))
    #expect(Array(payload[passcode.new]) == bytes("new"))
    #expect(passcode.cost == .calibrated)
  }

  @Test(arguments: Setting.allCases)
  func `config`(_ key: Setting) throws {
    let (set, _) = try read { try $0.putConfig(.set, key: key, value: 9) }
    guard case .config(let config) = set else { return #expect(Bool(false)) }
    #expect(config.operation == .set)
    #expect(config.key == key.rawValue)
    #expect(config.value == 9)
    #expect(Setting(name: key.name) == key)
    #expect(key.range.contains(key.standard))
  }

  @Test func `a field that no length can tell is not written`() {
    let long = [UInt8](repeating: 0x61, count: 65_536)
    #expect(throws: ProtocolError.fieldTooLong(limit: 65_535)) {
      _ = try written { try $0.putGet(name: long.span, revision: 0) }
    }
  }
}
