// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

/// What a client wrote is what the agent reads.
struct RequestTests {
  private func read(_ write: (inout SecretBuffer) throws -> Void) throws -> [UInt8] {
    try payload(written(write), sentBy: .client)
  }

  @Test(arguments: [
    Verb.status, .verify, .agentStatus, .agentStop, .slots, .agentFacts, .watch, .log, .rotate,
    .compact, .takeOver, .mask, .grants, .syncStatus, .chip, .finger,
  ])
  func `a request without fields`(_ verb: Verb) throws {
    let bytes = [verb.rawValue]
    #expect(try Request(bytes.span).verb == verb)
    #expect(try read { try $0.putRequest(Request(bytes.span)) } == bytes)
  }

  @Test func `a file that is to be moved has a new name`() throws {
    let bytes: (Int, Int) throws -> [UInt8] = { files, new in
      let list: (Int) -> [UInt8] = { [UInt8($0), 0] + (0..<$0).flatMap { _ in [1, 0, 0x62] } }
      return [Verb.move.rawValue, 0, 1, 0, 0x61, 1, 0, 0x63] + list(files) + list(new) + [0]
    }
    for (files, new) in [(0, 0), (2, 2)] {
      let payload = try bytes(files, new)
      let request = try Request(payload.span)
      guard case .move(let move) = request else { return #expect(Bool(false)) }
      var count = 0
      move.eachFile { _, _ in count += 1 }
      #expect(count == files)
    }
    for (files, new) in [(1, 0), (0, 1), (2, 1)] {
      let payload = try bytes(files, new)
      #expect(throws: ProtocolError.fieldValue) { _ = try Request(payload.span) }
    }
  }

  @Test func `a grant is of a day at most, of some items, and of a process where one is named`()
    throws
  {
    func isRead(
      to scope: GrantScope = .client, process: UInt32 = 0, lifetime: UInt64 = 1, names: Int = 1,
      reason: Int = 0
    ) throws -> Bool {
      let list = [[UInt8]](repeating: [1, 0, 0x61], count: names).flatMap { $0 }
      let words = [UInt8](repeating: 0x61, count: reason)
      var payload: [UInt8] = [Verb.grant.rawValue, scope.rawValue]
      payload += (0..<4).map { UInt8(truncatingIfNeeded: process >> (8 * $0)) }
      payload += (0..<8).map { UInt8(truncatingIfNeeded: lifetime >> (8 * $0)) }
      payload += [0, 0, 0, 0, UInt8(reason & 255), UInt8(reason >> 8)] + words
      payload += [UInt8(names & 255), UInt8(names >> 8)] + list + [1, 1, 0, 0x62]
      return (try? Request(payload.span).verb) == .grant
    }
    #expect(try isRead(lifetime: 86_400_000) && isRead(names: 256) && isRead(reason: 512))
    #expect(try isRead(to: .process, process: 7))
    #expect(try !isRead(lifetime: 0) && !isRead(lifetime: 86_400_001))
    #expect(try !isRead(names: 0) && !isRead(names: 257) && !isRead(reason: 513))
    #expect(try !isRead(to: .process) && !isRead(process: 7) && !isRead(to: .program, process: 7))
  }

  @Test func `create`() throws {
    let payload = try read {
      try $0.putRequest(
        .create(
          .init(
            passcode: "pass".utf8.span, cost: KDFParameters(memory: 1 << 40, passes: 7),
            flags: [.recoveryKey, .weakKDF])))
    }
    let request = try Request(payload.span)
    guard case .create(let create) = request else { return #expect(Bool(false)) }
    #expect(create.cost == KDFParameters(memory: 1 << 40, passes: 7))
    #expect(create.flags == [.recoveryKey, .weakKDF])
    #expect(array(create.passcode.bytes) == bytes("pass"))
  }

  @Test(arguments: Credential.allCases)
  func `unlock`(_ kind: Credential) throws {
    let payload = try read {
      try $0.putRequest(
        .unlock(
          .init(
            kind, secret: "pass".utf8.span, idleTimeout: 3_000, maxSession: 9,
            flags: .acceptRollback)))
    }
    let request = try Request(payload.span)
    guard case .unlock(let unlock) = request else { return #expect(Bool(false)) }
    #expect(unlock.credential == kind)
    #expect(unlock.idleTimeout == 3_000)
    #expect(unlock.maxSession == 9)
    #expect(unlock.flags == .acceptRollback)
    #expect(array(unlock.secret.bytes) == bytes("pass"))
  }

  @Test(arguments: LockReason.allCases, LockRequest.Scope.allCases)
  func `lock`(_ reason: LockReason, _ scope: LockRequest.Scope) throws {
    let payload = try read { try $0.putRequest(.lock(.init(reason, scope: scope))) }
    let request = try Request(payload.span)
    guard case .lock(let lock) = request else { return #expect(Bool(false)) }
    #expect(lock.reason == reason)
    #expect(lock.scope == scope)
  }

  @Test func `get`() throws {
    let payload = try read {
      try $0.putRequest(.get(.init(name: Examples.name.utf8.span, revision: .max)))
    }
    let request = try Request(payload.span)
    guard case .get(let get) = request else { return #expect(Bool(false)) }
    #expect(get.revision == .max)
    #expect(get.flags.isEmpty)
    #expect(get.purpose == .get)
    #expect(array(get.name.bytes) == bytes(Examples.name))
  }

  @Test(arguments: ReadPurpose.allCases)
  func `get says what for, and the log keeps it`(_ purpose: ReadPurpose) throws {
    let payload = try read {
      try $0.putRequest(
        .get(.init(name: "a".utf8.span, revision: 7, flags: .attributes, for: purpose)))
    }
    let request = try Request(payload.span)
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
    var frame = try written { try $0.putRequest(.get(.init(name: "a".utf8.span, revision: 7))) }
    // Behind length, type and verb.
    frame[6 + offset] = 0x40
    let payload = try payload(frame, sentBy: .client)
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(payload.span) }
  }

  @Test func `a code for this machine's TPM is no word about another machine's`() throws {
    #expect(
      try read {
        try $0.putRequest(
          .unprotect(.init(name: "a".utf8.span, word: OwnerWord(.tpm, "2468".utf8.span))))
      } != []
    )
    for kind in [Credential.tpm, .keyFile, .local] {
      #expect(throws: ProtocolError.fieldValue) {
        _ = try read {
          try $0.putRequest(
            .merge(.init(path: "/a".utf8.span, by: OwnerWord(kind, "2468".utf8.span))))
        }
      }
      #expect(throws: ProtocolError.fieldValue) {
        _ = try read {
          try $0.putRequest(
            .syncEnter(.init(by: OwnerWord(kind, "2468".utf8.span), here: OwnerWord())))
        }
      }
      #expect(throws: ProtocolError.fieldValue) {
        _ = try read {
          try $0.putRequest(
            .syncEnter(
              .init(
                by: OwnerWord(.passcode, "2468".utf8.span), here: OwnerWord(kind, "2468".utf8.span))
            ))
        }
      }
    }
  }

  @Test func `get-attribute`() throws {
    let payload = try read {
      try $0.putRequest(.getAttribute(.init(name: "a".utf8.span, key: "k".utf8.span)))
    }
    let request = try Request(payload.span)
    guard case .getAttribute(let get) = request else { return #expect(Bool(false)) }
    #expect(array(get.name.bytes) == bytes("a"))
    #expect(array(get.key.bytes) == bytes("k"))
  }

  @Test func `put with a value and attributes`() throws {
    let attributes = try pairs(["k": "1", "": ""])
    let payload = try read {
      try $0.putRequest(
        .put(
          .init(
            name: "a".utf8.span, flags: [.replace, .ifRevision], revision: 5,
            attributes: AttributeFields(attributes.bytes, count: 2), value: "v".utf8.span)))
    }
    let request = try Request(payload.span)
    guard case .put(let put) = request else { return #expect(Bool(false)) }
    #expect(put.flags == [.replace, .ifRevision])
    #expect(put.revision == 5)
    #expect(array(put.name.bytes) == bytes("a"))
    var pairs: [[UInt8]] = []
    put.attributes.forEach { key, value in pairs += [array(key), array(value)] }
    #expect(pairs == [bytes("k"), bytes("1"), [], []])
    #expect(put.isStream == false)
    #expect(array(put.value.bytes) == bytes("v"))
  }

  @Test func `put with a stream behind it`() throws {
    let payload = try read {
      try $0.putRequest(.put(.init(name: "a".utf8.span, revision: 0, value: nil)))
    }
    let request = try Request(payload.span)
    guard case .put(let put) = request else { return #expect(Bool(false)) }
    #expect(put.isStream == true)
    #expect(put.attributes.count == 0)
  }

  @Test func `put with a revision and no condition is neither written nor read`() throws {
    #expect(throws: ProtocolError.fieldValue) {
      _ = try read { try $0.putRequest(.put(.init(name: "a".utf8.span, revision: 1, value: nil))) }
    }
    var bytes = try read {
      try $0.putRequest(
        .put(.init(name: "a".utf8.span, flags: .ifRevision, revision: 1, value: nil)))
    }
    bytes[1] = 0
    #expect(throws: ProtocolError.fieldValue) { _ = try Request(bytes.span) }
  }

  @Test func `list`() throws {
    let payload = try read {
      try $0.putRequest(
        .list(
          .init(
            flags: [.deleted, .attributes], prefix: "p".utf8.span, filterKey: "k".utf8.span,
            filterValue: "v".utf8.span, text: "t".utf8.span)))
    }
    let request = try Request(payload.span)
    guard case .list(let list) = request else { return #expect(Bool(false)) }
    #expect(list.flags == [.deleted, .attributes])
    #expect(array(list.prefix.bytes) == bytes("p"))
    #expect(array(list.filterKey.bytes) == bytes("k"))
    #expect(array(list.filterValue.bytes) == bytes("v"))
    #expect(array(list.text.bytes) == bytes("t"))
  }

  @Test func `attributes`() throws {
    let pairs = try pairs(["k": "v"])
    let keys = try keys("x", "y")
    let payload = try read {
      try $0.putRequest(
        .attributes(
          .init(
            name: "a".utf8.span, ifRevision: 2, set: AttributeFields(pairs.bytes, count: 1),
            delete: KeyFields(keys.bytes, count: 2))))
    }
    let request = try Request(payload.span)
    guard case .attributes(let attributes) = request else { return #expect(Bool(false)) }
    #expect(attributes.ifRevision == 2)
    #expect(attributes.set.count == 1)
    var deleted: [[UInt8]] = []
    attributes.delete.forEach { deleted.append(array($0.bytes)) }
    #expect(deleted == [bytes("x"), bytes("y")])
  }

  @Test func `passcode`() throws {
    let payload = try read {
      try $0.putRequest(
        .passcode(
          .init(
            .keyFile, current: "old".utf8.span, new: "new".utf8.span, cost: .calibrated, flags: []))
      )
    }
    let request = try Request(payload.span)
    guard case .passcode(let passcode) = request else { return #expect(Bool(false)) }
    #expect(passcode.authority.credential == .keyFile)
    #expect(array(passcode.authority.secret.bytes) == bytes("old"))
    #expect(array(passcode.new.bytes) == bytes("new"))
    #expect(passcode.cost == .calibrated)
  }

  @Test(arguments: Setting.allCases)
  func `config`(_ key: Setting) throws {
    let payload = try read { try $0.putRequest(.config(.init(.set, key: key, value: 9))) }
    let set = try Request(payload.span)
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
      _ = try written { try $0.putRequest(.get(.init(name: long.span, revision: 0))) }
    }
  }
}
