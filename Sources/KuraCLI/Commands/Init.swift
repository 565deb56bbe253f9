// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// `kura init`: makes a vault. It is there only when its recovery key is kept.
enum Init {
  static let command = Command(
    "init", abstract: "create a vault under a passcode, with a recovery key",
    options: [
      Option(.recoveryKeyFile, .required("OUT"), help: "write the recovery key to OUT (0600)"),
      Option(.noRecoveryKey, help: "make none: a forgotten passcode loses everything"),
    ] + Option.kdf,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let order = try Order(invocation)
    let access = try invocation.access()
    if access.vault.isThere { throw .exists(.vault, access.vault.path) }
    var questioner = try access.asking.questioner()
    var keeper = try RecoveryKeeper(order.place, questioner)
    let strength = StrengthRemark(order.cost)
    let passcode = try strength.newPasscode(
      given: try access.asking.givenPasscode(), &questioner, invocation.messages)
    var connection = try access.connectRunningOrOwn()
    var failure: CommandError?
    do throws(ClientError) {
      try connection.create(passcode: passcode, cost: order.cost, flags: order.flags) {
        key throws(ClientError) in keeper.keep(key, &questioner, &failure)
      }
    } catch { throw failure ?? .client(error) }
    invocation.messages.note("made " + Diagnostic.shown(access.vault.path))
    return .ok
  }
}

// MARK: - What is wanted

extension Init {
  private struct Order {
    let cost: KDFCost
    let flags: CreateRequest.Flags
    let place: RecoveryKeeper.Place

    init(_ invocation: borrowing Invocation) throws(CommandError) {
      let arguments = invocation.arguments
      cost = try parsing { () throws(UsageError) in
        try arguments.refuse(.recoveryKeyFile, with: .noRecoveryKey)
        return try arguments.cost()
      }
      if let path = try invocation.text(.recoveryKeyFile) {
        place = .file(path)
      } else {
        place = arguments.has(.noRecoveryKey) ? .nowhere : .terminal
      }
      var flags: CreateRequest.Flags = place == .nowhere ? [] : .recoveryKey
      if arguments.has(.weakKDF) { flags.insert(.weakKDF) }
      self.flags = flags
    }
  }
}

extension Arguments {
  /// What a guess of the passcode is to cost; what is not given is left to the agent.
  func cost() throws(UsageError) -> KDFCost {
    KDFCost(memory: try size(.kdfMemory) ?? 0, passes: try number(.kdfPasses) ?? 0)
  }
}
