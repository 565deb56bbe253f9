// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura init`: makes a vault. It is there only when its recovery key is kept.
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
    try CommandError.requireFree(access.vault.path, for: .vault)
    var questioner = try access.asking.questioner()
    do throws(CommandError) {
      let code = try ChipOffer.code(order.takesOffers, access, &questioner)
      let passcode = try make(order, access, &questioner, invocation)
      invocation.messages.note("made " + Diagnostic.shown(access.vault.path))
      if let code { ChipOffer.add(code, order.slot, beside: passcode, access, invocation.messages) }
      // Who has just typed it need not type it again.
      if questioner.hasTerminal, !access.isPrivate { unlock(access, passcode, invocation.messages) }
    } catch {
      if case .prompt = error { invocation.messages.done("no vault was made") }
      throw error
    }
    return .ok
  }

  /// Hands the agent the key of a new vault. It is made, whatever comes of this.
  private static func unlock(
    _ access: VaultAccess, _ passcode: borrowing SecretBytes, _ messages: Messages
  ) {
    do throws(CommandError) {
      var connection = try access.connect()
      _ = try running { () throws(ClientError) in
        try connection.unlock(.passcode, secret: passcode)
      }
      messages.done("it is unlocked")
    } catch { messages.note("it is locked: 'kura unlock' unlocks it") }
  }

  /// Makes a vault, whole or not at all.
  ///
  /// - Parameter isOwn: Whether an engine of this command's own makes it even where an agent is
  ///   running; afterwards nobody has the file open.
  /// - Returns: What opens it.
  @discardableResult
  static func make(
    _ order: Order, _ access: VaultAccess, _ questioner: inout Questioner,
    _ invocation: borrowing Invocation, isOwn: Bool = false
  ) throws(CommandError) -> SecretBytes {
    var order = order
    var keeper = try RecoveryKeeper(order.place, questioner)
    let passcode = try order.secret(access, &questioner, invocation)
    var connection = isOwn ? try access.connectOwn() : try access.connectRunningOrOwn()
    var failure: CommandError?
    do throws(ClientError) {
      try connection.create(passcode: passcode, cost: order.cost, flags: order.flags) {
        key throws(ClientError) in keeper.keep(key, &questioner, &failure)
      }
    } catch {
      keeper.noteUnused(access.vault.path, after: error, invocation.messages)
      throw failure ?? .creating(error)
    }
    return passcode
  }
}

// MARK: - What is wanted

extension Init {
  /// Holds what the command line says of the new vault.
  struct Order {
    fileprivate let cost: KDFParameters
    fileprivate var flags: CreateRequest.Flags
    fileprivate let place: RecoveryKeeper.Place

    /// Whether anything beside the passcode is offered: nothing where it is no passcode, or a script's.
    fileprivate let takesOffers: Bool

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
      let given: [OptionName] = [.local, .passcodeFD, .passcodeFile]
      takesOffers = !given.contains { arguments.has($0) }
      var flags: CreateRequest.Flags = place == .nowhere ? [] : .recoveryKey
      if arguments.has(.weakKDF) { flags.insert(.weakKDF) }
      if arguments.has(.local) { flags.insert(.localCode) }
      self.flags = flags
    }

    /// A slot of a TPM beside it, whose code costs as much to guess.
    fileprivate var slot: SlotOrder {
      var slot = SlotOrder(.tpm)
      slot.cost = cost
      if flags.contains(.weakKDF) { slot.flags = .weakKDF }
      return slot
    }

    /// What is to open the vault: a passcode, or a code.
    fileprivate mutating func secret(
      _ access: VaultAccess, _ questioner: inout Questioner, _ invocation: borrowing Invocation
    ) throws(CommandError) -> SecretBytes {
      let given = try access.asking.givenPasscode()
      guard !flags.contains(.localCode) else {
        return try SlotAdding.newCode(given: given, orNeeds: .passcode, &questioner)
      }
      let hasKey = flags.contains(.recoveryKey)
      let choice = try NewPasscode(
        remark: StrengthRemark(cost), takesWeak: invocation.arguments.has(.weakPasscode),
        codeOffer: hasKey ? Self.codeOffer : [],
        remedy: hasKey ? .initialCode : .initialCodeWithRecoveryKey
      ).take(given: given, orNeeds: .passcode, &questioner, invocation.messages)
      if choice.isCode { flags.insert(.localCode) }
      return choice.secret
    }

    private static let codeOffer = [
      "As a code for this machine it would do: it opens the vault here alone, beside a",
      "secret that only this machine has. Elsewhere the recovery key opens the vault.",
    ]
  }
}

extension Arguments {
  /// What a guess of the passcode is to cost; what is not given is left to the agent.
  func cost() throws(UsageError) -> KDFParameters {
    let memory = try size(.kdfMemory)
    if let memory, memory < 8_192 {
      throw .tooSmall(.kdfMemory, value(.kdfMemory) ?? [], least: "8KiB")
    }
    return KDFParameters(memory: memory ?? 0, passes: try number(.kdfPasses, atLeast: 1) ?? 0)
  }
}

extension CommandError {
  /// What went wrong while a vault was made: the cost that is refused is the one asked for.
  static func creating(_ error: ClientError) -> CommandError {
    guard case .refused(.kdfTooCostly(let cost)) = error else { return .client(error) }
    return .costRefused(cost)
  }
}
