// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura unprotect`: ends what `kura protect` began, and takes the passcode once more for that.
enum Unprotect {
  static let command = Command(
    "unprotect", [.init("NAME")], abstract: "no longer ask for the passcode at each read",
    options: Option.recoveryKeys, unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let name = try invocation.operand(0)
    _ = try invocation.access().unlocked(authorizing: true) { connection throws(ClientError) in
      try connection.unprotect(name)
    }
    return .ok
  }
}
