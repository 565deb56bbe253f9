// SPDX-License-Identifier: MIT

/// A request as the agent reads it.
///
/// Names, values and secrets are positions in the payload it was read from, so that they are
/// never copied out of guarded memory: `payload.extracting(request.name)`.
public enum Request: Equatable, Sendable {
  case status
  case create(CreateRequest)
  case unlock(UnlockRequest)
  case lock(LockRequest)
  case get(GetRequest)
  case getAttribute(GetAttributeRequest)
  case put(PutRequest)
  case list(ListRequest)
  /// The name of the item.
  case show(name: Range<Int>)
  case attributes(AttributesRequest)
  case remove(RemoveRequest)
  case passcode(PasscodeRequest)
  case verify
  case config(ConfigRequest)
  case agentStatus
  case agentStop
  /// Answered when the vault is unlocked, or refused as locked after that long.
  case wait(milliseconds: UInt64)
  case slots
  case slotAdd(SlotAddRequest)
  case slotRemove(SlotRemoveRequest)
  case slotTest(SlotTestRequest)
  case authorize(AuthorizeRequest)
  /// The name of the item.
  case protect(name: Range<Int>)
  case unprotect(OwnedName)
  case prompt(PromptRequest)
  case rotate
  case agentFacts
  /// The name of the item.
  case otp(name: Range<Int>)
  case rekey(RekeyRequest)
  case move(MoveRequest)
  /// The name of the item.
  case history(name: Range<Int>)
  case restore(RestoreRequest)
  case purge(PurgeRequest)
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
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let raw: UInt8 = try reader.number()
    guard let verb = Verb(rawValue: raw) else { throw .unknownVerb(raw) }
    self = try Self.fields(of: verb, &reader)
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
    case .watch: .watch
    case .log: .log
    case .putBatch: .putBatch
    case .compact: .compact
    }
  }

  private static func fields(
    of verb: Verb, _ reader: inout FieldReader
  ) throws(ProtocolError) -> Request {
    switch verb {
    case .status: .status
    case .create: .create(try CreateRequest(&reader))
    case .unlock: .unlock(try UnlockRequest(&reader))
    case .lock: .lock(try LockRequest(&reader))
    case .get: .get(try GetRequest(&reader))
    case .getAttribute: .getAttribute(try GetAttributeRequest(&reader))
    case .put: .put(try PutRequest(&reader))
    case .list: .list(try ListRequest(&reader))
    case .show: .show(name: try reader.field16())
    case .attributes: .attributes(try AttributesRequest(&reader))
    case .remove: .remove(try RemoveRequest(&reader))
    case .passcode: .passcode(try PasscodeRequest(&reader))
    case .verify: .verify
    case .config: .config(try ConfigRequest(&reader))
    case .agentStatus: .agentStatus
    case .agentStop: .agentStop
    case .wait: .wait(milliseconds: try reader.number())
    case .slots: .slots
    case .slotAdd: .slotAdd(try SlotAddRequest(&reader))
    case .slotRemove: .slotRemove(try SlotRemoveRequest(&reader))
    case .slotTest: .slotTest(try SlotTestRequest(&reader))
    case .authorize: .authorize(try AuthorizeRequest(&reader))
    case .protect: .protect(name: try reader.field16())
    case .unprotect: .unprotect(try OwnedName(&reader))
    case .prompt: .prompt(try PromptRequest(&reader))
    case .rotate: .rotate
    case .agentFacts: .agentFacts
    case .otp: .otp(name: try reader.field16())
    case .rekey: .rekey(try RekeyRequest(&reader))
    case .move: .move(try MoveRequest(&reader))
    case .history: .history(name: try reader.field16())
    case .restore: .restore(try RestoreRequest(&reader))
    case .purge: .purge(try PurgeRequest(&reader))
    case .watch: .watch
    case .log: .log
    case .putBatch: .putBatch(try PutBatchRequest(&reader))
    case .compact: .compact
    }
  }
}

/// Says whether an upload's last frame keeps it.
public enum UploadEnd: UInt8, Sendable, CaseIterable {
  case commit = 0
  case abandon = 1

  /// Reads the payload of a frame of type ``FrameType/clientEnd``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    guard let end = UploadEnd(rawValue: try reader.number()) else { throw .fieldValue }
    try reader.finish()
    self = end
  }
}
