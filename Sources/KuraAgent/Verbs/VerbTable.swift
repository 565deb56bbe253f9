// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

// All that the agent has to know of a verb stands in this file, but for the work itself.

extension Agent {
  /// Serves a request, whose owner's word was proved where it carries one.
  func serve(
    _ request: borrowing Request, _ connection: Connection,
    by owner: borrowing OwnerProof?
  ) throws(Refusal) {
    switch request {
    case .get(let request): try get(request, connection)
    case .getAttribute(let request): try getAttribute(request, connection)
    case .put(let request): try put(request, connection)
    case .list(let request): try list(request, connection)
    case .show(let request): try show(request, connection)
    case .attributes(let request): try changeAttributes(request, connection)
    case .remove(let request): try remove(request, connection)
    case .move(let request): try move(request, connection, by: owner)
    case .history(let request): try history(request, connection)
    case .restore(let request): try restore(request, connection)
    case .purge(let request): try purge(request, connection, by: owner)
    case .touch(let request):
      try change(request.name, connection) { vault, name throws(VaultError) in
        try vault.touch(name)
      }
    case .verify: try verify(connection)
    case .rotate: try rotate(connection)
    case .compact: try compact(connection)
    case .rekey(let request): try rekey(request, connection)
    case .config(let request): try configure(request, connection, by: owner)
    case .status: try status(connection)
    case .create(let request): try create(request, connection)
    case .unlock(let request): try unlock(request, connection)
    case .lock(let request): try lock(request, connection)
    case .passcode(let request): try changePasscode(request, connection)
    case .agentStatus: try agentStatus(connection)
    case .agentStop: try stop(connection)
    case .wait(let request): try wait(request.milliseconds, connection)
    case .slots: try slots(connection)
    case .slotAdd(let request): try addSlot(request, connection)
    case .slotRemove(let request): try changeSlot(.remove(request.number), request, connection)
    case .slotDisable(let request): try changeSlot(.disable(request.number), request, connection)
    case .slotEnable(let request): try changeSlot(.enable(request.number), request, connection)
    case .slotTest(let request): try testSlot(request, connection)
    case .authorize(let request): try authorize(request, connection)
    case .protect(let request):
      try change(request.name, connection) { vault, name throws(VaultError) in
        try vault.protect(name)
      }
    case .unprotect(let request):
      try change(request.name, connection) { vault, name throws(VaultError) in
        try vault.unprotect(name, by: owner)
      }
    case .prompt(let request): try prompt(request, connection)
    case .agentFacts: try agentFacts(connection)
    case .otp(let request): try makeCode(request, connection)
    case .watch: try awaitLock(connection)
    case .log: try readLog(connection)
    case .putBatch(let request): try putBatch(request, connection)
    case .draftKey(let request): try draftKey(request, connection)
    case .backup(let request): try backup(request, connection)
    case .setSecret(let request): try setSecret(request, connection)
    case .secrets(let request): try secrets(request, connection)
    case .merge(let request): try merge(request, connection)
    case .conflicts(let request): try conflicts(request, connection)
    case .getSecrets(let request): try getSecrets(request, connection)
    case .takeOver: try takeOver(connection)
    case .mask: try mask(connection)
    case .clone(let request): try clone(request, connection)
    case .grant(let request): try grant(request, connection)
    case .grants: try grants(connection)
    case .grantRevoke(let request): try revokeGrant(request, connection)
    case .confine(let request): try confine(request, connection)
    case .wish(let request): try wish(request, connection)
    case .wishes(let request): try wishes(request, connection)
    case .approve(let request): try approve(request, connection)
    case .decline(let request): try decline(request, connection)
    case .sync(let message): try sync(message, connection)
    case .syncGiven(let request): try syncGiven(request, connection)
    case .syncStatus: try syncStatus(connection)
    case .syncStart(let request): try startSync(request, connection)
    case .syncJoin(let request): try joinSync(request, connection)
    case .syncEnter(let request): try enterSync(request, connection)
    case .chip: try lookAtChip(connection)
    case .securityKey(let request): try lookAtKey(request, connection)
    case .finger: try askForFinger(connection)
    }
  }
}

// MARK: - Traits

/// Says what the agent does about a request beside serving it.
struct VerbTraits: OptionSet {
  let rawValue: UInt8

  /// It has to find a seat: not what locks, nor what is asked on the way to it.
  static let takesSeat = VerbTraits(rawValue: 1)
  /// It is dropped when its client has gone. What only reads changes nothing, and what locks is meant.
  static let diesWithClient = VerbTraits(rawValue: 2)
  /// It takes a credential, and is noted when what it asked for is done.
  static let isNotedWhenDone = VerbTraits(rawValue: 4)
  /// It is served on a connection whose turn it is to ask a person.
  static let mayBeAskedInTurn = VerbTraits(rawValue: 8)
}

extension Verb {
  var traits: VerbTraits {
    switch self {
    case .status, .slots: .mayBeAskedInTurn
    case .unlock: [.takesSeat, .diesWithClient, .mayBeAskedInTurn]
    case .lock, .agentStatus, .agentStop, .agentFacts, .mask, .grants, .grantRevoke, .confine: []
    case .get, .getAttribute, .list, .show, .wait, .history, .watch, .log, .draftKey,
      .secrets, .conflicts, .getSecrets, .wish, .wishes, .syncStatus, .chip:
      .takesSeat
    case .create, .put, .attributes, .remove, .verify, .config, .protect, .unprotect,
      .rotate, .prompt, .otp, .move, .restore, .purge, .touch, .putBatch, .compact, .backup,
      .setSecret, .merge, .takeOver, .grant, .approve, .decline, .sync,
      .syncGiven, .syncStart, .syncJoin, .securityKey, .finger:
      [.takesSeat, .diesWithClient]
    case .passcode, .slotAdd, .slotRemove, .slotTest, .slotDisable, .slotEnable, .authorize, .rekey,
      .clone, .syncEnter:
      [.takesSeat, .diesWithClient, .isNotedWhenDone]
    }
  }
}

// MARK: - The access log

extension Request {
  /// Nil for what neither serves nor changes anything of a vault, or is noted when it is done.
  var logSubject: LogSubject? {
    @_lifetime(copy self)
    get {
      switch self {
      case .get(let request): LogSubject(request.name.bytes, detail: request.logDetail)
      case .getAttribute(let request):
        LogSubject(request.name.bytes, other: request.key.bytes)
      case .put(let request): request.isStream ? nil : LogSubject(request.name.bytes)
      case .show(let request), .protect(let request), .otp(let request), .history(let request),
        .touch(let request):
        LogSubject(request.name.bytes)
      case .unprotect(let request): LogSubject(request.name.bytes)
      case .attributes(let request): LogSubject(request.name.bytes)
      case .setSecret(let request):
        LogSubject(request.name.bytes, other: request.key.bytes)
      case .secrets(let request): LogSubject(request.name.bytes)
      case .getSecrets(let request):
        LogSubject(request.name.bytes, detail: request.revision)
      case .remove(let request): LogSubject(request.name.bytes)
      case .move(let request): LogSubject(request.name.bytes, other: request.new.bytes)
      case .restore(let request): LogSubject(request.name.bytes, detail: request.revision)
      case .purge(let request): LogSubject(request.name.bytes, detail: request.revision)
      case .config(let request):
        request.operation == .set ? LogSubject(Span(), detail: UInt64(request.key)) : nil
      case .list, .rotate, .compact, .backup, .takeOver, .sync, .syncStart: LogSubject(Span())
      case .merge(let request): request.key.credential == nil ? LogSubject(Span()) : nil
      // Noted when they are done.
      case .create, .unlock, .lock, .passcode, .slotAdd, .slotRemove, .slotTest, .slotDisable,
        .slotEnable, .authorize, .rekey, .clone, .putBatch, .log, .grant, .grantRevoke, .approve,
        .decline, .syncEnter, .finger:
        nil
      case .status, .verify, .agentStatus, .agentStop, .wait, .slots, .prompt, .agentFacts, .watch,
        .conflicts, .draftKey, .mask, .grants, .wish, .wishes, .confine, .syncGiven,
        .syncStatus, .syncJoin, .chip, .securityKey:
        nil
      }
    }
  }
}
