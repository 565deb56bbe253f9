// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// `kura init`: makes a vault. It is there only when its recovery key is kept.
enum Init {
  static let command = Command(
    "init", abstract: "create a vault under a passcode, with a recovery key", options: options,
    unlocking: .asks, run: run)

  /// What shapes a new vault.
  static let options =
    [
      Option(.recoveryKeyFile, .required("OUT"), help: "write the recovery key to OUT (0600)"),
      Option(.local, help: "the passcode is a code for this machine alone"),
      Option.weakPasscode,
      Option(.noRecoveryKey, help: "make none: a forgotten passcode loses everything"),
    ] + Option.kdf

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let order = try Order(invocation)
    let access = try invocation.access()
    if access.vault.isThere { throw .exists(.vault, access.vault.path) }
    var questioner = try access.asking.questioner()
    try make(order, access, &questioner, invocation)
    invocation.messages.note("made " + Diagnostic.shown(access.vault.path))
    return .ok
  }

  /// Makes a vault, whole or not at all.
  ///
  /// - Parameter isOwn: Whether an engine of this command's own makes it even where an agent is
  ///   running; afterwards nobody has the file open.
  static func make(
    _ order: Order, _ access: VaultAccess, _ questioner: inout Questioner,
    _ invocation: borrowing Invocation, isOwn: Bool = false
  ) throws(CommandError) {
    var order = order
    var keeper = try RecoveryKeeper(order.place, questioner)
    let passcode = try order.secret(access, &questioner, invocation)
    try order.judge(passcode, invocation.arguments, &questioner)
    var connection = isOwn ? try access.connectOwn() : try access.connectRunningOrOwn()
    var failure: CommandError?
    do throws(ClientError) {
      try connection.create(passcode: passcode, cost: order.cost, flags: order.flags) {
        key throws(ClientError) in keeper.keep(key, &questioner, &failure)
      }
    } catch { throw failure ?? .creating(error) }
  }
}

// MARK: - What is wanted

extension Init {
  /// What the command line says of the new vault.
  struct Order {
    fileprivate let cost: KDFCost
    fileprivate var flags: CreateRequest.Flags
    fileprivate let place: RecoveryKeeper.Place

    init(_ invocation: borrowing Invocation) throws(CommandError) {
      let arguments = invocation.arguments
      cost = try parsing { () throws(UsageError) in
        try arguments.refuse(.recoveryKeyFile, with: .noRecoveryKey)
        try arguments.refuse(.local, with: .noRecoveryKey, .weakPasscode)
        return try arguments.cost()
      }
      if let path = try invocation.text(.recoveryKeyFile) {
        place = .file(path)
      } else {
        place = arguments.has(.noRecoveryKey) ? .nowhere : .terminal
      }
      var flags: CreateRequest.Flags = place == .nowhere ? [] : .recoveryKey
      if arguments.has(.weakKDF) { flags.insert(.weakKDF) }
      if arguments.has(.local) { flags.insert(.localCode) }
      self.flags = flags
    }

    /// What is to open the vault: a passcode, or a code.
    fileprivate func secret(
      _ access: VaultAccess, _ questioner: inout Questioner, _ invocation: borrowing Invocation
    ) throws(CommandError) -> SecretBytes {
      let given = try access.asking.givenPasscode()
      guard !flags.contains(.localCode) else {
        return try SlotAdding.newCode(given: given, orNeeds: .passcode, &questioner)
      }
      return try StrengthRemark(cost).newPasscode(
        given: given, orNeeds: .passcode, &questioner, invocation.messages,
        judgesShort: invocation.arguments.has(.weakPasscode))
    }

    /// A few digits are offered as a code for this machine, and refused as a passcode.
    fileprivate mutating func judge(
      _ passcode: borrowing SecretBytes, _ arguments: Arguments, _ questioner: inout Questioner
    ) throws(CommandError) {
      guard passcode.isShortCode, !flags.contains(.localCode), !arguments.has(.weakPasscode) else {
        return
      }
      guard passcode.isLongEnoughForCode else { throw .shortCode(.tooFew) }
      guard flags.contains(.recoveryKey) else { throw .shortCode(.initialCodeWithRecoveryKey) }
      guard questioner.hasTerminal, try accepts(&questioner) else {
        throw .shortCode(.initialCode)
      }
      flags.insert(.localCode)
    }

    private func accepts(_ questioner: inout Questioner) throws(CommandError) -> Bool {
      questioner.prompt?.say("So few digits fall within the hour to whoever has the vault's file.")
      questioner.prompt?.say("Beside a secret kept on this machine they are a fair code for it;")
      questioner.prompt?.say("elsewhere the recovery key opens the vault.")
      return try prompting { () throws(PromptError) in
        try questioner.prompt?.confirms("make it a code for this machine?")
      } ?? false
    }
  }
}

extension SecretBytes {
  /// Whether that many digits can be a code for one machine.
  var isLongEnoughForCode: Bool { borrowing get { count >= 4 } }

  /// Whether it is at most 6 digits, all of which can be tried within the hour.
  var isShortCode: Bool {
    borrowing get {
      guard count <= 6 else { return false }
      for index in bytes.indices where !(0x30...0x39).contains(bytes[index]) { return false }
      return true
    }
  }
}

extension Arguments {
  /// What a guess of the passcode is to cost; what is not given is left to the agent.
  func cost() throws(UsageError) -> KDFCost {
    let memory = try size(.kdfMemory)
    if let memory, memory < 8_192 {
      throw .tooSmall(.kdfMemory, value(.kdfMemory) ?? [], least: "8KiB")
    }
    return KDFCost(memory: memory ?? 0, passes: try number(.kdfPasses, atLeast: 1) ?? 0)
  }
}

extension CommandError {
  /// What went wrong while a vault was made: the cost that is refused is the one asked for.
  static func creating(_ error: ClientError) -> CommandError {
    guard case .refused(let refused) = error, refused.failure == .kdfTooCostly else {
      return .client(error)
    }
    return .costRefused(refused)
  }
}
