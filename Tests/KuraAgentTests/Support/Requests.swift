// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory

/// Requests with texts in place of bytes.
extension SecretBuffer {
  mutating func hello(_ path: String) throws {
    try putHello(vault: path.utf8.span, terminal: "".utf8.span)
  }

  mutating func create(_ passcode: String, flags: CreateRequest.Flags = [.weakKDF]) throws {
    let cheap = KDFParameters(memory: 8_192, passes: 1)
    try putCreate(passcode: passcode.utf8.span, cost: cheap, flags: flags)
  }

  mutating func unlock(
    _ passcode: String, kind: Credential = .passcode, idle: UInt64 = 0, max: UInt64 = 0,
    flags: UnlockRequest.Flags = []
  ) throws {
    try putUnlock(
      kind, secret: passcode.utf8.span, idleTimeout: idle, maxSession: max, flags: flags)
  }

  /// A change of a setting, with the owner's word.
  mutating func set(_ key: Setting, _ value: UInt64, by word: String = Bench.passcode) throws {
    try putConfig(.set, key: key, value: value, by: .passcode, word: word.utf8.span)
  }

  mutating func get(_ name: String, revision: UInt64 = 0) throws {
    try putGet(name: name.utf8.span, revision: revision)
  }

  mutating func put(
    _ name: String, _ value: String, flags: PutRequest.Flags = [], revision: UInt64 = 0,
    attributes: [(String, String)] = []
  ) throws {
    try putPut(
      name: name.utf8.span, flags: flags, revision: revision, value: value.utf8.span,
      attributeCount: attributes.count
    ) { buffer throws(ProtocolError) in
      for (key, value) in attributes {
        try buffer.putPair(key: key.utf8.span, value: value.utf8.span)
      }
    }
  }

  mutating func upload(_ name: String, flags: PutRequest.Flags = []) throws {
    try putPut(
      name: name.utf8.span, flags: flags, revision: 0, value: nil, attributeCount: 0
    ) { _ throws(ProtocolError) in }
  }

  mutating func data(_ bytes: [UInt8]) throws { try putData(bytes.span, from: .client) }

  mutating func list(
    prefix: String = "", key: String = "", value: String = "", text: String = "",
    flags: ListRequest.Flags = []
  ) throws {
    try putList(
      flags: flags, prefix: prefix.utf8.span, filterKey: key.utf8.span,
      filterValue: value.utf8.span, text: text.utf8.span)
  }

  mutating func show(_ name: String) throws { try putShow(name: name.utf8.span) }

  mutating func remove(_ name: String, ifRevision: UInt64 = 0) throws {
    try putRemove(name: name.utf8.span, ifRevision: ifRevision)
  }

  mutating func attribute(_ key: String, of name: String) throws {
    try putGetAttribute(name: name.utf8.span, key: key.utf8.span)
  }

  mutating func changePasscode(
    _ current: String, to new: String, kind: Credential = .passcode,
    flags: PasscodeRequest.Flags = [.weakKDF]
  ) throws {
    try putPasscode(
      kind, current: current.utf8.span, new: new.utf8.span,
      cost: KDFParameters(memory: 8_192, passes: 1), flags: flags)
  }
}

/// Replies as texts and numbers.
extension Received {
  var status: StatusReport? { try? StatusReport(payload.span) }

  /// The value of a `get` that came inline.
  var value: String? {
    guard let reply = try? GetReply(payload.span), case .inline(let place) = reply.source else {
      return nil
    }
    return String(decoding: payload[place], as: UTF8.self)
  }

  /// The names of a batch of a list.
  var names: [String] {
    var names: [String] = []
    guard let batch = try? EntryBatch(payload.span) else { return [] }
    batch.forEach(in: payload.span) { entry in
      names.append(String(decoding: payload[entry.name], as: UTF8.self))
    }
    return names
  }

  /// The recovery key of a `create` or `passcode`.
  var recoveryKey: String? {
    guard let place = try? FieldReply.recoveryKey(payload.span) else { return nil }
    return String(decoding: payload[place], as: UTF8.self)
  }

  /// What a wrong passcode is told by.
  var wrong: WrongPasscode? {
    if case .wrongPasscode(let wrong) = refusal { wrong } else { nil }
  }

  /// For how long nothing is tried.
  var throttle: UInt64? {
    if case .throttled(let wait, _) = refusal { wait } else { nil }
  }

  /// Why a locked vault is locked.
  var lockReason: LockReason? {
    if case .locked(let note) = refusal { note.reason } else { nil }
  }
}
