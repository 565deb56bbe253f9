// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what a model asks for, by the agent, and tells the model what came of it.
struct Runner: ~Copyable {
  let vault: VaultPath
  /// Told by the agent when it locks; nil: the vault is locked.
  private var watch: Connection?

  init(_ vault: VaultPath) { self.vault = vault }

  /// What a poll(2) watches for the lock; -1: nothing.
  var watched: Int32 {
    switch watch {
    case .some(let connection): connection.watched
    case .none: -1
    }
  }

  func connect() throws(ClientError) -> Connection {
    try Connection.open(vault, engine: .started)
  }

  /// Does it.
  ///
  /// - Returns: What follows from it.
  mutating func perform(_ effect: Effect, _ model: inout Model) -> [Effect] {
    do throws(ClientError) {
      return try act(effect, &model)
    } catch {
      return fail(error, effect, &model)
    }
  }

  private mutating func fail(
    _ error: ClientError, _ effect: Effect, _ model: inout Model
  ) -> [Effect] {
    let now = Clock.boot()
    if model.cover != nil {
      model.refuse(Words.text(error), wait: Self.wait(error), now: now)
      return []
    }
    switch error.exitStatus {
    case .locked, .agent, .noVault:
      watch = nil
      look(&model)
    case .needsInteraction:
      if case .byOwner = effect {
        model.message = Words.text(error)
      } else {
        model.needsOwner(effect)
      }
    case .wrongPasscode:
      if case .byOwner(let inner) = effect { model.needsOwner(inner) }
      model.message = Words.text(error)
    case .ok, .failure, .usage, .notFound, .cancelled, .denied, .throttled, .ambiguous, .exists,
      .integrity, .busy, .inputOutput, .runFailed, .notExecutable, .commandNotFound, .interrupted:
      model.message = Words.text(error)
    }
    return []
  }

  /// How long the next try must wait, in ms.
  private static func wait(_ error: ClientError) -> UInt64 {
    guard case .refused(let refusal) = error else { return 0 }
    if case .wrongPasscode(let wrong) = refusal { return wrong.wait }
    if case .throttled(let wait, _) = refusal { return wait }
    return 0
  }
}

// MARK: - The lock

extension Runner {
  /// Finds out whether the vault is locked, and covers the screen then.
  ///
  /// - Returns: Why there is nothing to be shown at all; nil: there is.
  @discardableResult
  mutating func look(_ model: inout Model) -> ClientError? {
    do throws(ClientError) {
      var connection = try connect()
      let status = try connection.status()
      guard status.state != .unlocked else {
        try begin(consume connection)
        return nil
      }
      var cover = Cover(isLocked: true)
      cover.reason = status.lockReason?.text ?? ""
      let wait = status.passcodeWait
      cover.waitUntil = wait == 0 ? 0 : Clock.boot() + min(wait, 31_557_600_000)
      if let slots = try? connection.slots() {
        cover.hasRecoveryKey = slots.all.contains { $0.facts.kind == .recoveryKey }
        cover.hasKeyFile = slots.all.contains { $0.facts.kind == .keyFile }
      }
      watch = nil
      model.cover(cover)
      return nil
    } catch {
      watch = nil
      model.cover(Cover(isLocked: true))
      model.message = Words.text(error)
      return error
    }
  }

  /// Has the agent tell of the lock.
  private mutating func begin(_ connection: consuming Connection) throws(ClientError) {
    try connection.beginWatch()
    watch = consume connection
  }

  var isWatching: Bool {
    switch watch {
    case .some: true
    case .none: false
    }
  }

  /// The agent said something: the vault is locked, or the agent is gone.
  mutating func hear(_ model: inout Model) { look(&model) }

  private mutating func unlock(_ kind: Credential, _ model: inout Model) throws(ClientError)
    -> [Effect]
  {
    guard let secret = model.takeGiven() else { return [] }
    var connection = try connect()
    _ = try connection.unlock(kind, secret: secret)
    try begin(consume connection)
    return model.uncover(now: Clock.boot())
  }

  private mutating func prove(_ kind: Credential, _ model: inout Model) throws(ClientError)
    -> [Effect]
  {
    guard let secret = model.takeGiven() else { return [] }
    var connection = try connect()
    // Nothing is unlocked that was locked meanwhile.
    _ = try connection.authorize(kind, secret: secret)
    return model.uncover(now: Clock.boot())
  }
}

// MARK: - Items

extension Runner {
  private mutating func act(_ effect: Effect, _ model: inout Model) throws(ClientError) -> [Effect]
  {
    switch effect {
    case .unlock(let kind): return try unlock(kind, &model)
    case .prove(let kind): return try prove(kind, &model)
    case .lock:
      var connection = try connect()
      try connection.lock(.asked, scope: .vault)
      look(&model)
    case .load: return model.loaded(try names())
    case .byOwner(let inner): return try byOwner(inner, &model)
    case .show, .reveal, .code, .store, .attribute, .protect, .unprotect, .remove, .restore,
      .history,
      .settings, .set:
      var connection = try connect()
      return try ask(effect, &connection, by: nil, &model)
    case .copy, .generate, .edit, .save, .suspend, .redraw, .pick, .quit: return []
    }
    return []
  }

  private func names() throws(ClientError) -> NameTable {
    var names: [(name: String, mark: NameTable.Mark)] = []
    var connection = try connect()
    try connection.list { item throws(ClientError) in
      var mark: NameTable.Mark = item.facts.protection == .protected ? .protected : []
      if item.facts.kind == .otp { mark.insert(.code) }
      names.append((item.name, mark))
    }
    return NameTable(names)
  }

  private func byOwner(_ effect: Effect, _ model: inout Model) throws(ClientError) -> [Effect] {
    guard let secret = model.takeGiven() else { return [] }
    var connection = try connect()
    switch effect {
    case .reveal, .code:
      _ = try connection.authorize(.passcode, secret: secret)
      return try ask(effect, &connection, by: nil, &model)
    case .unlock, .prove, .lock, .load, .show, .copy, .store, .generate, .attribute, .protect,
      .unprotect,
      .remove, .restore, .history, .settings, .set, .edit, .save, .byOwner, .suspend, .redraw,
      .pick, .quit:
      return try ask(effect, &connection, by: Word(.passcode, secret), &model)
    }
  }

  private func ask(
    _ effect: Effect, _ connection: inout Connection, by word: consuming Word?, _ model: inout Model
  ) throws(ClientError) -> [Effect] {
    switch effect {
    case .show(let name): return model.opened(try connection.show(name))
    case .reveal(let name, let revision):
      model.revealed(try value(name, revision, &connection), revision: revision, now: Clock.boot())
    case .code(let name):
      let code = try connection.oneTimeCode(of: name)
      let text = try copy(code.text.bytes)
      model.coded(text, left: code.left, now: Clock.boot())
    case .store(let name, let over): return try store(name, over: over, &connection, &model)
    case .attribute(let name, let key, let value):
      let set = value.map { [Attribute(key: key, value: Array($0.utf8))] } ?? []
      _ = try connection.setAttributes(of: name, set: set, delete: value == nil ? [key] : [])
      return [.show(name)]
    case .protect(let name):
      _ = try connection.protect(name)
      return [.load, .show(name)]
    case .unprotect(let name):
      _ = try connection.unprotect(name, by: word)
      return [.load, .show(name)]
    case .remove(let name, let revision):
      try connection.remove(name, ifRevision: revision)
      return model.removed(name)
    case .restore(let name, let revision):
      _ = try connection.restore(name, revision: revision)
      return [.load, .show(name)]
    case .history(let name):
      var items: [Item] = []
      try connection.history(name) { item throws(ClientError) in items.append(item) }
      model.versionsLoaded(items)
    case .settings: model.settingsLoaded(try connection.settings())
    case .set(let setting, let value):
      try connection.set(setting, to: value, by: word)
      return [.settings]
    case .unlock, .prove, .lock, .load, .copy, .generate, .edit, .save, .byOwner, .suspend, .redraw,
      .pick,
      .quit:
      break
    }
    return []
  }
}

// MARK: - Values

extension Runner {
  private func copy(_ bytes: Span<UInt8>) throws(ClientError) -> SecretBytes {
    do throws(SecureMemoryError) { return try SecretBytes(copying: bytes) } catch {
      throw .outOfMemory
    }
  }

  private func value(
    _ name: String, _ revision: UInt64, _ connection: inout Connection
  ) throws(ClientError) -> SecretBytes {
    guard var gathered = try? SecretBuffer(capacity: 4_096) else { throw .outOfMemory }
    try connection.get(name, revision: revision) { part throws(ClientError) in
      // It may have become longer since its length was seen.
      guard gathered.count + part.count <= Int(OpenItem.longest) else { throw .stopped }
      do throws(SecureMemoryError) { try gathered.append(part) } catch { throw .outOfMemory }
    }
    return gathered.finish()
  }

  private func store(
    _ name: String, over: UInt64?, _ connection: inout Connection, _ model: inout Model
  ) throws(ClientError) -> [Effect] {
    guard let secret = model.takeGiven() else { return [] }
    if let current = try put(secret, name, over, &connection) {
      model.conflicted(name, current: current, secret)
      return []
    }
    model.message = "stored"
    return [.load, .show(name)]
  }

  /// - Returns: The revision that stands there in place of the one that was expected; nil: it is stored.
  private func put(
    _ value: borrowing SecretBytes, _ name: String, _ over: UInt64?, _ connection: inout Connection
  ) throws(ClientError) -> UInt64? {
    var flags: PutRequest.Flags = [.ifRevision]
    if over != 0 { flags.insert(.replace) }
    let order = PutOrder(name: name, flags: flags, revision: over ?? 0)
    do throws(ClientError) {
      _ = try connection.put(order, value: value.bytes)
      return nil
    } catch {
      guard case .refused(let refusal) = error else { throw error }
      if case .revisionConflict(let current) = refusal { return current }
      if case .exists(let revision, _) = refusal { return revision }
      throw error
    }
  }
}
