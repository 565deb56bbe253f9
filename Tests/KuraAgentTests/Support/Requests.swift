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
    try putRequest(.create(.init(passcode: passcode.utf8.span, cost: cheap, flags: flags)))
  }

  mutating func unlock(
    _ passcode: String, kind: Credential = .passcode, idle: UInt64 = 0, max: UInt64 = 0,
    flags: UnlockRequest.Flags = []
  ) throws {
    try putRequest(
      .unlock(
        .init(kind, secret: passcode.utf8.span, idleTimeout: idle, maxSession: max, flags: flags)))
  }

  /// A change of a setting, with the owner's word.
  mutating func set(_ key: Setting, _ value: UInt64, by word: String = Bench.passcode) throws {
    try putRequest(
      .config(.init(.set, key: key, value: value, word: OwnerWord(.passcode, word.utf8.span))))
  }

  mutating func get(_ name: String, revision: UInt64 = 0) throws {
    try putRequest(.get(.init(name: name.utf8.span, revision: revision)))
  }

  mutating func put(
    _ name: String, _ value: String, flags: PutRequest.Flags = [], revision: UInt64 = 0,
    attributes: [(String, String)] = []
  ) throws {
    var pairs = try SecretBuffer(capacity: 16)
    for (key, value) in attributes {
      try pairs.putPair(key: key.utf8.span, value: value.utf8.span)
    }
    try putRequest(
      .put(
        .init(
          name: name.utf8.span, flags: flags, revision: revision,
          attributes: AttributeFields(pairs.bytes, count: attributes.count),
          value: value.utf8.span)))
  }

  mutating func upload(_ name: String, flags: PutRequest.Flags = []) throws {
    try putRequest(.put(.init(name: name.utf8.span, flags: flags, value: nil)))
  }

  mutating func data(_ bytes: [UInt8]) throws { try putData(bytes.span, from: .client) }

  mutating func list(
    prefix: String = "", key: String = "", value: String = "", text: String = "",
    flags: ListRequest.Flags = []
  ) throws {
    try putRequest(
      .list(
        .init(
          flags: flags, prefix: prefix.utf8.span, filterKey: key.utf8.span,
          filterValue: value.utf8.span, text: text.utf8.span)))
  }

  mutating func show(_ name: String) throws { try putRequest(.show(.init(name: name.utf8.span))) }

  mutating func remove(_ name: String, ifRevision: UInt64 = 0) throws {
    try putRequest(.remove(.init(name: name.utf8.span, ifRevision: ifRevision)))
  }

  mutating func attribute(_ key: String, of name: String) throws {
    try putRequest(.getAttribute(.init(name: name.utf8.span, key: key.utf8.span)))
  }

  mutating func changePasscode(
    _ current: String, to new: String, kind: Credential = .passcode,
    flags: PasscodeRequest.Flags = [.weakKDF]
  ) throws {
    try putRequest(
      .passcode(
        .init(
          kind, current: current.utf8.span, new: new.utf8.span,
          cost: KDFParameters(memory: 8_192, passes: 1), flags: flags)))
  }
}

/// Replies as texts and numbers.
extension Received {
  var status: StatusReport? { try? StatusReport(payload.span) }

  /// The value of a `get` that came inline.
  var value: String? {
    guard let reply = try? GetReply(reply: payload.span), !reply.isStream else { return nil }
    return text(reply.value)
  }

  /// The names of a batch of a list.
  var names: [String] {
    var names: [String] = []
    guard let batch = try? EntryBatch(payload.span) else { return [] }
    batch.forEach { entry in names.append(text(entry.name)) }
    return names
  }

  /// The recovery key of a `create` or `passcode`.
  var recoveryKey: String? {
    guard let reply = try? RecoveryKeyReply(reply: payload.span) else { return nil }
    return text(reply.text)
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

/// A field as text.
func text(_ field: borrowing Field) -> String {
  String(decoding: field.bytes.indices.map { field.bytes[$0] }, as: UTF8.self)
}

extension OwnerWord {
  /// A word, or none.
  @_lifetime(copy secret)
  init(_ credential: Credential?, _ secret: Span<UInt8>) {
    if let credential { self.init(credential, secret) } else { self.init() }
  }
}
