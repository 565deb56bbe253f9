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
    var count = 0
    while isWanted, count < mostKeys {
      try enter(access, invocation.messages)
      invocation.messages.note("everything is under the key of there, and opens by its slots")
      count += 1
      (ended, isWanted) = try pull(program, access, invocation.messages)
    }
    if count > 1 {
      invocation.messages.note(
        "several machines had given the vault a key; one more brought them together, which opens by "
          + "the passcode alone: 'kura slot add' adds a recovery key, a key file or a code again")
    }
    return ended
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

  private static func enter(
    _ access: VaultAccess, _ messages: Messages
  ) throws(CommandError) {
    var connection = try access.connect()
    do throws(CommandError) {
      if let secret = try given(access.asking) {
        return try enter(by: secret, access, &connection, messages)
      }
      var questioner = try access.asking.questioner()
      guard questioner.canAsk else {
        throw CommandError.failure(
          "the key of there takes its passcode, and nobody can be asked",
          hint: "run it at a terminal, or use --passcode-file or --other-passcode-file",
          .needsInteraction)
      }
      try ask(&questioner, access, &connection, messages)
    } catch {
      guard case .client(.refused(let refused)) = error else { throw error }
      throw told(refused) ?? error
    }
  }

  /// The passcode of there, as a script hands it over.
  private static func given(_ asking: Asking) throws(CommandError) -> SecretBytes? {
    if let secret = try asking.secret(.otherPasscodeFD, .otherPasscodeFile) { return secret }
    return try asking.givenPasscode()
  }

  private static func enter(
    by secret: borrowing SecretBytes, _ access: VaultAccess, _ connection: inout Connection,
    _ messages: Messages
  ) throws(CommandError) {
    guard try !send(secret, nil, &connection, messages) else { return }
    let asking = access.asking
    let isOther = asking.arguments.has(.otherPasscodeFD) || asking.arguments.has(.otherPasscodeFile)
    guard isOther, let own = try asking.givenPasscode() else {
      throw .failure(
        "that passcode is right there, and opens nothing here",
        hint:
          "give both: --other-passcode-file for the one of there, --passcode-file for this one's",
        .needsInteraction)
    }
    let word: Word? = Word(.passcode, own)
    guard try send(secret, word, &connection, messages) else { throw .client(.broken(.fieldValue)) }
  }

  private static func ask(
    _ questioner: inout Questioner, _ access: VaultAccess, _ connection: inout Connection,
    _ messages: Messages
  ) throws(CommandError) {
    let question = Question(
      label: "passcode for " + access.title + ", as it is where its key was changed: ",
      openLabel: "passcode as it is where the key was changed: ", kind: .passcode)
    var kept = KeptSecret(isWanted: true)
    let isDone = try questioner.attempts(question) { _, secret throws(ClientError) in
      if try sendOnce(secret, nil, &connection, messages) { return true }
      kept.keep(secret, isTyped: true)
      return false
    }
    guard !isDone else { return }
    guard let there = kept.take() else { throw .outOfMemory }
    questioner.renew()
    let own = Question(
      label: "and the one that was here until now: ",
      openLabel: "passcode as it was here until now: ", kind: .passcode)
    try questioner.attempts(own) { _, secret throws(ClientError) in
      let copy: SecretBytes
      do throws(SecureMemoryError) { copy = try secret.copy() } catch { throw .outOfMemory }
      let word: Word? = Word(.passcode, copy)
      _ = try sendOnce(there, word, &connection, messages)
    }
  }

  private static func send(
    _ there: borrowing SecretBytes, _ own: borrowing Word?, _ connection: inout Connection,
    _ messages: Messages
  ) throws(CommandError) -> Bool {
    do throws(ClientError) { return try sendOnce(there, own, &connection, messages) } catch {
      throw .client(error)
    }
  }

  /// - Returns: Whether it is done; false where another passcode is needed for the vault as it is here.
  private static func sendOnce(
    _ there: borrowing SecretBytes, _ own: borrowing Word?, _ connection: inout Connection,
    _ messages: Messages
  ) throws(ClientError) -> Bool {
    var bar = ProgressBar("entering", messages)
    defer { bar.clear() }
    do throws(ClientError) {
      try connection.enterSync(.passcode, secret: there, own: own) { bar.show($0) }
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
    if refused.failure == .unsupported {
      return .failure(
        "this machine was taken out of the vault, and its key of now is not for it",
        hint: "move the vault's file away, and 'kura sync join dir:FOLDER' begins anew; "
          + "'kura merge OTHER' brings what is only in that file", .denied)
    }
    if refused.failure == .changedMeanwhile {
      return .failure(
        "two machines gave the vault a key of their own, and each took the other one out: which of "
          + "them counts only you can say, and nothing was changed",
        hint: "on the one that does not count, move the vault's file away, then "
          + "'kura sync join dir:FOLDER' begins anew by the key of the other; here, too, where this "
          + "machine took the key of the one that does not count", .denied)
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
