// SPDX-License-Identifier: MIT

public import SecureMemory

/// Names what a client asks of the agent; the first byte of a request.
public enum Verb: UInt8, Sendable, CaseIterable {
  case status = 1
  case create = 2
  case unlock = 3
  case lock = 4
  case get = 5
  case getAttribute = 6
  case put = 7
  case list = 8
  case show = 9
  case attributes = 10
  case remove = 11
  case passcode = 12
  case verify = 13
  case config = 14
  case agentStatus = 15
  case agentStop = 16
  case wait = 17
  case slots = 18
  case slotAdd = 19
  case slotRemove = 20
  case slotTest = 21
  case slotDisable = 22
  case slotEnable = 23
  case authorize = 24
  case protect = 25
  case unprotect = 26
  case rotate = 28
  case rekey = 29
  case prompt = 32
  case agentFacts = 36
  case otp = 40
  case move = 48
  case history = 49
  case restore = 50
  case purge = 51
  case touch = 52
  case watch = 54
  case log = 56
  case putBatch = 60
  case compact = 64

  /// Its word in the man page, the access log and its JSON.
  public var word: String {
    switch self {
    case .status: "status"
    case .create: "create"
    case .unlock: "unlock"
    case .lock: "lock"
    case .get: "get"
    case .getAttribute: "get-attribute"
    case .put: "put"
    case .list: "list"
    case .show: "show"
    case .attributes: "attributes"
    case .remove: "remove"
    case .passcode: "passcode"
    case .verify: "verify"
    case .config: "config"
    case .agentStatus: "agent-status"
    case .agentStop: "agent-stop"
    case .wait: "wait"
    case .slots: "slots"
    case .slotAdd: "slot-add"
    case .slotRemove: "slot-remove"
    case .slotTest: "slot-test"
    case .slotDisable: "slot-disable"
    case .slotEnable: "slot-enable"
    case .authorize: "authorize"
    case .protect: "protect"
    case .unprotect: "unprotect"
    case .rotate: "rotate"
    case .rekey: "rekey"
    case .prompt: "prompt"
    case .agentFacts: "agent-facts"
    case .otp: "otp"
    case .move: "move"
    case .history: "history"
    case .restore: "restore"
    case .purge: "purge"
    case .touch: "touch"
    case .watch: "watch"
    case .log: "log"
    case .putBatch: "put-batch"
    case .compact: "compact"
    }
  }
}

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
  case authorize(SlotAuthority)
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
  case compact

  /// Reads a request's payload; every byte of it must have its place.
  ///
  /// - Parameter payload: The payload of a frame of type ``FrameType/request``.
  /// - Throws: ``ProtocolError/unknownVerb(_:)``, or what is wrong with a field.
  @_lifetime(copy payload)
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let raw: UInt8 = try reader.number()
    guard let verb = Verb(rawValue: raw) else { throw .unknownVerb(raw) }
    self = try Request.fields(of: verb, &reader)
    try reader.finish()
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
    case .compact: .compact
    }
  }

  @_lifetime(copy reader)
  private static func fields(
    of verb: Verb, _ reader: inout FieldReader
  ) throws(ProtocolError) -> Request {
    switch verb {
    case .status: return .status
    case .create: return .create(try reader.message())
    case .unlock: return .unlock(try reader.message())
    case .lock: return .lock(try reader.message())
    case .get: return .get(try reader.message())
    case .getAttribute: return .getAttribute(try reader.message())
    case .put: return .put(try reader.message())
    case .list: return .list(try reader.message())
    case .show: return .show(try reader.message())
    case .attributes: return .attributes(try reader.message())
    case .remove: return .remove(try reader.message())
    case .passcode: return .passcode(try reader.message())
    case .verify: return .verify
    case .config: return .config(try reader.message())
    case .agentStatus: return .agentStatus
    case .agentStop: return .agentStop
    case .wait: return .wait(try reader.message())
    case .slots: return .slots
    case .slotAdd: return .slotAdd(try reader.message())
    case .slotRemove: return .slotRemove(try reader.message())
    case .slotTest: return .slotTest(try reader.message())
    case .slotDisable: return .slotDisable(try reader.message())
    case .slotEnable: return .slotEnable(try reader.message())
    case .authorize: return .authorize(try reader.message())
    case .protect: return .protect(try reader.message())
    case .unprotect: return .unprotect(try reader.message())
    case .prompt: return .prompt(try reader.message())
    case .rotate: return .rotate
    case .agentFacts: return .agentFacts
    case .otp: return .otp(try reader.message())
    case .rekey: return .rekey(try reader.message())
    case .move: return .move(try reader.message())
    case .history: return .history(try reader.message())
    case .restore: return .restore(try reader.message())
    case .purge: return .purge(try reader.message())
    case .touch: return .touch(try reader.message())
    case .watch: return .watch
    case .log: return .log
    case .putBatch: return .putBatch(try reader.message())
    case .compact: return .compact
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
        .history, .restore, .touch, .watch, .log, .putBatch, .compact:
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
    switch request {
    case .create(let message): try put(message)
    case .unlock(let message): try put(message)
    case .lock(let message): try put(message)
    case .get(let message): try put(message)
    case .getAttribute(let message): try put(message)
    case .put(let message): try put(message)
    case .list(let message): try put(message)
    case .attributes(let message): try put(message)
    case .remove(let message): try put(message)
    case .passcode(let message): try put(message)
    case .config(let message): try put(message)
    case .wait(let message): try put(message)
    case .slotAdd(let message): try put(message)
    case .slotRemove(let message), .slotTest(let message), .slotDisable(let message),
      .slotEnable(let message):
      try put(message)
    case .authorize(let message): try put(message)
    case .show(let message), .protect(let message), .otp(let message), .history(let message),
      .touch(let message):
      try put(message)
    case .unprotect(let message): try put(message)
    case .prompt(let message): try put(message)
    case .rekey(let message): try put(message)
    case .move(let message): try put(message)
    case .restore(let message): try put(message)
    case .purge(let message): try put(message)
    case .putBatch(let message): try put(message)
    case .status, .verify, .agentStatus, .agentStop, .slots, .rotate, .agentFacts, .watch, .log,
      .compact:
      break
    }
    try closeFrame(frame)
  }
}
