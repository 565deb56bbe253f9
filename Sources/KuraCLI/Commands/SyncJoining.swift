// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura sync join`: makes the vault of what a store has, with the passcode or a recovery key alone.
extension Sync {
  /// Holds what the program that carries has found in a store.
  fileprivate struct Found {
    /// The store, as it is to be noted.
    let remote: String
    let vault: [UInt8]
    let offers: [StoreOffer]
  }

  static func join(
    _ program: String, _ access: VaultAccess, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    guard !access.vault.isThere else {
      throw .failure(
        "a vault stands there already: " + Diagnostic.shown(access.vault.path),
        hint: "it was not touched; 'kura sync' goes on with one that was joined, and "
          + "'kura --vault NAME sync join dir:FOLDER' joins another vault", .exists)
    }
    let label = try invocation.text(.label)
    let remote = try Invocation.text(invocation.arguments.operands[1])
    let heard = try look(program, remote, access.vault)
    // It has said why.
    guard heard.status == .ok else { return heard.status }
    guard let found = Found(heard.said) else { throw unheard }
    try make(found, label ?? "", access, invocation.messages)
    var words = [program, "--vault", access.vault.name ?? access.vault.path]
    if invocation.messages.isQuiet { words.append("-q") }
    words += ["--", "joined"]
    let failed = System.become(program, words)
    throw .client(.programUnstartable(path: program, errno: -failed))
  }

  /// Has the program that carries say what can be joined.
  private static func look(
    _ program: String, _ remote: String, _ vault: VaultPath
  ) throws(CommandError) -> (status: ExitStatus, said: [UInt8]) {
    let words = [program, "--vault", vault.name ?? vault.path, "--", "look", remote]
    guard let child = System.startAnswering(program, words) else {
      throw unstartable(program)
    }
    var said: [UInt8]?
    do throws(FileError) {
      let all = try Descriptor.readAll(child.descriptor, limit: 8_388_608)
      said = [UInt8](copying: all.bytes)
    } catch { said = nil }
    kura_socket_close(child.descriptor)
    let status = kura_child_wait(child.process, Int32.max)
    guard status == 0 else {
      return (ExitStatus(rawValue: UInt8(truncatingIfNeeded: status)) ?? .failure, [])
    }
    guard let said else { throw unheard }
    return (.ok, said)
  }

  private static var unheard: CommandError {
    .failure(
      "kura-sync did not say what is in the store", hint: "try again; nothing was made",
      .inputOutput)
  }

  /// Has the agent make the vault. Where the store is stands right before: a kill in between leaves no vault, or one
  /// that 'kura sync' goes on with.
  private static func make(
    _ found: Found, _ label: String, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    let place: String
    let before: StoreNote?
    do throws(PathError) {
      place = try StoreNote.place(of: found.vault)
      before = try StoreNote.read(for: found.vault)
    } catch { throw .path(error) }
    do throws(CommandError) { try ask(found, label, at: place, access, messages) } catch {
      // Whatever failed once the vault was there, it is in that store.
      if access.vault.isThere { throw error }
      do throws(FileError) {
        if let before { try before.write(at: place) } else { StoreNote.forget(at: place) }
      } catch { throw .file(.write, path: place, errno: error.errno) }
      throw error
    }
  }

  private static func ask(
    _ found: Found, _ label: String, at place: String, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    var kind = access.asking.authority
    do throws(CommandError) {
      if let secret = try access.asking.givenCredential(as: kind) {
        var connection = try access.connect()
        try running { () throws(ClientError) in
          try send(found, label, at: place, kind, secret, &connection)
        }
        return tellOfPasscode(&connection, messages)
      }
      var questioner = try access.asking.questioner()
      if found.offers.allSatisfy({ $0.lacksPasscode }) {
        kind = .recoveryKey
        messages.note(
          "no passcode of the vault is in the store: it takes the recovery key, and this machine gets a passcode "
            + "of its own then")
      }
      guard questioner.canAsk else {
        throw CommandError.noInteraction(kind == .recoveryKey ? .recoveryKey : .passcode)
      }
      var connection = try access.connect()
      let what = kind == .recoveryKey ? "recovery key" : "passcode"
      let question = Question(
        label: what + " of the vault in " + Diagnostic.shown(found.remote) + ": ",
        openLabel: what + " of the vault to join: ", kind: kind)
      var shown = KeptSecret(isWanted: kind == .recoveryKey)
      try questioner.attempts(question) { kind, secret throws(ClientError) in
        try send(found, label, at: place, kind, secret, &connection)
        shown.keep(secret, isTyped: true)
      }
      guard sparesStore(&connection) == true, let key = shown.take() else { return }
      do throws(CommandError) {
        try setPasscode(by: key, access, &questioner, &connection, messages)
      } catch { tellOfPasscode(&connection, messages) }
    } catch {
      guard case .client(.refused(let refused)) = error else { throw error }
      throw told(refused, found.remote) ?? error
    }
  }

  /// Has a passcode chosen for a machine that has joined by the recovery key.
  private static func setPasscode(
    by key: borrowing SecretBytes, _ access: VaultAccess, _ questioner: inout Questioner,
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) {
    let cost = KDFParameters.calibrated
    questioner.renew()
    let new = try NewPasscode(
      remark: StrengthRemark(cost), takesWeak: false, remedy: .slot
    ).take(given: nil, orNeeds: .newPasscode, &questioner, messages)
    try running { () throws(ClientError) in
      try connection.changePasscode(
        .recoveryKey, current: key, new: new.secret, cost: cost, flags: []
      ) { _ in true }
    }
    messages.done("this machine has a passcode")
  }

  /// Says how a machine that has joined by the recovery key alone gets a passcode.
  private static func tellOfPasscode(_ connection: inout Connection, _ messages: Messages) {
    guard sparesStore(&connection) == true else { return }
    messages.suggest("'kura passcode --recovery-key' sets a passcode for this machine")
  }

  /// Tries what was typed with all that is offered: machines may have another passcode for a while.
  private static func send(
    _ found: Found, _ label: String, at place: String, _ kind: Credential,
    _ secret: borrowing SecretBytes, _ connection: inout Connection
  ) throws(ClientError) {
    do throws(FileError) { try StoreNote(found.remote).write(at: place) } catch {
      throw .output(error.errno)
    }
    try connection.joinSync(label: label, kind, secret: secret, found.offers)
  }

  /// Words what is wrong with what the store has.
  private static func told(_ refused: Refusal, _ remote: String) -> CommandError? {
    let place = Diagnostic.shown(remote)
    if refused.failure == .copyUnsound {
      return .failure(
        "what is to be joined is not what a machine of this vault wrote: " + place,
        hint:
          "nothing was made; 'kura sync' on the machines that have the vault names what is wrong",
        .integrity)
    }
    if case .noSuchSlot(.passcode) = refused {
      return .failure(
        "no passcode of the vault is in the store, where its machines leave the recovery key alone: "
          + place,
        hint:
          "give that: --recovery-key, or --recovery-key-file FILE; 'kura passcode --recovery-key' "
          + "sets a passcode for this machine then", .denied)
    }
    if case .vaultExists(let path) = refused {
      return .failure(
        "the vault stands on this machine already" + Diagnostic.named(path),
        hint: "neither was touched; use that one, or move its file away first", .exists)
    }
    if refused.failure == .passcodesInStore {
      return .failure(
        "passcodes were put into the store of a vault that is shared by its recovery key alone: "
          + place,
        hint: "nothing was made; look who can write to the store, and run 'kura sync' on a machine "
          + "that has the vault", .integrity)
    }
    guard refused.failure == .mergeRefused else { return nil }
    return .failure(
      "what is to be joined was written by a later release, or is another vault's: " + place,
      hint: "use that release here, too; nothing was made")
  }
}

extension Sync.Found {
  /// Reads what the program that carries has said; nil for what is cut off.
  fileprivate init?(_ said: [UInt8]) {
    var rest = said[...]
    func line() -> ArraySlice<UInt8>? {
      guard let end = rest.firstIndex(of: UInt8(ascii: "\n")) else { return nil }
      let line = rest[..<end]
      rest = rest[(end + 1)...]
      return line
    }
    func part() -> [UInt8]? {
      guard rest.count >= 4 else { return nil }
      var count = 0
      for byte in rest.prefix(4).reversed() { count = count << 8 | Int(byte) }
      rest = rest.dropFirst(4)
      guard rest.count >= count else { return nil }
      let part = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
      return part
    }
    guard let remote = line(), let digits = line() else { return nil }
    (self.remote, vault) = (
      String(decoding: remote, as: UTF8.self),
      StorePlace.identifier(String(decoding: digits, as: UTF8.self)) ?? []
    )
    var offers: [StoreOffer] = []
    while !rest.isEmpty {
      guard let head = part(), let header = part(), let record = part() else { return nil }
      offers.append(StoreOffer(head: head, header: header, record: record))
    }
    guard (1...ProtocolLimit.offers).contains(offers.count), !vault.isEmpty else { return nil }
    self.offers = offers
  }
}
