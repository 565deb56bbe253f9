// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura authenticate`: proves that the owner is there, and reads nothing.
enum Authenticate {
  static let command = Command(
    "authenticate", [.init("NAME", .optional)],
    abstract: "have the passcode given, so that a script goes on only where the owner is there",
    options: Option.recoveryKeys,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.access()
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    var connection = try access.connectRunningOrOwn()
    if let name = invocation.arguments.operands.first {
      guard try isProtected(try Invocation.text(name), &connection) else { return .ok }
    }
    let kind = access.asking.authority
    if let secret = try access.asking.givenCredential(as: kind) {
      _ = try running { () throws(ClientError) in
        try connection.testSlot(nil, kind, secret: secret)
      }
      return .ok
    }
    var questioner = try access.asking.questioner()
    guard questioner.canAsk else { throw .noInteraction(.passcode) }
    var question = try access.question(kind, &connection, to: Purpose("show that it is you"))
    var watch = FingerWatch(try access.connectRunningOrOwn())
    // An askpass shows a line, and is ended by the first finger.
    if !access.isPrivate, questioner.showsRemarks { watch.offer(in: &question, access.messages) }
    if watch.hasMatched { return .ok }
    do throws(CommandError) {
      _ = try questioner.attempts(question, watch: &watch) { kind, secret, _ throws(ClientError) in
        _ = try connection.testSlot(nil, kind, secret: secret)
      }
    } catch {
      guard error == .prompt(.answeredElsewhere), watch.hasMatched else { throw error }
    }
    return .ok
  }

  /// Whether reading the item's value takes the passcode; while the vault is locked nobody can tell.
  private static func isProtected(
    _ name: String, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    do throws(ClientError) {
      return try connection.show(name).item.facts.protection == .protected
    } catch {
      guard LockFacts(error) != nil else { throw .client(error) }
      return true
    }
  }
}
