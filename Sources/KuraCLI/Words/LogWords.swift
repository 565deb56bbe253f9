// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Puts the access log into words.
enum LogWords {
  /// Names something that is wrong with the log, or was.
  struct Flaw {
    let code: UInt8
    let text: String
    let number: UInt64
    let isTampering: Bool
  }

  /// What a line says is wrong; nil for nothing.
  static func flaw(in line: LogLine) -> Flaw? {
    switch line {
    case .entry(let entry): flaw(in: entry)
    case .finding(let flaw, let number, let count):
      Flaw(
        code: flaw.rawValue, text: text(flaw, number, count), number: number,
        isTampering: flaw.isTampering)
    case .dropped: nil
    }
  }

  /// What a remark keeps of a flaw that was found before.
  private static func flaw(in entry: LogEntry) -> Flaw? {
    let facts = entry.facts
    guard let remark = remarkKind(facts) else { return nil }
    let found: LogFlaw
    switch remark {
    case .cut: found = .cut
    case .unreadable: found = .head
    case .rekeyed:
      guard facts.detail >> 8 > 0 else { return nil }
      found = .damaged
    case .begun, .torn, .lost, .switchedOff: return nil
    }
    return Flaw(
      code: found.rawValue,
      text: "entry \(entry.number), \(Moment.local(facts.time)): "
        + text(remark, facts.detail >> 8),
      number: entry.number, isTampering: true)
  }

  private static func text(_ flaw: LogFlaw, _ number: UInt64, _ count: UInt64) -> String {
    let entries = count == 1 ? "1 entry" : "\(count) entries"
    return switch flaw {
    case .head: "the log cannot be read"
    case .damaged: "entry \(number): what stands there was changed"
    case .missing: entries + " before entry \(number) " + (count == 1 ? "is" : "are") + " missing"
    case .misplaced: "entry \(number): what stands there does not belong there"
    case .cut: "the log was cut or put back: it ends before what was noted of it"
    case .torn: "the last write was cut off, as by a crash"
    }
  }

  // MARK: Remarks

  private static func remarkKind(_ facts: LogFacts) -> LogRemark? {
    guard facts.verb == 0 else { return nil }
    return LogRemark(rawValue: UInt8(truncatingIfNeeded: facts.detail))
  }

  /// What the log says about itself; nil for an entry about something else.
  static func remark(_ facts: LogFacts) -> String? {
    guard facts.verb == 0 else { return nil }
    return remarkKind(facts).map { text($0, facts.detail >> 8) } ?? "a remark of a later release"
  }

  private static func text(_ remark: LogRemark, _ count: UInt64) -> String {
    let entries = count == 1 ? "1 entry" : "\(count) entries"
    return switch remark {
    case .begun: "the log begins here"
    case .torn: "a write was cut off here, as by a crash"
    case .cut: "the log was cut or put back: entries that were noted are missing here"
    case .unreadable: "the log before this one could not be read and was moved aside"
    case .lost: entries + " could not be written"
    case .switchedOff:
      "the log had been switched off, which dropped " + entries + "; it begins here anew"
    case .rekeyed:
      count == 0
        ? "the vault has a new key from here on"
        : "the vault has a new key from here on, and damaged entries were left behind"
    }
  }

  // MARK: Entries

  /// The word for what was asked, as programs read it.
  static func word(_ facts: LogFacts) -> String {
    if facts.verb == 0 { return remarkKind(facts).map(word) ?? "remark" }
    guard let verb = Verb(rawValue: facts.verb) else { return "verb-\(facts.verb)" }
    if verb == .grantRevoke, let end = end(facts) { return word(end) }
    return verb == .get ? word(ReadPurpose(logDetail: facts.detail)) : verb.word
  }

  /// What a value was read for, as its client said.
  private static func word(_ purpose: ReadPurpose) -> String {
    switch purpose {
    case .get: "get"
    case .copy: "copy"
    case .run: "run"
    case .inject: "inject"
    case .helper: "helper"
    case .edit: "edit"
    }
  }

  private static func word(_ remark: LogRemark) -> String {
    switch remark {
    case .begun: "log-begun"
    case .torn: "log-torn"
    case .cut: "log-cut"
    case .unreadable: "log-unreadable"
    case .lost: "log-lost"
    case .rekeyed: "log-rekeyed"
    case .switchedOff: "log-switched-off"
    }
  }

  /// The same for people: what failed says so.
  static func action(_ facts: LogFacts) -> String {
    if isUnmatched(facts) {
      return facts.code == Failure.fingerWrong.rawValue ? "wrong finger" : "no finger"
    }
    return actionOfOthers(facts)
  }

  /// Whether a finger was none of the owner's, or the reader takes no more.
  private static func isUnmatched(_ facts: LogFacts) -> Bool {
    facts.verb == Verb.finger.rawValue && facts.code != 0
  }

  private static func actionOfOthers(_ facts: LogFacts) -> String {
    facts.code == 0 || refusal(facts) != nil ? word(facts) : "wrong " + credential(facts.detail)
  }

  /// Why something was not handed out; nil where it was, and for a credential that was wrong.
  private static func refusal(_ facts: LogFacts) -> String? {
    if facts.code == Failure.protected.rawValue { return "refused: it takes its owner" }
    return facts.code == Failure.cancelled.rawValue ? "refused: its owner has said no" : nil
  }

  private static func credential(_ number: UInt64) -> String {
    switch Credential(rawValue: UInt8(truncatingIfNeeded: number)) {
    case .passcode: "passcode"
    case .recoveryKey: "recovery key"
    case .keyFile: "key file"
    case .local: "code"
    case .tpm: "code of the TPM"
    case .fido2: "PIN of the security key"
    case nil: "secret"
    }
  }

  /// What an entry is about.
  static func subject(_ entry: LogEntry) -> String {
    let facts = entry.facts
    if let refusal = refusal(facts) { return entry.name + ", " + refusal }
    if isUnmatched(facts) {
      return facts.code == Failure.fingerUnfit.rawValue ? "the reader takes no more" : ""
    }
    if facts.code != 0 {
      let isLast = entry.wasLocked && facts.detail & 0x100 != 0
      return "at " + word(facts) + (entry.wasLocked ? ", while locked" : "")
        + (isLast ? "; later ones were not noted" : "")
    }
    return switch Verb(rawValue: facts.verb)?.logSubject ?? .name {
    case .name:
      (entry.other.utf8.isEmpty ? entry.name : entry.name + " " + entry.other) + underGrant(facts)
    case .wish: entry.name + reason(entry.other)
    case .grant:
      entry.name + (grant(facts) == 0 ? withoutGrant(facts) : underGrant(facts))
        + reason(entry.other)
    case .grantEnd:
      (grant(facts) == 0 ? entry.name + reuse : "grant \(grant(facts))")
        + (end(facts).map(text) ?? "")
    case .newName: entry.name + " to " + entry.other
    case .lockReason: LockReason(rawValue: UInt8(truncatingIfNeeded: facts.detail))?.text ?? ""
    case .credential:
      "by " + credential(facts.detail & 0xFF)
        + (facts.detail & 0x100 == 0 ? "" : ", an older copy accepted")
    case .itemCount: facts.detail == 1 ? "1 item" : "\(facts.detail) items"
    case .setting: Setting(rawValue: UInt8(truncatingIfNeeded: facts.detail))?.name ?? ""
    }
  }

  // MARK: Grants

  /// The grant that an entry tells of; 0 for none.
  static func grant(_ facts: LogFacts) -> UInt64 {
    guard let verb = Verb(rawValue: facts.verb) else { return 0 }
    switch verb.logSubject {
    case .grant, .grantEnd: return facts.detail & ReadPurpose.rest
    case .name: return verb.mayBeGranted ? LoggedGrant.number(in: facts.detail) : 0
    case .newName, .lockReason, .credential, .itemCount, .setting, .wish: return 0
    }
  }

  /// What an entry's detail has beside the purpose of a reading and a grant.
  static func detail(_ facts: LogFacts) -> UInt64 {
    guard facts.code == 0, let verb = Verb(rawValue: facts.verb) else { return facts.detail }
    switch verb.logSubject {
    case .grant: return 0
    case .grantEnd: return facts.detail >> 56
    case .name: return verb.mayBeGranted ? facts.detail & ReadPurpose.revisions : facts.detail
    case .newName, .lockReason, .credential, .itemCount, .setting, .wish: return facts.detail
    }
  }

  /// Whether an entry is about what was asked of an owner, granted, read under a grant, or refused.
  static func isOfGrants(_ facts: LogFacts) -> Bool {
    guard let verb = Verb(rawValue: facts.verb) else { return false }
    switch verb.logSubject {
    case .grant, .grantEnd, .wish: return true
    case .name, .newName, .lockReason, .credential, .itemCount, .setting:
      return grant(facts) > 0 || refusal(facts) != nil
    }
  }

  private static func underGrant(_ facts: LogFacts) -> String {
    grant(facts) > 0 ? ", grant \(grant(facts))" : ""
  }

  private static let reuse = ", reuse-window"

  /// What was given that is no grant: a value for this once, or again for a while.
  private static func withoutGrant(_ facts: LogFacts) -> String {
    facts.verb == Verb.approve.rawValue ? ", once" : reuse
  }

  private static func reason(_ words: String) -> String { words.utf8.isEmpty ? "" : ": " + words }

  private static func end(_ facts: LogFacts) -> GrantEnd? {
    GrantEnd(rawValue: UInt8(truncatingIfNeeded: facts.detail >> 56))
  }

  private static func word(_ end: GrantEnd) -> String {
    switch end {
    case .revoked: Verb.grantRevoke.word
    case .time, .uses, .process, .changed, .lock, .room: "grant-end"
    }
  }

  private static func text(_ end: GrantEnd) -> String {
    switch end {
    case .revoked: ""
    case .time: ", its time is over"
    case .uses: ", its uses are used up"
    case .process: ", its process has ended"
    case .changed: ", its values were changed"
    case .lock: ", by a lock"
    case .room: ", newer ones took its room"
    }
  }
}
