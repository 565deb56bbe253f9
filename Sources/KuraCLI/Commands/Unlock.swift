// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura unlock`: hands the agent the key.
enum Unlock {
  static let command = Command(
    "unlock", abstract: "unlock the vault, until it has been idle for a while",
    options: [
      Option(.idleTimeout, .required("TIME"), help: "lock after TIME without use"),
      Option(.maxSession, .required("TIME"), help: "lock after TIME in any case"),
      Option(.recoveryKey, help: "ask for the recovery key instead"),
      Option(.recoveryKeyFile, .required("FILE"), help: "read the recovery key from FILE"),
    ] + Option.keyFiles + [
      Option(.tpm, help: "ask for the code of this machine's TPM instead"),
      Option(.fido2, help: "have a security key touched instead"),
      Option(.acceptRollback, help: "take a vault that is older than one seen before"),
      Option(.acceptMoved, help: "take a vault that stands where another one was"),
    ],
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let order = try Order(invocation.arguments)
    let access = try invocation.agentAccess(verb: command.verb)
    guard access.vault.isThere else { throw .noVault(access.vault.path) }
    do throws(CommandError) { try unlock(order, access, invocation.messages) } catch {
      // A key file or a code was right, and is not enough for longer times than the vault's.
      guard case .client(.refused(let refused)) = error, refused.failure == .ownerNeeded else {
        throw error
      }
      try askOwner(order, access)
    }
    return .ok
  }

  private static func unlock(
    _ order: Order, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    if order.kind == .tpm, try !ChipSlots.takeCode(access) {
      var connection = try access.connect()
      let nothing = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: 0) }
      let notices = try running { () throws(ClientError) in
        try order.send(.tpm, nothing, &connection)
      }
      access.note(notices, after: order.kind)
    } else if let secret = try access.asking.givenCredential() {
      var connection = try access.connect()
      if order.kind == .fido2 { messages.note(KeyTouch.sentence) }
      let notices = try running { () throws(ClientError) in
        try order.send(order.kind, secret, &connection)
      }
      access.note(notices, after: order.kind)
    } else if try order.kind == .fido2 ? touch(order, access, messages) : ask(order, access) {
      messages.done(access.title + " is unlocked")
    } else {
      messages.note("the vault is unlocked already")
    }
  }

  /// Has a security key touched, after its PIN where it takes one.
  ///
  /// - Returns: Whether there was anything to do.
  private static func touch(
    _ order: Order, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> Bool {
    if order.changesNothing, try isUnlocked(access) { return false }
    var questioner = try access.asking.questioner()
    var connection = try access.connect()
    guard try KeyTouch.takesPIN(&connection, messages) else {
      let nothing = try KeyTouch.nothing()
      let notices = try running { () throws(ClientError) in
        try order.send(.fido2, nothing, &connection)
      }
      access.note(notices, after: .fido2)
      return true
    }
    guard questioner.canAsk else { throw .noInteraction(.unlock) }
    _ = try access.askAlone(&questioner, .fido2, connection, UnlockOffer(), order.send)
    return true
  }

  private static func askOwner(
    _ order: Order, _ access: VaultAccess
  ) throws(CommandError) {
    var connection = try access.connect()
    var asked = order.kind
    let notices = try access.askOwner(&connection, to: Purpose("allow longer sessions")) {
      kind, secret, engine throws(ClientError) in
      asked = kind
      return try order.send(kind, secret, &engine)
    }
    access.note(notices, after: asked)
  }

  /// - Returns: Whether there was anything to do.
  private static func ask(_ order: Order, _ access: VaultAccess) throws(CommandError) -> Bool {
    var questioner = try access.asking.questioner()
    guard questioner.canAsk else {
      guard try isUnlocked(access) else { throw .noInteraction(.unlock) }
      guard order.changesNothing else { throw .noInteraction(.unlockAgain) }
      return false
    }
    var connection = try access.connect()
    guard order.changesNothing else {
      var offer = UnlockOffer()
      offer.takesChipCode = try access.offer(
        order.kind, questioner.hasTerminal, &connection
      ).takesChipCode
      _ = try access.askAlone(&questioner, order.kind, connection, offer, order.send)
      return true
    }
    let report = try running { () throws(ClientError) in try connection.status() }
    if report.state == .unlocked { return false }
    _ = try access.ask(&questioner, order.kind, connection, order.send)
    return true
  }

  private static func isUnlocked(_ access: VaultAccess) throws(CommandError) -> Bool {
    guard var connection = try access.connectAnswering() else { return false }
    return try running { () throws(ClientError) in
      try connection.status().state == .unlocked
    }
  }
}

// MARK: - What is wanted

extension Unlock {
  /// Holds what the command line asks for.
  private struct Order {
    let kind: Credential
    let idleTimeout: UInt64?
    let maxSession: UInt64?
    let acceptsRollback: Bool
    let acceptsMoved: Bool

    init(_ arguments: Arguments) throws(CommandError) {
      kind = Asking(arguments, .process).kind
      (idleTimeout, maxSession) = try parsing { () throws(UsageError) in
        (
          try arguments.limit(.idleTimeout, as: .idleTimeout),
          try arguments.limit(.maxSession, as: .maxSession)
        )
      }
      acceptsRollback = arguments.has(.acceptRollback)
      acceptsMoved = arguments.has(.acceptMoved)
    }

    /// Whether a vault that is unlocked can stay as it is.
    var changesNothing: Bool {
      idleTimeout == nil && maxSession == nil && !acceptsRollback && !acceptsMoved
    }

    func send(
      _ kind: Credential, _ secret: borrowing SecretBytes, _ connection: inout Connection
    ) throws(ClientError) -> Notice {
      try connection.unlock(
        kind, secret: secret, idleTimeout: idleTimeout ?? 0, maxSession: maxSession ?? 0,
        acceptRollback: acceptsRollback, acceptExchange: acceptsMoved)
    }
  }
}
