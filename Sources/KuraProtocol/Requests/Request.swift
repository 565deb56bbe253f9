// SPDX-License-Identifier: MIT

public import SecureMemory

/// Holds a request as the agent reads it and as a client writes it: the one table of all that can be asked.
///
/// Names, values and secrets stay where they are, in guarded memory: each is a ``Field``.
public enum Request: ~Escapable {
  case status
  case create(CreateRequest)
  case unlock(UnlockRequest)
  case lock(LockRequest)
  case get(GetRequest)
  case getAttribute(GetAttributeRequest)
  case put(PutRequest)
  case list(ListRequest)
  case show(NameRequest)
  case attributes(AttributesRequest)
  case remove(RemoveRequest)
  case passcode(PasscodeRequest)
  case verify
  case config(ConfigRequest)
  case agentStatus
  case agentStop
  case wait(WaitRequest)
  case slots
  case slotAdd(SlotAddRequest)
  case slotRemove(SlotRequest)
  case slotTest(SlotRequest)
  case slotDisable(SlotRequest)
  case slotEnable(SlotRequest)
  case authorize(AuthorizeRequest)
  case protect(NameRequest)
  case unprotect(OwnedNameRequest)
  case prompt(PromptRequest)
  case rotate
  case agentFacts
  case otp(NameRequest)
  case rekey(RekeyRequest)
  case move(MoveRequest)
  case history(NameRequest)
  case restore(RestoreRequest)
  case purge(PurgeRequest)
  case touch(NameRequest)
  /// Refused as locked as soon as the vault is.
  case watch
  /// What this machine has noted of the vault's use.
  case log
  case putBatch(PutBatchRequest)
  case draftKey(DraftKeyRequest)
  case compact
  case backup(BackupRequest)
  case setSecret(SetSecretRequest)
  case secrets(NameRequest)
  case merge(MergeRequest)
  case conflicts(ConflictsRequest)
  case getSecrets(GetSecretsRequest)
  case takeOver
  /// Is told of each value that the programs below the client's process are handed, before they are.
  case mask
  case clone(CloneRequest)
  case grant(GrantRequest)
  /// What is granted at present.
  case grants
  case grantRevoke(GrantRevokeRequest)
  case wish(WishRequest)
  case wishes(WishesRequest)
  case approve(ApproveRequest)
  case decline(DeclineRequest)
  case confine(ConfineRequest)
  case sync(SyncRequest)
  case syncGiven(SyncGivenRequest)
  /// Who shares the vault.
  case syncStatus
  case syncStart(SyncStartRequest)
  case syncJoin(SyncJoinRequest)
  case syncEnter(SyncEnterRequest)
  /// How this machine's TPM holds against guessing.
  case chip
  /// What a security key asks for.
  case securityKey(SecurityKeyRequest)
  /// Has the owner show by a finger that he is there.
  case finger

  /// Reads a request's payload; every byte of it must have its place.
  ///
  /// - Parameter payload: The payload of a frame of type ``FrameType/request``.
  /// - Throws: ``ProtocolError/unknownVerb(_:)``, or what is wrong with a field.
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let raw: UInt8 = try reader.number()
    guard let verb = Verb(rawValue: raw) else { throw .unknownVerb(raw) }
    if let bare = Request(bare: verb) {
      self = bare
    } else {
      self = try Request(fieldsOf: verb, &reader)
    }
    try reader.finish()
  }

  @_lifetime(copy reader)
  private init(fieldsOf verb: Verb, _ reader: inout FieldReader) throws(ProtocolError) {
    switch verb {
    case .create: self = .create(try reader.message())
    case .unlock: self = .unlock(try reader.message())
    case .lock: self = .lock(try reader.message())
    case .get: self = .get(try reader.message())
    case .getAttribute: self = .getAttribute(try reader.message())
    case .put: self = .put(try reader.message())
    case .list: self = .list(try reader.message())
    case .show: self = .show(try reader.message())
    case .attributes: self = .attributes(try reader.message())
    case .remove: self = .remove(try reader.message())
    case .passcode: self = .passcode(try reader.message())
    case .config: self = .config(try reader.message())
    case .wait: self = .wait(try reader.message())
    case .slotAdd: self = .slotAdd(try reader.message())
    case .slotRemove: self = .slotRemove(try reader.message())
    case .slotTest: self = .slotTest(try reader.message())
    case .slotDisable: self = .slotDisable(try reader.message())
    case .slotEnable: self = .slotEnable(try reader.message())
    case .authorize: self = .authorize(try reader.message())
    case .protect: self = .protect(try reader.message())
    case .unprotect: self = .unprotect(try reader.message())
    case .prompt: self = .prompt(try reader.message())
    case .otp: self = .otp(try reader.message())
    case .rekey: self = .rekey(try reader.message())
    case .move: self = .move(try reader.message())
    case .history: self = .history(try reader.message())
    case .restore: self = .restore(try reader.message())
    case .purge: self = .purge(try reader.message())
    case .touch: self = .touch(try reader.message())
    case .putBatch: self = .putBatch(try reader.message())
    case .draftKey: self = .draftKey(try reader.message())
    case .backup: self = .backup(try reader.message())
    case .setSecret: self = .setSecret(try reader.message())
    case .secrets: self = .secrets(try reader.message())
    case .merge: self = .merge(try reader.message())
    case .conflicts: self = .conflicts(try reader.message())
    case .getSecrets: self = .getSecrets(try reader.message())
    case .clone: self = .clone(try reader.message())
    case .grant: self = .grant(try reader.message())
    case .grantRevoke: self = .grantRevoke(try reader.message())
    case .wish: self = .wish(try reader.message())
    case .wishes: self = .wishes(try reader.message())
    case .approve: self = .approve(try reader.message())
    case .decline: self = .decline(try reader.message())
    case .confine: self = .confine(try reader.message())
    case .sync: self = .sync(try reader.message())
    case .syncGiven: self = .syncGiven(try reader.message())
    case .syncStart: self = .syncStart(try reader.message())
    case .syncJoin: self = .syncJoin(try reader.message())
    case .syncEnter: self = .syncEnter(try reader.message())
    case .securityKey: self = .securityKey(try reader.message())
    case .status, .verify, .agentStatus, .agentStop, .slots, .rotate, .agentFacts, .watch, .log,
      .compact, .takeOver, .mask, .grants, .syncStatus, .chip, .finger:
      // Read above.
      throw .unknownVerb(verb.rawValue)
    }
  }

  /// A request that is no more than its verb; nil for another one.
  @_lifetime(immortal)
  private init?(bare verb: Verb) {
    switch verb {
    case .status: self = .status
    case .verify: self = .verify
    case .agentStatus: self = .agentStatus
    case .agentStop: self = .agentStop
    case .slots: self = .slots
    case .rotate: self = .rotate
    case .agentFacts: self = .agentFacts
    case .watch: self = .watch
    case .log: self = .log
    case .compact: self = .compact
    case .takeOver: self = .takeOver
    case .mask: self = .mask
    case .grants: self = .grants
    case .syncStatus: self = .syncStatus
    case .chip: self = .chip
    case .finger: self = .finger
    case .create, .unlock, .lock, .get, .getAttribute, .put, .list, .show, .attributes, .remove,
      .passcode, .config, .wait, .slotAdd, .slotRemove, .slotTest, .slotDisable, .slotEnable,
      .authorize, .protect, .unprotect, .prompt, .otp, .rekey, .move, .history, .restore, .purge,
      .touch, .putBatch, .draftKey, .backup, .setSecret, .secrets, .merge, .conflicts, .getSecrets,
      .clone, .grant, .grantRevoke, .wish, .wishes, .approve, .decline, .confine,
      .sync, .syncGiven, .syncStart, .syncJoin, .syncEnter, .securityKey:
      return nil
    }
  }

  /// What is asked.
  public var verb: Verb {
    switch self {
    case .status: .status
    case .create: .create
    case .unlock: .unlock
    case .lock: .lock
    case .get: .get
    case .getAttribute: .getAttribute
    case .put: .put
    case .list: .list
    case .show: .show
    case .attributes: .attributes
    case .remove: .remove
    case .passcode: .passcode
    case .verify: .verify
    case .config: .config
    case .agentStatus: .agentStatus
    case .agentStop: .agentStop
    case .wait: .wait
    case .slots: .slots
    case .slotAdd: .slotAdd
    case .slotRemove: .slotRemove
    case .slotTest: .slotTest
    case .slotDisable: .slotDisable
    case .slotEnable: .slotEnable
    case .authorize: .authorize
    case .protect: .protect
    case .unprotect: .unprotect
    case .prompt: .prompt
    case .rotate: .rotate
    case .agentFacts: .agentFacts
    case .otp: .otp
    case .rekey: .rekey
    case .move: .move
    case .history: .history
    case .restore: .restore
    case .purge: .purge
    case .touch: .touch
    case .watch: .watch
    case .log: .log
    case .putBatch: .putBatch
    case .draftKey: .draftKey
    case .compact: .compact
    case .backup: .backup
    case .setSecret: .setSecret
    case .secrets: .secrets
    case .merge: .merge
    case .conflicts: .conflicts
    case .getSecrets: .getSecrets
    case .takeOver: .takeOver
    case .mask: .mask
    case .clone: .clone
    case .grant: .grant
    case .grants: .grants
    case .grantRevoke: .grantRevoke
    case .wish: .wish
    case .wishes: .wishes
    case .approve: .approve
    case .decline: .decline
    case .confine: .confine
    case .sync: .sync
    case .syncGiven: .syncGiven
    case .syncStatus: .syncStatus
    case .syncStart: .syncStart
    case .syncJoin: .syncJoin
    case .syncEnter: .syncEnter
    case .chip: .chip
    case .securityKey: .securityKey
    case .finger: .finger
    }
  }
}

extension Request {
  /// The owner's word that the request carries; empty where it carries none.
  public var word: OwnerWord {
    @_lifetime(copy self)
    get {
      switch self {
      case .config(let request): return request.word
      case .move(let request): return request.word
      case .purge(let request): return request.word
      case .unprotect(let request): return request.word
      case .status, .create, .unlock, .lock, .get, .getAttribute, .put, .list, .show, .attributes,
        .remove, .passcode, .verify, .agentStatus, .agentStop, .wait, .slots, .slotAdd,
        .slotRemove, .slotTest, .slotDisable, .slotEnable, .authorize, .protect, .prompt, .rotate,
        .agentFacts, .otp, .rekey,
        .history, .restore, .touch, .watch, .log, .putBatch, .draftKey, .compact, .backup,
        .setSecret, .secrets, .merge, .conflicts, .getSecrets, .takeOver, .mask, .clone,
        .grant, .grants, .grantRevoke, .wish, .wishes, .approve, .decline, .confine,
        .sync, .syncGiven, .syncStatus, .syncStart, .syncJoin, .syncEnter, .chip,
        .securityKey, .finger:
        return OwnerWord()
      }
    }
  }
}

extension SecretBuffer {
  /// Writes a whole frame of type ``FrameType/request``.
  public mutating func putRequest(_ request: borrowing Request) throws(ProtocolError) {
    let frame = try openFrame(.request)
    try put(request.verb.rawValue)
    try putFields(of: request)
    try closeFrame(frame)
  }
  private mutating func putFields(of request: borrowing Request) throws(ProtocolError) {
    switch copy request {
    case .create(var message): try message.code(&self)
    case .unlock(var message): try message.code(&self)
    case .lock(var message): try message.code(&self)
    case .get(var message): try message.code(&self)
    case .getAttribute(var message): try message.code(&self)
    case .put(var message): try message.code(&self)
    case .list(var message): try message.code(&self)
    case .attributes(var message): try message.code(&self)
    case .remove(var message): try message.code(&self)
    case .passcode(var message): try message.code(&self)
    case .config(var message): try message.code(&self)
    case .wait(var message): try message.code(&self)
    case .slotAdd(var message): try message.code(&self)
    case .slotRemove(var message), .slotTest(var message), .slotDisable(var message),
      .slotEnable(var message):
      try message.code(&self)
    case .authorize(var message): try message.code(&self)
    case .show(var message), .protect(var message), .otp(var message), .history(var message),
      .touch(var message):
      try message.code(&self)
    case .unprotect(var message): try message.code(&self)
    case .prompt(var message): try message.code(&self)
    case .rekey(var message): try message.code(&self)
    case .move(var message): try message.code(&self)
    case .restore(var message): try message.code(&self)
    case .purge(var message): try message.code(&self)
    case .putBatch(var message): try message.code(&self)
    case .draftKey(var message): try message.code(&self)
    case .backup(var message): try message.code(&self)
    case .setSecret(var message): try message.code(&self)
    case .secrets(var message): try message.code(&self)
    case .merge(var message): try message.code(&self)
    case .conflicts(var message): try message.code(&self)
    case .getSecrets(var message): try message.code(&self)
    case .clone(var message): try message.code(&self)
    case .grant(var message): try message.code(&self)
    case .grantRevoke(var message): try message.code(&self)
    case .wish(var message): try message.code(&self)
    case .wishes(var message): try message.code(&self)
    case .approve(var message): try message.code(&self)
    case .decline(var message): try message.code(&self)
    case .confine(var message): try message.code(&self)
    case .sync(var message): try message.code(&self)
    case .syncGiven(var message): try message.code(&self)
    case .syncStart(var message): try message.code(&self)
    case .syncJoin(var message): try message.code(&self)
    case .syncEnter(var message): try message.code(&self)
    case .securityKey(var message): try message.code(&self)
    case .status, .verify, .agentStatus, .agentStop, .slots, .rotate, .agentFacts, .watch, .log,
      .compact, .takeOver, .mask, .grants, .syncStatus, .chip, .finger:
      break
    }
  }
}
