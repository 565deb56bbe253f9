// SPDX-License-Identifier: MIT

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
  case draftKey = 62
  case compact = 64
  case backup = 66
  case setSecret = 67
  case secrets = 68
  case merge = 69
  case conflicts = 70
  case getSecrets = 71
  case takeOver = 72
  case clone = 73
  case mask = 80
  case grant = 81
  case grants = 82
  case grantRevoke = 83
  case wish = 84
  case wishes = 85
  case approve = 86
  case decline = 87
  case confine = 89
  case sync = 90
  case syncGiven = 91
  case syncStatus = 92
  case syncStart = 93
  case syncJoin = 94
  case syncEnter = 95
  case chip = 96
  case securityKey = 97
  case finger = 100

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
    case .draftKey: "draft-key"
    case .compact: "compact"
    case .backup: "backup"
    case .setSecret: "set-secret"
    case .secrets: "secrets"
    case .merge: "merge"
    case .conflicts: "conflicts"
    case .getSecrets: "get-secrets"
    case .takeOver: "take-over"
    case .mask: "mask"
    case .confine: "confine"
    case .clone: "clone"
    case .grant: "grant"
    case .grants: "grants"
    case .grantRevoke: "grant-revoke"
    case .wish: "wish"
    case .wishes: "wishes"
    case .approve: "approve"
    case .decline: "decline"
    case .sync: "sync"
    case .syncGiven: "sync-given"
    case .syncStatus: "sync-status"
    case .syncStart: "sync-start"
    case .syncJoin: "sync-join"
    case .syncEnter: "sync-enter"
    case .chip: "chip"
    case .securityKey: "security-key"
    case .finger: "finger"
    }
  }
}

/// Says what people are told of a request by its entry in the access log.
public enum LogSubjectKind: Sendable {
  /// The item's name, and a second one where there is one.
  case name
  /// The item's name, and the one that it has now.
  case newName
  /// Why the vault was locked.
  case lockReason
  /// What unlocked it.
  case credential
  /// How many items were stored.
  case itemCount
  /// Which setting was set.
  case setting
  /// The item's name, and why it is asked for.
  case wish
  /// The item's name, the grant, or that it is served again for a while, and its reason.
  case grant
  /// A grant, or the item that was served again for a while, and why that ended.
  case grantEnd
}

extension Verb {
  /// What its entry in the access log is about.
  public var logSubject: LogSubjectKind {
    switch self {
    case .lock: .lockReason
    case .unlock: .credential
    case .putBatch: .itemCount
    case .config: .setting
    case .move: .newName
    case .wish, .decline: .wish
    case .grant, .approve: .grant
    case .grantRevoke: .grantEnd
    case .status, .create, .get, .getAttribute, .put, .list, .show, .attributes, .remove,
      .passcode, .verify, .agentStatus, .agentStop, .wait, .slots, .slotAdd, .slotRemove,
      .slotTest, .slotDisable, .slotEnable, .authorize, .protect, .unprotect, .rotate, .rekey,
      .prompt, .agentFacts, .otp, .history, .restore, .purge, .touch, .watch, .log, .compact,
      .draftKey, .backup, .setSecret, .secrets, .merge,
      .conflicts, .getSecrets, .takeOver, .mask, .clone, .grants, .wishes, .confine,
      .sync, .syncGiven, .syncStatus, .syncStart, .syncJoin, .syncEnter, .chip,
      .securityKey, .finger:
      .name
    }
  }
}

extension Verb {
  /// Whether it may read a protected value under a grant, of which its entry in the access log then tells.
  public var mayBeGranted: Bool {
    self == .get || self == .getAttribute || self == .otp || self == .getSecrets
  }
}

/// Puts into an entry of the access log which grant a value was read under: in 16 bits of its detail.
public enum LoggedGrant {
  private static let place: UInt64 = 40
  private static let most: UInt64 = 0xFFFF

  /// What a detail has more for a grant, 0 for none; the last number stands for all above it, too.
  public static func detail(_ number: UInt64) -> UInt64 { min(number, most) << place }

  /// The grant that a detail tells of; 0 for none.
  public static func number(in detail: UInt64) -> UInt64 { detail >> place & most }
}

/// Says why a grant ended: the highest byte of the detail of an entry about that.
public enum GrantEnd: UInt8, Sendable, CaseIterable {
  /// Somebody ended it, or what it was given by.
  case revoked = 0
  /// Its time was over.
  case time = 1
  /// As many values were read as it was for.
  case uses = 2
  /// The process below which it served has ended.
  case process = 3
  /// None of its items has the value any more that was granted.
  case changed = 4
  /// The vault was locked.
  case lock = 5
  /// Others that are newer took its room.
  case room = 6

  /// The detail of the entry, with the grant's number; 0 for what was served again for a while.
  public func logDetail(_ number: UInt64) -> UInt64 {
    number & ReadPurpose.rest | UInt64(rawValue) << 56
  }
}
