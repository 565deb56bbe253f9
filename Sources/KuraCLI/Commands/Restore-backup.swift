// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura restore-backup`: puts a backup in the vault's place, once it is known what changes by that. The
/// vault that stood there is kept.
enum RestoreBackup {
  static let command = Command(
    "restore-backup", [.init("FILE")],
    abstract: "put a backup in the vault's place, which is kept aside",
    options: [
      Option(.yes, help: "do not ask whether to go on"),
      Option(.acceptRollback, help: "go back, to an older state than was seen"),
      Option(.recoveryKey, help: "ask for the recovery key instead"),
      Option(.recoveryKeyFile, .required("FILE"), help: "read the recovery key from FILE"),
    ] + Option.keyFiles,
    unlocking: .asks, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let access = try invocation.access()
    let source = try source(invocation, for: access.vault)
    let replacement = VaultReplacement(of: access.vault, at: Clock.unix(), isRestored: true)
    let copy = try invocation.access(vault: replacement.new)
    try writing(replacement.new) { () throws(FileError) in
      try replacement.makeDirectory()
      try replacement.copy(from: source.path)
    }
    var isKept = false
    defer { if !isKept { replacement.discard() } }
    var questioner = try access.asking.questioner()
    let shown: Look
    do throws(CommandError) {
      shown = try look(copy, named: try invocation.access(vault: source.path), &questioner)
    } catch {
      // What is no vault is the file that was named, and not its copy.
      guard case .client(.refused(let refused)) = error, refused.failure == .notAVault else {
        throw error
      }
      throw Self.noBackup("this is not a vault", source.path)
    }
    let before = try look(access, &questioner, by: shown)
    try checkSame(shown, before, source, access.vault)
    let difference = BackupDifference(backup: shown.side, vault: before?.side)
    let isYes = invocation.arguments.has(.yes)
    tell(difference, before, isYes, &questioner, invocation.messages)
    let goesBack = invocation.arguments.has(.acceptRollback)
    if !goesBack { try checkFresh(copy, shown) }
    try agree(isYes, &questioner)
    try access.lockAgent()
    if !goesBack { try checkOnceMore(copy, shown, invocation.messages) }
    let isThere = access.vault.isThere
    try writing(access.vault.path) { () throws(FileError) in
      if isThere { try replacement.perform() } else { try replacement.publish() }
    }
    isKept = true
    replacement.discardCopies()
    invocation.messages.note("the backup stands at " + Diagnostic.shown(access.vault.path))
    if isThere {
      invocation.messages.note("the old vault stands at " + Diagnostic.shown(replacement.old))
    }
    try settle(access, shown, goesBack)
    return .ok
  }

  /// What an agent had changed until it locked the vault is noted by now.
  private static func checkOnceMore(
    _ copy: VaultAccess, _ shown: borrowing Look, _ messages: Messages
  ) throws(CommandError) {
    do throws(CommandError) { try checkFresh(copy, shown) } catch {
      messages.note("the vault is locked, and else as it was")
      throw error
    }
  }

  private static func noBackup(_ words: String, _ path: String) -> CommandError {
    .failure(
      words + ": " + Diagnostic.shown(path),
      hint: "nothing was changed; name a file that 'kura backup FILE' made",
      .noVault)
  }

  /// The backup, which must be a file by itself.
  private static func source(
    _ invocation: borrowing Invocation, for vault: VaultPath
  ) throws(CommandError) -> VaultPath {
    let text = try invocation.operand(0)
    var source: VaultPath
    do throws(PathError) { source = try VaultPath(at: text) } catch { throw .path(error) }
    guard source.isThere else { throw Self.noBackup("there is no backup", source.path) }
    if !source.isFile { source = try newest(in: source.path, of: vault, invocation.messages) }
    guard source.isFile else { throw Self.noBackup("this is not a vault", source.path) }
    guard source != vault, source.path != vault.path else {
      throw .failure("this is the vault itself, and no backup of it", hint: "name another file")
    }
    guard !source.hasWAL else {
      throw .failure(
        "it is in use: some of it stands in a file beside it: " + Diagnostic.shown(source.path),
        hint: "lock it where it is used", .busy)
    }
    return source
  }
}

// MARK: - The newest of a series

extension RestoreBackup {
  /// The newest that `backup --to` made in a directory of a vault of that name; it is said which.
  private static func newest(
    in directory: String, of vault: VaultPath, _ messages: Messages
  ) throws(CommandError) -> VaultPath {
    let names: [[UInt8]]
    do throws(FileError) { names = try System.names(in: directory) } catch {
      guard error.errno != ENOTDIR else { throw noBackup("this is not a vault", directory) }
      throw .file(.read, path: directory, errno: error.errno)
    }
    let front = Backup.front(of: vault)
    var newest = ""
    for bytes in names {
      guard let name = String(validating: bytes, as: UTF8.self),
        let found = BackupSeries.front(of: name), found.utf8.elementsEqual(front.utf8),
        newest.utf8.lexicographicallyPrecedes(name.utf8)
      else { continue }
      newest = name
    }
    guard !newest.utf8.isEmpty else {
      throw noBackup("there is no backup of " + Diagnostic.shown(front) + " there", directory)
    }
    let path: VaultPath
    do throws(PathError) { path = try VaultPath(at: directory + "/" + newest) } catch {
      throw .path(error)
    }
    messages.note("the newest backup there is " + Diagnostic.shown(path.path))
    return path
  }
}

// MARK: - What it has

extension RestoreBackup {
  /// Holds what was seen of a vault, and what opened it.
  private struct Look: ~Copyable {
    let kind: Credential
    let secret: SecretBytes
    let vault: [UInt8]
    let side: BackupDifference.Side
  }

  /// Looks into the copy of the backup, which takes its own passcode. What this machine has noted of the vault
  /// is neither asked nor changed.
  ///
  /// - Parameter named: What people are asked about.
  private static func look(
    _ copy: VaultAccess, named: VaultAccess, _ questioner: inout Questioner
  ) throws(CommandError) -> Look {
    var connection = try running { () throws(ClientError) in
      try Connection.open(copy.vault, engine: .aside)
    }
    var kind = named.asking.kind
    let secret: SecretBytes
    if let given = try named.asking.givenCredential(as: kind) {
      try running { () throws(ClientError) in _ = try connection.unlock(kind, secret: given) }
      secret = given
    } else {
      let slots = try running { () throws(ClientError) in try connection.slots().all }
      // A code is of the machine that it was made on, and a vault without passcode has a recovery key.
      if kind == .passcode, !slots.contains(where: { $0.facts.kind == .passcode }) {
        kind = .recoveryKey
      }
      secret = try ProvedCredential.ask(named, &questioner, &connection, kind) {
        kind, secret, connection throws(ClientError) in
        _ = try connection.unlock(kind, secret: secret)
        return nil
      }
    }
    let vault = try running { () throws(ClientError) in try connection.status().vault }
    let side = try running { () throws(ClientError) in
      let side = try BackupDifference.Side.read(&connection)
      // Its file is whole after that.
      try connection.lock(.asked, scope: .vault)
      return side
    }
    return Look(kind: kind, secret: secret, vault: vault, side: side)
  }

  /// Holds what is known of the vault that stands there.
  private struct Found {
    /// All zeros where it cannot be read.
    let vault: [UInt8]
    let side: BackupDifference.Side?
    /// Why nothing is known of its items.
    let reason: String
  }

  /// Looks into the vault: by its session, else by what opened the backup; nil where there is none.
  private static func look(
    _ access: VaultAccess, _ questioner: inout Questioner, by shown: borrowing Look
  ) throws(CommandError) -> Found? {
    guard access.vault.isThere else { return nil }
    guard access.vault.isFile else { throw .notAVault(access.vault.path) }
    var vault = [UInt8](repeating: 0, count: shown.vault.count)
    do throws(ClientError) {
      var connection = try Connection.open(access.vault, engine: .own)
      if let running = try? access.connectHolding() { connection = running }
      let report = try connection.status()
      vault = report.vault
      if report.state != .unlocked {
        connection = try Connection.open(access.vault, engine: .own)
        _ = try connection.unlock(shown.kind, secret: shown.secret)
      }
      return Found(vault: vault, side: try .read(&connection), reason: "")
    } catch {
      guard case .refused(let refused) = error else { throw .client(error) }
      return Found(vault: vault, side: nil, reason: Diagnostic(refused).message)
    }
  }

  private static func checkSame(
    _ shown: borrowing Look, _ before: Found?, _ source: VaultPath, _ vault: VaultPath
  ) throws(CommandError) {
    guard let before, before.vault.contains(where: { $0 != 0 }), before.vault != shown.vault
    else { return }
    throw .failure(
      "this is a backup of another vault than the one there: " + Diagnostic.shown(source.path),
      hint: "name the vault that it is of, or a new one, with --vault", .exists)
  }
}

// MARK: - The word for it

extension RestoreBackup {
  private static func tell(
    _ difference: BackupDifference, _ before: Found?, _ isYes: Bool,
    _ questioner: inout Questioner, _ messages: Messages
  ) {
    var lines = difference.lines
    if let before, before.side == nil {
      lines.append(
        "what would go is not known, as the vault there cannot be read: " + before.reason)
    }
    for line in lines {
      if isYes || !questioner.hasTerminal {
        messages.note(line)
      } else {
        questioner.prompt?.say(line)
      }
    }
  }

  /// Checks by what this machine has noted that nothing newer was seen.
  private static func checkFresh(
    _ copy: VaultAccess, _ shown: borrowing Look
  ) throws(CommandError) {
    do throws(ClientError) {
      var connection = try Connection.open(copy.vault, engine: .own)
      _ = try connection.unlock(shown.kind, secret: shown.secret)
      try connection.lock(.asked, scope: .vault)
    } catch {
      guard case .refused(let refused) = error,
        refused.failure == .rolledBack || refused.failure == .forked
      else { throw .client(error) }
      throw .failure(
        "the backup is older than the vault was, or went another way: "
          + Diagnostic(refused).message,
        hint: "--accept-rollback goes back all the same; the old vault is kept", .integrity)
    }
  }

  private static func agree(
    _ isYes: Bool, _ questioner: inout Questioner
  ) throws(CommandError) {
    guard !isYes else { return }
    guard questioner.hasTerminal else { throw .noInteraction(.agreement) }
    let goesOn =
      try prompting { () throws(PromptError) in
        try questioner.prompt?.confirms("put the backup in its place?")
      } ?? false
    guard goesOn else { throw .prompt(.cancelled) }
  }

  /// Has this machine take the backup for the vault from now on; it stays locked.
  private static func settle(
    _ access: VaultAccess, _ shown: borrowing Look, _ goesBack: Bool
  ) throws(CommandError) {
    var connection = try access.connectRunningOrOwn()
    do throws(ClientError) {
      _ = try connection.unlock(shown.kind, secret: shown.secret, acceptRollback: goesBack)
      try connection.lock(.asked, scope: .vault)
    } catch { throw .client(error) }
  }
}
