// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura merge`: brings another copy of the vault and this one together.
enum Merge {
  static let command = Command(
    "merge", [.init("OTHER")], abstract: "bring another copy of the vault and this one together",
    options: [
      Option(.dryRun, help: "say what would happen, and change nothing"),
      Option(.otherPasscodeFD, .required("N"), help: "read OTHER's passcode from descriptor N"),
      Option(.otherPasscodeFile, .required("FILE"), help: "read OTHER's passcode from FILE"),
      Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let isTrial = invocation.arguments.has(.dryRun)
    let operand = try invocation.operand(0)
    let path: String
    do throws(PathError) { path = try VaultPath(at: operand).path } catch {
      throw .path(error)
    }
    let outcome = try merge(path, isTrial: isTrial, try invocation.access(), invocation.messages)
    if let copy = outcome.copy { invocation.messages.note(Attr.takenOver(copy)) }
    if invocation.arguments.has(.json) {
      try writeJSON(outcome, &invocation.output)
    } else {
      for line in words(outcome, isTrial: isTrial) { invocation.messages.note(line) }
    }
    return .ok
  }

  /// Without a passcode for the copy first: most take none.
  private static func merge(
    _ path: String, isTrial: Bool, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> MergeOutcome {
    var bar = ProgressBar("merging", messages)
    defer { bar.clear() }
    var held = Held()
    return try access.unlocked(holding: &held) { connection throws(ClientError) in
      try connection.merge(path, isTrial: isTrial) { bar.show($0) }
    } recovering: { connection, refused, _ throws(CommandError) in
      guard case .mergeRefused(.otherKey, _) = refused else { throw .client(.refused(refused)) }
      return try opening(path, access, &connection) { connection, key throws(ClientError) in
        try connection.merge(path, isTrial: isTrial, by: key) { bar.show($0) }
      }
    }
  }

  /// Does it with the passcode of a copy that stands under another vault key.
  private static func opening(
    _ path: String, _ access: VaultAccess, _ connection: inout Connection,
    _ body: (inout Connection, borrowing Word?) throws(ClientError) -> MergeOutcome
  ) throws(CommandError) -> MergeOutcome {
    do throws(CommandError) {
      if let secret = try access.asking.secret(.otherPasscodeFD, .otherPasscodeFile) {
        let key: Word? = Word(.passcode, secret)
        return try running { () throws(ClientError) in try body(&connection, key) }
      }
      var questioner = try access.asking.questioner()
      guard questioner.canAsk else { throw CommandError.noInteraction(.otherPasscode) }
      let question = Question(
        label: "passcode for the copy at " + Diagnostic.shown(path) + ": ",
        openLabel: "passcode for the other copy: ", kind: .passcode)
      return try questioner.attempts(question) { _, secret throws(ClientError) in
        let copy: SecretBytes
        do throws(SecureMemoryError) { copy = try secret.copy() } catch { throw .outOfMemory }
        return try body(&connection, Word(.passcode, copy))
      }
    } catch {
      guard case .client(.refused(let refused)) = error, refused.failure == .wrongPasscode else {
        throw error
      }
      throw .failure(
        "that is not the passcode of the copy: " + Diagnostic.shown(path),
        hint: Diagnostic(refused).hint ?? "nothing was changed; it has one of its own",
        .wrongPasscode)
    }
  }
}

// MARK: - What came of it

extension Merge {
  private static func words(_ outcome: MergeOutcome, isTrial: Bool) -> [String] {
    let counts: [(UInt64, String, String)] = [
      (outcome.added, "item comes from there", "items come from there"),
      (outcome.changed, "item has something from there", "items have something from there"),
      (outcome.purged, "item was purged there, and goes", "items were purged there, and go"),
      (outcome.renamed, "item gets another name", "items get another name"),
      (outcome.settings, "setting becomes stricter", "settings become stricter"),
      (
        outcome.looserSettings,
        "setting was made looser there, and is so here once you unlock by passcode or recovery key",
        "settings were made looser there, and are so here once you unlock by passcode or recovery key"
      ),
      (outcome.slots, "way to open the vault changes", "ways to open the vault change"),
      (
        outcome.waitingSlots,
        "way to open that copy finds no room here: 'kura slot list' shows those there are",
        "ways to open that copy find no room here: 'kura slot list' shows those there are"
      ),
    ]
    var lines = counts.filter { $0.0 > 0 }.map { count, one, more in
      "\(count) " + (count == 1 ? one : more)
    }
    if lines.isEmpty { lines.append("that copy has nothing that is not here") }
    if outcome.keptSlots {
      lines.append(
        "the copies ended each other's passcodes and recovery keys, and all of them stand: "
          + "'kura slot list' shows them")
    }
    if outcome.conflicting > 0 {
      let items = outcome.conflicting == 1 ? "1 item was" : "\(outcome.conflicting) items were"
      lines.append(items + " changed in both; both contents are kept: see 'kura conflicts'")
    }
    if isTrial { lines.append("nothing was changed: this was a trial") }
    return lines
  }

  private static func writeJSON(
    _ outcome: MergeOutcome, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("added", outcome.added)
    try output.member("changed", outcome.changed)
    try output.member("purged", outcome.purged)
    try output.member("conflicting", outcome.conflicting)
    try output.member("renamed", outcome.renamed)
    try output.member("settings", outcome.settings)
    try output.member("looser", outcome.looserSettings)
    try output.member("slots", outcome.slots)
    try output.member("waiting", outcome.waitingSlots)
    try output.member("kept", outcome.keptSlots)
    try output.closeDocument()
  }
}
