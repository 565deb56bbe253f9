// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura sync enter`: puts everything under the key that another machine gave the vault.
extension Sync {
  static func enter(
    _ program: String, _ access: VaultAccess, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    _ = try status(access)
    // What is there under the key before is taken first, and the key is found.
    var (ended, isWanted) = try pull(program, access, invocation.messages)
    // Whatever else was noticed, and is told again at the end, keeps nobody under the key of before.
    guard isWanted else {
      if ended == .ok { invocation.messages.note("no other key waits to be entered") }
      return ended
    }
    var (count, kind) = (0, Credential.passcode)
    let before = ended
    while isWanted, count < mostKeys {
      kind = try enter(access, invocation.messages)
      invocation.messages.note("everything is under the key of there, and opens by its slots")
      count += 1
      (ended, isWanted) = try pull(program, access, invocation.messages)
    }
    if count > 0, kind == .recoveryKey, (try? hasPasscode(access)) == false {
      invocation.messages.suggest("'kura passcode --recovery-key' sets a passcode here again")
    }
    if count > 1 {
      let rest =
        kind == .passcode
        ? "the passcode alone: 'kura slot add' adds a recovery key, a key file or a code again"
        : "the recovery key alone: 'kura slot add' adds what else is to open it"
      invocation.messages.note(
        "several machines had given the vault a key; one more brought them together, which opens by "
          + rest)
    }
    // What was told of the store stays told.
    return ended == .ok && before == .integrity ? before : ended
  }

  /// How many keys are entered at the most, one after the other.
  private static let mostKeys = 16

  /// Has the program that carries meet the store, which says whether another key waits.
  private static func pull(
    _ program: String, _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> (status: ExitStatus, isWanted: Bool) {
    var words = [program, "--vault", access.vault.name ?? access.vault.path]
    if messages.isQuiet { words.append("-q") }
    guard let child = System.startAnswering(program, words + ["--", "pull"]) else {
      throw unstartable(program)
    }
    var isWanted = false
    do throws(FileError) {
      isWanted = try Descriptor.readAll(child.descriptor, limit: 4_096).count > 0
    } catch {}
    kura_socket_close(child.descriptor)
    let status = kura_child_wait(child.process, Int32.max)
    return (ExitStatus(rawValue: UInt8(truncatingIfNeeded: status)) ?? .failure, isWanted)
  }

  /// - Returns: What was shown as it is there.
  private static func enter(
    _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) -> Credential {
    var connection = try access.connect()
    let kind = try kind(access.asking, &connection)
    do throws(CommandError) {
      if let secret = try given(kind, access.asking) {
        try enter(by: secret, kind, access, &connection, messages)
        return kind
      }
      var questioner = try access.asking.questioner()
      guard questioner.canAsk else {
        throw CommandError.failure(
          kind == .passcode
            ? "the key of there takes its passcode, and nobody can be asked"
            : "the key of there takes its recovery key, and nobody can be asked",
          hint: kind == .passcode
            ? "run it at a terminal, or use --passcode-file or --other-passcode-file"
            : "run it at a terminal, or use --other-recovery-key-file",
          .needsInteraction)
      }
      return try ask(kind, &questioner, access, &connection, messages)
    } catch {
      guard case .client(.refused(let refused)) = error else { throw error }
      throw told(refused) ?? error
    }
  }

  /// What is shown as it is there: the passcode, unless no passcode gets into the store.
  private static func kind(
    _ asking: Asking, _ connection: inout Connection
  ) throws(CommandError) -> Credential {
    let arguments = asking.arguments
    try parsing { () throws(UsageError) in
      try arguments.refuse(.otherRecoveryKeyFile, with: .otherPasscodeFD, .otherPasscodeFile)
    }
    if arguments.has(.otherRecoveryKeyFile) { return .recoveryKey }
    if arguments.has(.otherPasscodeFD) || arguments.has(.otherPasscodeFile) { return .passcode }
    return sparesStore(&connection) == true ? .recoveryKey : .passcode
  }

  /// The passcode or recovery key of there, as a script hands it over.
  private static func given(
    _ kind: Credential, _ asking: Asking
  ) throws(CommandError) -> SecretBytes? {
    if let path = asking.arguments.value(.otherRecoveryKeyFile) {
      return try Asking.line(path: try Invocation.text(path))
    }
    if let secret = try asking.secret(.otherPasscodeFD, .otherPasscodeFile) { return secret }
    // A recovery key that is given alone is the one of here.
    return kind == .passcode ? try asking.givenCredential(as: .passcode) : nil
  }

  private static func enter(
    by secret: borrowing SecretBytes, _ kind: Credential, _ access: VaultAccess,
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) {
    let asking = access.asking
    let others: [OptionName] = [.otherPasscodeFD, .otherPasscodeFile, .otherRecoveryKeyFile]
    let isOther = others.contains(where: asking.arguments.has)
    do throws(CommandError) {
      guard try !send(kind, secret, nil, &connection, messages) else { return }
    } catch {
      if isOther, error.isOfWrongSecret { messages.note("that was the one of there") }
      throw error
    }
    guard isOther,
      let own = try asking.givenCredential(as: asking.authority)
    else {
      throw .failure(
        "that " + (kind == .passcode ? "passcode" : "recovery key")
          + " is right there, and opens nothing here",
        hint: kind == .passcode
          ? "give both: --other-passcode-file for the one of there, --passcode-file for this one's"
          : "give both: --passcode-file or --recovery-key-file for what opens it here",
        .needsInteraction)
    }
    let word: Word? = Word(asking.authority, own)
    do throws(CommandError) {
      guard try !send(kind, secret, word, &connection, messages) else {
        return messages.note(Self.void)
      }
    } catch {
      if error.isOfWrongSecret {
        messages.note("that was the one of here; the one of there is right")
      }
      throw error
    }
    throw .client(.broken(.fieldValue))
  }

  /// - Returns: What was typed as it is there: where there is no slot for the one, the other is asked for after all.
  private static func ask(
    _ kind: Credential, _ questioner: inout Questioner, _ access: VaultAccess,
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) -> Credential {
    do throws(CommandError) {
      try askBoth(kind, &questioner, access, &connection, messages)
      return kind
    } catch {
      guard error == .client(.refused(.noSuchSlot(kind))) else { throw error }
    }
    let other: Credential = kind == .passcode ? .recoveryKey : .passcode
    messages.note("no " + name(of: kind) + " of there is in the store")
    questioner.renew()
    try askBoth(other, &questioner, access, &connection, messages)
    return other
  }

  private static func askBoth(
    _ kind: Credential, _ questioner: inout Questioner, _ access: VaultAccess,
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) {
    let what = name(of: kind)
    let question = Question(
      label: what + " for " + access.title + ", as it is where its key was changed: ",
      openLabel: what + " as it is where the key was changed: ", kind: kind)
    var kept = KeptSecret(isWanted: true)
    let isDone = try questioner.attempts(question) { _, secret throws(ClientError) in
      if try sendOnce(kind, secret, nil, &connection, messages) { return true }
      kept.keep(secret, isTyped: true)
      return false
    }
    guard !isDone else { return }
    guard let there = kept.take() else { throw .outOfMemory }
    let report = try running { () throws(ClientError) in try connection.status() }
    let ownKind = report.lacksPasscode ? .recoveryKey : access.asking.authority
    if kind != .passcode, let given = try access.asking.givenCredential(as: ownKind) {
      let word: Word? = Word(ownKind, given)
      _ = try send(kind, there, word, &connection, messages)
      return
    }
    questioner.renew()
    let label = ownKind == kind ? "and the one that was here until now: " : "and the "
    let own = Question(
      label: ownKind == kind ? label : label + name(of: ownKind) + " that was here until now: ",
      openLabel: name(of: ownKind) + " as it was here until now: ", kind: ownKind)
    try questioner.attempts(own) { _, secret throws(ClientError) in
      let copy: SecretBytes
      do throws(SecureMemoryError) { copy = try secret.copy() } catch { throw .outOfMemory }
      let word: Word? = Word(ownKind, copy)
      _ = try sendOnce(kind, there, word, &connection, messages)
    }
    messages.note(Self.void)
  }

  /// What is said where one passcode opens the vault there, and another one did here.
  private static let void =
    "what opened the vault on this machine alone, a passcode that was changed here for one, counts no more"

  private static func name(of kind: Credential) -> String {
    kind == .recoveryKey ? "recovery key" : "passcode"
  }

  private static func send(
    _ kind: Credential, _ there: borrowing SecretBytes, _ own: borrowing Word?,
    _ connection: inout Connection, _ messages: Messages
  ) throws(CommandError) -> Bool {
    do throws(ClientError) { return try sendOnce(kind, there, own, &connection, messages) } catch {
      throw .client(error)
    }
  }

  /// - Returns: Whether it is done; false where another passcode is needed for the vault as it is here.
  private static func sendOnce(
    _ kind: Credential, _ there: borrowing SecretBytes, _ own: borrowing Word?,
    _ connection: inout Connection, _ messages: Messages
  ) throws(ClientError) -> Bool {
    var bar = ProgressBar("entering", messages)
    defer { bar.clear() }
    do throws(ClientError) {
      try connection.enterSync(kind, secret: there, own: own) { bar.show($0) }
      return true
    } catch {
      guard case .refused(let refused) = error, refused.failure == .ownerNeeded else { throw error }
      return false
    }
  }

  private static func told(_ refused: Refusal) -> CommandError? {
    if refused.failure == .notFound {
      return .failure(
        "there is no one key that could be entered: several machines gave the vault one, or not all"
          + " is here yet", hint: "'kura sync' says which it is", .needsInteraction)
    }
    if case .noSuchSlot(.passcode) = refused {
      return .failure(
        "no passcode of there is in the store, where the machines of this vault leave the recovery key"
          + " alone",
        hint: "give that: --other-recovery-key-file FILE, or at a terminal", .denied)
    }
    if case .noSuchSlot(.recoveryKey) = refused {
      return .failure(
        "no recovery key of there is in the store",
        hint: "give the passcode: --other-passcode-file", .denied)
    }
    if refused.failure == .recoveryKeyNeeded {
      return .failure(
        "one more key is to bring those of several machines together, and it takes the recovery key: no "
          + "passcode of this vault gets into the store",
        hint: "run it again with --other-recovery-key-file, for that of the key entered last",
        .denied)
    }
    if refused.failure == .passcodesInStore {
      return .failure(
        "that key is of a store that has passcodes of the vault, and this machine shares it by the recovery "
          + "key alone: nothing was changed",
        hint: "look who gave the vault a key: a machine of this vault gives none like that",
        .integrity)
    }
    if refused.failure == .unsupported {
      return .failure(
        "this machine was taken out of the vault, and its key of now is not for it",
        hint: "'kura lock', move the vault's file away, and 'kura sync join dir:FOLDER' begins "
          + "anew; 'kura merge OTHER' brings what is only in that file", .denied)
    }
    if refused.failure == .changedMeanwhile {
      return .failure(
        "two machines gave the vault a key, and one took the other one out: nothing was changed",
        hint: "give what opens the key of the one that was taken out, then that of the other; "
          + "where each took the other out, which counts only you can say: on the one that does not, 'kura lock' and move the "
          + "vault's file away, 'kura sync compact' on the other, then 'kura sync join dir:FOLDER' begins anew; "
          + "who took the key of that one has to be taken out and to begin anew, too", .denied)
    }
    guard refused.failure == .copyUnsound else { return nil }
    return .failure(
      "the key was not given by who has the vault: nothing was changed",
      hint: "'kura sync' on the machines that have the vault names what is wrong", .integrity)
  }

  static func unstartable(_ program: String) -> CommandError {
    .failure(
      "the program kura-sync cannot be started: " + Diagnostic.shown(program),
      hint: "look at its permissions", .inputOutput)
  }
}

extension CommandError {
  /// Whether a passcode or recovery key was wrong.
  fileprivate var isOfWrongSecret: Bool {
    guard case .client(.refused(let refused)) = self else { return false }
    return refused.failure == .wrongPasscode || refused.failure == .wrongKey
  }
}
