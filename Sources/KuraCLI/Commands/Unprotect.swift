// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura unprotect`: ends what `kura protect` began, and takes the passcode once more for
/// that.
enum Unprotect {
  static let command = Command(
    "unprotect", [.init("NAME")], abstract: "no longer ask for the passcode at each read",
    options: Option.recoveryKeys, unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let name = try invocation.operand(0)
    let purpose = Purpose("end the protection of", Diagnostic.shown(name))
    _ = try invocation.access().owned(to: purpose) { connection, word throws(ClientError) in
      try connection.unprotect(name, by: word)
    }
    return .ok
  }
}
