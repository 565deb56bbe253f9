// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Ends a command before its work is done. ``Diagnostic`` makes the message of it.
enum CommandError: Error, Equatable, Sendable {
  /// Whoever found out what is wrong has the words for it.
  case told(Diagnostic)
  case client(ClientError)
  case prompt(PromptError)
  /// The program that asks in place of a terminal failed or was cancelled.
  case askpass(String)
  /// The program that was to ask could not.
  case program(ProgramFault, String)
  case path(PathError)
  /// A file or descriptor that the user named, and errno.
  case file(FileAction, path: String, errno: Int32)
  /// Writing to stdout failed: errno.
  case output(Int32)
  case outOfMemory
  /// Nothing stands at the vault's path.
  case noVault(String)
  /// What stands there is no file.
  case notAVault(String)
  /// Something stands there already, a vault or a file.
  case exists(Existing, String)
  /// The vault is locked, and nobody could be asked.
  case locked(LockFacts)
  /// There is no item of that name, but there are names like it.
  case noItem(String, NearNames)
  /// Wrong ones slow down the next: ms until one may be tried. Nobody was asked.
  case throttled(UInt64, hasRecoveryKey: Bool)
  /// A person is needed, and nobody could be asked.
  case noInteraction(Need)
  /// What was typed twice, or back, differs.
  case mismatch(Mismatch)
  /// `verify` found that much.
  case findings(Int)
  /// The access log is not as it was written; how many things are wrong with it.
  case logFindings(Int)
  case agentNotRunning
  /// No slot of the vault has that number.
  case noSlot(UInt8)
  /// No new vault is made at the cost that was asked for.
  case costRefused(KDFParameters)
  /// Something is wrong with what stands at a place.
  indirect case placed(Place, CommandError)
  /// A file or template of several lines cannot be read as one.
  case syntax(SyntaxFlaw)
  /// The program that `run` was to become was not started.
  case launch([UInt8], Successor.Failure)
  /// A thief with the file would guess a new passcode within a day; how long it lasts, if that is known.
  case weakPasscode(WeakPasscodeRemedy, lasts: String)
  /// The end of the agent's work was not seen.
  case lost(Lost, ClientError)
  /// A code was given where a passcode is wanted.
  case codeForPasscode
  /// The vault has no code for a machine that could be changed.
  case noCode
  /// The vault has no passcode, which its new vault key would take.
  case noPasscode
  /// Not all of many items were stored.
  indirect case batch(BatchFailure, CommandError)
}

/// Says how what is too weak for a passcode could be taken instead.
enum WeakPasscodeRemedy: Equatable, Sendable {
  /// As the code that a new vault begins with.
  case initialCode
  /// The same, if the vault had a recovery key.
  case initialCodeWithRecoveryKey
  /// As the code of another slot.
  case slot
  /// Not even as a code: it has too few or too many characters.
  case another
}

extension CommandError {
  /// Ends a command with words of its own.
  static func failure(
    _ message: String, hint: String? = nil, _ status: ExitStatus = .failure
  ) -> CommandError {
    .told(Diagnostic(message, hint: hint, status))
  }

  /// Ends a command that was not understood.
  static func usage(_ message: String, hint: String? = nil) -> CommandError {
    .failure(message, hint: hint, .usage)
  }

  static func usage(_ error: UsageError) -> CommandError {
    .usage(error.message, hint: error.hint)
  }

  /// Refuses a place for something new where something stands, or where that cannot be told.
  static func requireFree(_ path: String, for new: Existing) throws(CommandError) {
    let kind = System.fileKind(path)
    if kind < 0 { throw .file(.write, path: path, errno: -kind) }
    guard kind == KURA_ABSENT else { throw .exists(new, path) }
  }
}

/// Says what was done with a file.
enum FileAction: Equatable, Sendable {
  case read, write
  /// To read a key file that is to open the vault from now on.
  case readNewKeyFile
}

/// Holds what is known of a lock.
struct LockFacts: Equatable, Sendable {
  var reason: LockReason?
  /// In ms of Unix time; 0 = not known.
  var since: UInt64 = 0
  /// In ms; 0 = not known.
  var idleTimeout: UInt64 = 0
  /// Whether somebody was waited for in vain.
  var hasWaited = false
  /// What `--vault` takes for it, when it is not meant without.
  var vault: String?
}

/// Names what only a person can give.
enum Need: Equatable, Sendable {
  /// The passcode there is, or one for a new vault.
  case passcode
  /// Another passcode for a vault that has one.
  case newPasscode
  /// That of another copy of the vault.
  case otherPasscode
  /// That of a slot of this machine's TPM, beside the passcode.
  case chipCode
  /// The PIN of a security key, beside the passcode.
  case pin
  case recoveryKey
  /// Either, to unlock the vault.
  case unlock
  /// Either, though the vault is unlocked: it is to be unlocked on other terms.
  case unlockAgain
  /// To look at the recovery key of a new vault.
  case recoveryKeyShown
  /// To look at another recovery key of a vault.
  case newRecoveryKeyShown
  case value
  /// To work in an editor.
  case editor
  /// The vault's name, typed to go on.
  case confirmation
  /// A yes, where `--yes` says it too.
  case agreement
  /// A word that something may go for good.
  case purge
  /// The owner's passcode or recovery key though the vault is unlocked; for what.
  case owner(String)
}

extension CommandError {
  /// The same where no vault was to be made, and the slots are as they were.
  var withoutChange: CommandError {
    self == .mismatch(.recoveryKey) ? .mismatch(.unkeptRecoveryKey) : self
  }
}

/// Names what was typed a second time, and differently.
enum Mismatch: Equatable, Sendable {
  case passcode, value, recoveryKey
  /// More than the one line that a value has at a terminal.
  case severalLines
  /// The vault's own name.
  case vaultName
  /// One that never came into force.
  case unkeptRecoveryKey
}

/// Tells what is wrong with a line of a file of variables, or with a template.
enum SyntaxFlaw: Error, Equatable, Sendable {
  /// Neither a comment nor `NAME=VALUE`.
  case notAVariable
  /// A variable is called something else than letters, digits and `_`.
  case variableName
  /// A quote that is never closed.
  case openQuote
  /// Text behind a closed quote.
  case behindQuote
  /// A `\` in double quotes with something behind it that means nothing.
  case escape
  /// What a shell would put something else in the place of.
  case substitution
  /// A NUL, which no variable can hold.
  case nul
  /// A carriage return inside a line.
  case carriageReturn
  /// Text of another encoding, as some editors write it.
  case utf16
  /// `kura://` inside a value, without braces.
  case referenceInside
  /// `{{` and a reference, and no `}}` on the line.
  case openBraces
  /// `??` with nothing behind it.
  case fallbackMissing
  /// Text behind the closing quote of what stands behind `??`.
  case behindFallback
  /// `|` with something behind it that is no filter.
  case filterUnknown
  /// `${` in a reference without a name or without its `}`.
  case expansion
  /// A variable in a reference that is not set and has no default.
  case unset([UInt8])
  /// `op://` with something else than a vault, an item and a field.
  case foreign
  /// `op://` with a vault that no option names.
  case foreignVault([UInt8])
  /// More than is taken of such things.
  case tooMany(Int)
}

/// Names what is in the way.
enum Existing: Equatable, Sendable {
  case vault, file
}
