// SPDX-License-Identifier: MIT

public import SecureMemory

/// Whole request frames, as a client writes them.
extension SecretBuffer {
  /// Writes a request that has no fields: `status`, `verify`, `agentStatus`, `agentStop`,
  /// `slots`, `rotate`, `compact`.
  public mutating func putRequest(_ verb: Verb) throws(ProtocolError) {
    try closeFrame(try openRequest(verb))
  }

  /// Writes `create`.
  public mutating func putCreate(
    passcode: Span<UInt8>, cost: KDFParameters, flags: CreateRequest.Flags
  ) throws(ProtocolError) {
    let frame = try openRequest(.create)
    try put(cost)
    try put(flags.rawValue)
    try put16(passcode)
    try closeFrame(frame)
  }

  /// Writes the `confirm` that follows a `create`.
  public mutating func putConfirm() throws(ProtocolError) {
    try closeFrame(try openFrame(.confirm))
  }

  /// Writes `unlock`; times in ms, 0 = the vault's policy.
  public mutating func putUnlock(
    _ credential: Credential, secret: Span<UInt8>, idleTimeout: UInt64, maxSession: UInt64,
    flags: UnlockRequest.Flags
  ) throws(ProtocolError) {
    let frame = try openRequest(.unlock)
    try put(credential.rawValue)
    try put16(secret)
    try put(idleTimeout)
    try put(maxSession)
    try put(flags.rawValue)
    try closeFrame(frame)
  }

  /// Writes `lock`.
  public mutating func putLock(
    _ reason: LockReason, scope: LockRequest.Scope
  ) throws(ProtocolError) {
    let frame = try openRequest(.lock)
    try put(reason.rawValue)
    try put(scope.rawValue)
    try closeFrame(frame)
  }

  /// Writes `passcode`.
  public mutating func putPasscode(
    _ credential: Credential, current: Span<UInt8>, new: Span<UInt8>, cost: KDFParameters,
    flags: PasscodeRequest.Flags
  ) throws(ProtocolError) {
    let frame = try openRequest(.passcode)
    try put(credential.rawValue)
    try put16(current)
    try put16(new)
    try put(cost)
    try put(flags.rawValue)
    try closeFrame(frame)
  }

  /// Writes `config`; only a `set` may carry the owner's word.
  public mutating func putConfig(
    _ operation: ConfigRequest.Operation, key: Setting?, value: UInt64 = 0,
    by credential: Credential? = nil, word: Span<UInt8> = Span()
  ) throws(ProtocolError) {
    let frame = try openRequest(.config)
    try put(operation.rawValue)
    try put(key?.rawValue ?? 0)
    try put(value)
    if operation == .set { try put(word: credential, word) }
    try closeFrame(frame)
  }

  /// Writes `wait`.
  public mutating func putWait(milliseconds: UInt64) throws(ProtocolError) {
    let frame = try openRequest(.wait)
    try put(milliseconds)
    try closeFrame(frame)
  }

  mutating func openRequest(_ verb: Verb) throws(ProtocolError) -> OpenFrame {
    let frame = try openFrame(.request)
    try put(verb.rawValue)
    return frame
  }

  private mutating func put(_ cost: KDFParameters) throws(ProtocolError) {
    try put(cost.memory)
    try put(cost.passes)
  }
}

// MARK: - Items

extension SecretBuffer {
  /// Writes `get`; revision 0 = the current one.
  public mutating func putGet(
    name: Span<UInt8>, revision: UInt64, flags: GetRequest.Flags = [],
    for purpose: ReadPurpose = .get
  ) throws(ProtocolError) {
    let frame = try openRequest(.get)
    try put(revision)
    try put(flags.rawValue)
    try put(purpose.rawValue)
    try put16(name)
    try closeFrame(frame)
  }

  /// Writes `get-attribute`.
  public mutating func putGetAttribute(
    name: Span<UInt8>, key: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openRequest(.getAttribute)
    try put16(name)
    try put16(key)
    try closeFrame(frame)
  }

  /// Writes `put` with the value inside, or, with `value` nil, the `put` a stream follows.
  ///
  /// - Parameters:
  ///   - revision: Zero without ``PutRequest/Flags/ifRevision``.
  ///   - attributeCount: How many pairs `attributes` writes.
  ///   - attributes: Writes them with ``putPair(key:value:)``.
  public mutating func putPut(
    name: Span<UInt8>, flags: PutRequest.Flags, revision: UInt64, value: Span<UInt8>?,
    attributeCount: Int,
    attributes: (inout SecretBuffer) throws(ProtocolError) -> Void
  ) throws(ProtocolError) {
    let frame = try openRequest(.put)
    try put(flags.rawValue)
    try put(revision)
    try put16(name)
    let place = try openCount()
    try attributes(&self)
    try closeCount(place, attributeCount)
    if let value {
      try put(UInt8(0))
      try put32(value, limit: ProtocolLimit.inlineValue)
    } else {
      try put(UInt8(1))
    }
    try closeFrame(frame)
  }

  /// Writes the last frame of an upload.
  public mutating func putUploadEnd(_ end: UploadEnd) throws(ProtocolError) {
    let frame = try openFrame(.clientEnd)
    try put(end.rawValue)
    try closeFrame(frame)
  }

  /// Writes `list`; empty fields ask for nothing.
  public mutating func putList(
    flags: ListRequest.Flags, prefix: Span<UInt8>, filterKey: Span<UInt8>,
    filterValue: Span<UInt8>, text: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openRequest(.list)
    try put(flags.rawValue)
    try put16(prefix)
    try put16(filterKey)
    try put16(filterValue)
    try put16(text, limit: ProtocolLimit.searchText)
    try closeFrame(frame)
  }

  /// Writes `show`.
  public mutating func putShow(name: Span<UInt8>) throws(ProtocolError) {
    let frame = try openRequest(.show)
    try put16(name)
    try closeFrame(frame)
  }

  /// Writes `attributes`: `set` writes pairs, `delete` writes keys with `put16`.
  public mutating func putAttributes(
    name: Span<UInt8>, ifRevision: UInt64,
    setCount: Int, set: (inout SecretBuffer) throws(ProtocolError) -> Void,
    deleteCount: Int, delete: (inout SecretBuffer) throws(ProtocolError) -> Void
  ) throws(ProtocolError) {
    let frame = try openRequest(.attributes)
    try put(ifRevision)
    try put16(name)
    let pairs = try openCount()
    try set(&self)
    try closeCount(pairs, setCount)
    let keys = try openCount()
    try delete(&self)
    try closeCount(keys, deleteCount)
    try closeFrame(frame)
  }

  /// Writes `remove`; revision 0 = any.
  public mutating func putRemove(
    name: Span<UInt8>, ifRevision: UInt64
  ) throws(ProtocolError) {
    let frame = try openRequest(.remove)
    try put(ifRevision)
    try put16(name)
    try closeFrame(frame)
  }
}
