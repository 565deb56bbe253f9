// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does what a model asks for, by the agent, and tells the model what came of it.
struct Runner: ~Copyable {
  let vault: VaultPath
  /// Told by the agent when the vault is locked, or unlocked where it is locked; nil: there is no agent.
  var watch: Connection?
  /// Whether it was unlocked when it was last looked at.
  private(set) var isUnlocked = false
  /// Whether a finger may take the cover away.
  var finger = UncoveringFinger.idle

  init(_ vault: VaultPath) { self.vault = vault }

  /// What a poll(2) watches for the lock; -1: nothing.
  var watched: Int32 {
    switch watch {
    case .some(let connection): connection.watched
    case .none: -1
    }
  }

  /// Whether the agent has said something.
  var hasNews: Bool { watched >= 0 && kura_screen_wait(-1, -1, watched, 0) > 0 }

  func connect(_ engine: Engine = .started) throws(ClientError) -> Connection {
    try Connection.open(vault, engine: engine)
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
      model.refuse(error.description, wait: Self.wait(error), now: now)
      return []
    }
    switch error.exitStatus {
    case .locked, .agent, .noVault: look(&model)
    case .needsInteraction:
      if case .byOwner = effect {
        model.message = error.description
      } else {
        model.needsOwner(effect)
      }
    case .wrongPasscode:
      if case .byOwner(let inner) = effect { model.needsOwner(inner) }
      model.message = error.description
    case .ok, .failure, .usage, .notFound, .cancelled, .denied, .throttled, .ambiguous, .exists,
      .integrity, .busy, .inputOutput, .runFailed, .notExecutable, .commandNotFound, .interrupted:
      model.message = error.description
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
  /// Finds out whether the vault is locked, and covers the screen then. One that was locked stays covered.
  ///
  /// - Returns: Why there is nothing to be shown at all; nil: there is.
  @discardableResult
  mutating func look(_ model: inout Model, _ engine: Engine = .started) -> ClientError? {
    watch = nil
    finger = .idle
    isUnlocked = false
    var isOpen = false
    do throws(ClientError) {
      var connection = try connect(engine)
      let status = try connection.status()
      if let slots = try? connection.slots() { model.ways = Ways(slots) }
      if status.state == .unlocked {
        isOpen = true
        try begin(consume connection)
        // Somebody else unlocked it: who sits here has shown nothing yet.
        if model.cover?.isLocked == true { model.cover(Cover(isLocked: false)) }
        return nil
      }
      var cover = Cover(isLocked: true)
      cover.reason = status.lockReason?.text ?? ""
      let wait = status.passcodeWait
      cover.waitUntil = wait == 0 ? 0 : Clock.boot() + min(wait, 31_557_600_000)
      model.cover(cover)
      try connection.beginWait(milliseconds: 86_400_000)
      watch = consume connection
      return nil
    } catch {
      // Locked since it was asked: now that is what it is told.
      if isOpen, error.exitStatus == .locked { return look(&model, engine) }
      if Self.isUnheard(error) {
        coverUnheard(&model, isLocked: !isOpen)
      } else {
        model.cover(Cover(isLocked: true))
        model.message = error.description
      }
      return error
    }
  }

  /// Has the agent tell of the lock.
  mutating func begin(_ connection: consuming Connection) throws(ClientError) {
    var connection = connection
    try connection.beginWatch()
    watch = consume connection
    isUnlocked = true
  }

  /// The agent said something: the vault is locked, or unlocked, or the agent is gone, which is not
  /// started before it is needed; or a finger was there.
  ///
  /// - Returns: What follows from it.
  @discardableResult
  mutating func hear(_ model: inout Model) -> [Effect] {
    if finger == .scanning { return hearFinger(&model) }
    if isUnheard() { coverUnheard(&model, isLocked: true) } else { look(&model, .running) }
    return []
  }

  private func coverUnheard(_ model: inout Model, isLocked: Bool) {
    model.cover(Cover(isLocked: isLocked))
    model.message = "too many programs wait for a lock: nobody would tell this screen of one"
  }

  /// Whether the agent takes no more who wait: asked at once again, it would say so at once again.
  private static func isUnheard(_ error: ClientError) -> Bool {
    error == .refused(.tooBusy) || error == .refused(.busy)
  }

  /// The same of what was asked for while the vault was locked; a watch was agreed to.
  private mutating func isUnheard() -> Bool {
    guard !isUnlocked, var connection = watch.take() else { return false }
    do throws(ClientError) { try connection.endWait() } catch { return Self.isUnheard(error) }
    return false
  }

  private mutating func unlock(_ kind: Credential, _ model: inout Model) throws(ClientError)
    -> [Effect]
  {
    guard var secret = model.takeGiven() else { return [] }
    if kind == .keyFile { secret = try content(of: secret.bytes) }
    var connection = try connect()
    _ = try connection.unlock(kind, secret: secret)
    if let slots = try? connection.slots() { model.ways = Ways(slots) }
    try begin(consume connection)
    return model.uncover(now: Clock.boot())
  }

  private mutating func prove(_ kind: Credential, _ model: inout Model) throws(ClientError)
    -> [Effect]
  {
    guard let secret = model.takeGiven() else { return [] }
    var connection = try connect()
    // As `authenticate` does: nothing is unlocked that was locked meanwhile, and nothing is allowed by it.
    _ = try connection.testSlot(nil, kind, secret: secret)
    stopScan()
    // What was not heard before is asked for again.
    if watched < 0 { try begin(consume connection) }
    return model.uncover(now: Clock.boot())
  }

  /// Every byte of a key file.
  private func content(of path: Span<UInt8>) throws(ClientError) -> SecretBytes {
    var name: [UInt8] = []
    for index in path.indices { name.append(path[index]) }
    do throws(FileError) {
      let descriptor = ScreenCalls.open(String(decoding: name, as: UTF8.self))
      guard descriptor >= 0 else { throw FileError(errno: -descriptor) }
      defer { Descriptor.close(descriptor) }
      let key = try Descriptor.readAll(descriptor, limit: ProtocolLimit.secret).finish()
      if key.count >= Credential.leastKeyFile { return key }
    } catch { throw .input(error.errno) }
    throw .refused(.wrongKey(.keyFile))
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
    case .reveal(let name, let revision, _):
      return try reveal(effect, of: name, revision, secret, &connection, &model)
    case .code(let name): return try reveal(effect, of: name, 0, secret, &connection, &model)
    case .unlock, .prove, .lock, .load, .show, .copy, .store, .generate, .attribute, .protect,
      .unprotect,
      .remove, .restore, .history, .settings, .set, .edit, .save, .byOwner, .suspend, .redraw,
      .pick, .quit:
      return try ask(effect, &connection, by: Word(model.ways.owner, secret), &model)
    }
  }

  private func reveal(
    _ effect: Effect, of name: String, _ revision: UInt64, _ secret: borrowing SecretBytes,
    _ connection: inout Connection, _ model: inout Model
  ) throws(ClientError) -> [Effect] {
    _ = try connection.authorize(
      model.ways.owner, secret: secret, for: [name], revision: revision)
    _ = try ask(effect, &connection, by: nil, &model)
    // Now its secret attributes may be known, too, and a code that is made of one.
    model.item?.secrets = try secrets(name, &connection)
    if model.awaitsCode { _ = try ask(.code(name), &connection, by: nil, &model) }
    return []
  }

  private func ask(
    _ effect: Effect, _ connection: inout Connection, by word: consuming Word?, _ model: inout Model
  ) throws(ClientError) -> [Effect] {
    switch effect {
    case .show(let name):
      let shown = try connection.show(name)
      let isProtected = shown.item.facts.protection == .protected
      return model.opened(shown, isProtected ? [] : try secrets(name, &connection))
    case .reveal(let name, let revision, let field):
      let shown = try value(name, revision, field, &connection)
      model.revealed(shown, revision: revision, now: Clock.boot())
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

  private func secrets(
    _ name: String, _ connection: inout Connection
  ) throws(ClientError) -> [OpenItem.Secret] {
    try connection.secrets(of: name).map { OpenItem.Secret(key: $0.key, size: $0.size) }
  }

  private func value(
    _ name: String, _ revision: UInt64, _ field: String?, _ connection: inout Connection
  ) throws(ClientError) -> SecretBytes {
    guard let field else { return try value(name, revision, &connection) }
    var found: SecretBytes?
    try connection.secretAttributes(of: name) { key, value throws(ClientError) in
      if String(repairing: key) == field { found = try copy(value) }
    }
    // Somebody deleted it since.
    guard let found = found.take() else { throw .refused(.attributeNotFound(.text(field))) }
    return found
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
