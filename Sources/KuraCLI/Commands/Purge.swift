// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura purge`: takes an item, or what it was before, out of the vault for good.
enum Purge {
  static let command = Command(
    "purge", [.init("NAME")], abstract: "remove an item for good, with its history",
    options: [
      Option(.revision, .required("N"), help: "only that earlier revision"),
      Option(.history, help: "only its earlier revisions"),
      Option(.yes, help: "do not ask"),
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let name = try invocation.operand(0)
    let revision = try parsing { () throws(UsageError) in
      try arguments.refuse(.revision, with: .history)
      return try arguments.number(.revision, atLeast: UInt64(1)) ?? 0
    }
    let scope: PurgeRequest.Scope =
      revision != 0 ? .revision : arguments.has(.history) ? .history : .item
    let access = try invocation.access()
    if !arguments.has(.yes) { try confirm(name, scope, revision, access) }
    let purpose = Purpose("purge", Diagnostic.shown(name))
    var vault: [UInt8] = []
    let (damage, free) = try access.owned(to: purpose) { connection, word throws(ClientError) in
      let done = try connection.purge(name, scope, revision: revision, by: word)
      vault = (try? connection.status())?.vault ?? []
      return done
    }
    switch scope {
    case .item: Sync.tellOfStore(vault, invocation.messages)
    case .history, .revision: Sync.tellOfHistories(vault, invocation.messages)
    }
    if let damage {
      invocation.messages.note(
        "what was damaged is gone, too: \(damage.done) of \(damage.total) revisions removed")
    }
    if let free {
      let words = ByteSize(count: free.count).words
      invocation.messages.note("the vault's file keeps its size")
      invocation.messages.suggest("'kura verify --compact' gives \(words) back to the disk")
    }
    return .ok
  }

  /// Asks; what is not there is said before anybody is asked.
  private static func confirm(
    _ name: String, _ scope: PurgeRequest.Scope, _ revision: UInt64, _ access: VaultAccess
  ) throws(CommandError) {
    var count = 0
    var isDamaged = false
    try access.unlocked { connection throws(ClientError) in
      (count, isDamaged) = (0, false)
      do throws(ClientError) {
        try connection.history(name) { _ throws(ClientError) in count += 1 }
      } catch {
        guard case .refused(let refused) = error, refused.failure == .damaged else { throw error }
        isDamaged = true
      }
    }
    var questioner = try access.asking.questioner()
    let what = Diagnostic.shown(name)
    let question =
      switch scope {
      case .revision: "remove revision \(revision) of " + what
      case .item where isDamaged: "remove " + what + ", which is damaged,"
      case .history where isDamaged: "remove all earlier revisions of " + what
      case .history: "remove \(count - 1) earlier revisions of " + what
      case .item: "remove " + what + ", \(count) " + (count == 1 ? "revision" : "revisions") + ","
      }
    let answer = try prompting { () throws(PromptError) in
      try questioner.prompt?.confirms(question + " for good?")
    }
    guard let answer else { throw .noInteraction(.purge) }
    guard answer else { throw .prompt(.cancelled) }
  }
}
