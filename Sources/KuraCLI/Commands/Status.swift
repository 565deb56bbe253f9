// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura status`: tells whether the vault is unlocked, and all that goes with it. Its exit
/// status tells it to scripts.
enum Status {
  static let command = Command(
    "status", abstract: "tell whether the vault is unlocked, and since when",
    options: [Option.json],
    run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.access()
    let found = try find(access)
    if invocation.arguments.has(.json) {
      try writeJSON(found, access, &invocation.output)
    } else if !invocation.messages.isQuiet {
      try write(found, access, &invocation.output)
      if found == nil { invocation.messages.suggest(Diagnostic.noVaultHint) }
    }
    guard let report = found?.report else { return .noVault }
    return report.state == .unlocked ? .ok : .locked
  }

  /// Holds what the agent tells.
  private struct Found {
    let report: StatusReport
    let slots: [Slot]
    let grants: [GrantSummary]
  }

  /// What the agent tells; nil where there is no vault.
  private static func find(
    _ access: VaultAccess, isRetry: Bool = false
  ) throws(CommandError) -> Found? {
    var connection: Connection
    var isAgent = !access.isPrivate
    if let running = try access.connectHolding() {
      connection = running
    } else {
      guard access.vault.isThere else { return nil }
      // An engine of this command's own tells what can be told without a key.
      connection = try access.connectRunningOrOwn()
      isAgent = false
    }
    do throws(ClientError) {
      var report = try connection.status()
      // Nobody knows what locked it.
      if !isAgent { (report.lockReason, report.since) = (nil, 0) }
      let slots = try connection.slots().all
      let grants = report.state == .unlocked ? try connection.grants() : []
      return Found(report: report, slots: slots, grants: grants)
    } catch {
      // As in ``VaultAccess/connectAnswering()``.
      if error == .noAgent, !isRetry { return try find(access, isRetry: true) }
      guard case .refused(let refused) = error, refused.failure == .noVault else {
        throw .client(error)
      }
      return nil
    }
  }
}

// MARK: - For people

extension Status {
  private static func write(
    _ found: Found?, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    guard let found else {
      try output.write("no vault: ")
      try output.write(escaped: access.vault.path)
      return try output.write("\n")
    }
    let report = found.report
    try output.write(headline(report) + "\n")
    try output.write("vault: ")
    try output.write(escaped: access.vault.path)
    try output.write("\n")
    for slot in found.slots { try output.write("slot: " + slot.words + "\n") }
    for slot in found.slots where slot.facts.flags.contains(.tried) {
      let words =
        switch slot.facts.availability {
        case .here: "here"
        case .missing: "not here"
        case .unknown: "not known, since its file system does not answer"
        }
      try output.write("key file on this machine: " + words + "\n")
    }
    for tries in report.tries where tries.failures > 0 {
      try output.write("tries: " + tries.words + "\n")
    }
    try writeBackup(report, &output)
    guard report.state == .unlocked else { return }
    try output.write("items: \(report.itemCount)\nepoch: \(report.epoch)\n")
    try output.write("fingerprint: " + hex(report.fingerprint) + "\n")
    try output.write("format: \(report.format)\n")
    if !found.grants.isEmpty {
      try output.write("granted: " + found.grants.words + "\n")
    }
    if let rotation = report.rotation {
      try output.write("rotation: under way, \(rotation / 10) %\n")
    }
    for weakness in report.weaknesses.list {
      try output.write("weakness: " + weakness.text + "\n")
    }
  }

  /// How old the last backup is that this machine made: the others it does not know.
  private static func writeBackup(
    _ report: StatusReport, _ output: inout Output
  ) throws(CommandError) {
    guard report.backupTime > 0 else {
      return try output.write("backup: none was made on this machine\n")
    }
    let now = Clock.unix()
    let age = now > report.backupTime ? now - report.backupTime : 0
    try output.write("backup: " + Self.age(age) + ", at ")
    try output.write(escaped: String(decoding: report.backupPath, as: UTF8.self))
    try output.write("\n")
  }

  /// A time that has gone by, in the largest unit that it fills.
  static func age(_ milliseconds: UInt64) -> String {
    let minutes = milliseconds / 60_000
    if minutes == 0 { return "just now" }
    if minutes < 120 { return minutes == 1 ? "a minute ago" : "\(minutes) minutes ago" }
    return minutes < 2_880 ? "\(minutes / 60) hours ago" : "\(minutes / 1_440) days ago"
  }

  static func headline(_ report: StatusReport) -> String {
    switch report.state {
    case .locked:
      let facts = LockFacts(
        reason: report.lockReason, since: report.since, idleTimeout: report.idleTimeout)
      return "locked" + Diagnostic.circumstances(facts)
    case .unlocking: return "locked, being unlocked"
    case .unlocked:
      let since = report.since == 0 ? "" : " " + Moment.recent(report.since, now: Clock.unix())
      return "unlocked" + since + ", locks in " + words(report.idleLeft) + " (idle), in "
        + words(report.sessionLeft) + " at the latest"
    }
  }

  private static func words(_ milliseconds: UInt64) -> String {
    TimeSpan(milliseconds: milliseconds / 1_000 * 1_000).words
  }

  private static func hex(_ bytes: [UInt8]) -> String {
    bytes.reduce("") {
      $0 + String(Unicode.Scalar(Hex.digit($1 >> 4))) + String(Unicode.Scalar(Hex.digit($1 & 15)))
    }
  }
}

// MARK: - For programs

extension Status {
  private static func writeJSON(
    _ found: Found?, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("vault", access.vault.path)
    if let found { try writeJSON(found, &output) } else { try output.member("state", "no-vault") }
    try output.closeDocument()
  }

  private static func writeJSON(
    _ found: Found, _ output: inout Output
  ) throws(CommandError) {
    let report = found.report
    switch report.state {
    case .locked: try output.member("state", "locked")
    case .unlocking: try output.member("state", "unlocking")
    case .unlocked: try output.member("state", "unlocked")
    }
    if let reason = report.lockReason { try output.member("reason", reason.word) }
    if report.since > 0 { try output.member("since", moment: report.since) }
    try output.member("idle-timeout", report.idleTimeout)
    if report.maxSession > 0 || report.state == .unlocked {
      try output.member("max-session", report.maxSession)
    }
    try output.key("tries")
    try output.openArray()
    for tries in report.tries { try write(tries, &output) }
    try output.closeArray()
    try output.key("slots")
    try output.openArray()
    for slot in found.slots { try SlotTable.writeJSON(slot, &output) }
    try output.closeArray()
    if report.backupTime > 0 {
      try output.member("backup", moment: report.backupTime)
      try output.member("backup-path", String(decoding: report.backupPath, as: UTF8.self))
    }
    guard report.state == .unlocked else { return }
    try output.member("idle-left", report.idleLeft)
    try output.member("session-left", report.sessionLeft)
    try output.member("items", report.itemCount)
    try output.member("epoch", report.epoch)
    try output.member("fingerprint", hex(report.fingerprint))
    try output.member("format", UInt64(report.format))
    try output.member("granted", UInt64(found.grants.valueCount))
    if let rotation = report.rotation {
      try output.member("rotation-percent", UInt64(rotation / 10))
    }
    try output.key("weaknesses")
    try output.openArray()
    for weakness in report.weaknesses.list { try output.element(weakness.word) }
    try output.closeArray()
  }
}

extension Status {
  private static func write(_ tries: TryReport, _ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.member("kind", tries.kind.word)
    try output.member("failed", UInt64(tries.failures))
    try output.member("left", UInt64(tries.left))
    if tries.wait == TryReport.untilPasscode {
      try output.member("until", "passcode")
    } else {
      try output.member("wait", tries.wait)
    }
    try output.closeObject()
  }
}

extension [GrantSummary] {
  /// Of how many values they are.
  fileprivate var valueCount: Int { reduce(0) { $0 + $1.names.count } }

  /// What memory has for programs, for people.
  fileprivate var words: String {
    let values = valueCount == 1 ? "1 value" : "\(valueCount) values"
    return values + " to " + (count == 1 ? "1 program" : "\(count) programs")
      + "; 'kura grant list' names them"
  }
}

extension TryReport {
  /// What wrong tries have come to, for people.
  fileprivate var words: String {
    let wrong = "\(failures) wrong " + (failures == 1 ? kind.text : kind.plural)
    switch wait {
    case 0 where left == 1: return wrong + ", one more is free before a wait"
    case 0: return wrong + ", \(left) more are free before a wait"
    case TryReport.untilPasscode: return wrong + ", no other is taken until the passcode has worked"
    default: return wrong + ", the next try is possible in " + Diagnostic.wait(wait)
    }
  }
}

extension TryKind {
  fileprivate var text: String {
    switch self {
    case .passcode: "passcode"
    case .keyFile: "key file"
    case .local: "code"
    case .tpm: "code for the TPM"
    }
  }

  fileprivate var plural: String { self == .tpm ? "codes for the TPM" : text + "s" }

  /// The kind as programs read it.
  fileprivate var word: String {
    switch self {
    case .passcode: "passcode"
    case .keyFile: "key-file"
    case .local: "local"
    case .tpm: "tpm"
    }
  }
}

extension LockReason {
  /// The reason as programs read it: ``text`` with dashes for spaces.
  var word: String {
    text.utf8.reduce("") { $0 + ($1 == 0x20 ? "-" : String(Unicode.Scalar($1))) }
  }
}
