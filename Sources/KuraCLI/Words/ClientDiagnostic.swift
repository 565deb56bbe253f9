// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// What goes wrong on the client's own side.
extension Diagnostic {
  init(_ error: ClientError) {
    switch error {
    case .refused(let refused): self.init(refused)
    case .path(let error): self.init(error)
    case .output(let number): self.init(output: number)
    case .outOfMemory: self = .outOfMemory
    case .noAgent: self.init("the vault is locked", hint: "run 'kura unlock'", error.exitStatus)
    case .agentMissing(let directory):
      self.init(
        "kura-agent was not found beside kura in " + Self.shown(directory),
        hint: "install both programs, in one directory", error.exitStatus)
    case .agentFailed(let status, let text):
      let said = Self.shown(text.isEmpty ? "it said nothing" : text)
      self.init(
        "the agent did not start (status \(status)): " + said,
        hint: "'kura-agent --foreground' shows why", error.exitStatus)
    case .agentUnsafe(let directory): self.init(Self.unsafePlace(directory), error.exitStatus)
    case .otherVersion(_, let release):
      self.init(
        "the agent is of release " + Self.shown(release)
          + " and speaks another version of the protocol", hint: Self.stopHint, error.exitStatus)
    case .hungUp:
      self.init(
        "the agent ended before it answered", hint: "try again; nothing half-done was kept",
        error.exitStatus)
    case .timedOut: self.init(Self.silence(SilentAgent.find()), error.exitStatus)
    case .broken:
      self.init(
        "the agent's answer was not understood", hint: Self.stopHint, error.exitStatus)
    case .input(let number):
      self.init("the value could not be read: " + SystemMessage.text(number), error.exitStatus)
    case .tooLong(let limit):
      self.init(
        "a name, attribute or passcode is longer than \(limit) bytes", error.exitStatus)
    case .stopped: self.init("stopped; nothing was kept", error.exitStatus)
    case .agentUnreachable(let directory, let number):
      self.init(
        "the agent's socket in " + Self.shown(directory) + " cannot be reached: "
          + SystemMessage.text(number),
        hint: "XDG_RUNTIME_DIR names a directory of yours where agents listen", error.exitStatus)
    case .programUnstartable(let path, let number):
      self.init(
        Self.shown(path) + " cannot be started: " + SystemMessage.text(number), error.exitStatus)
    case .system(let number):
      self.init("the system refused: " + SystemMessage.text(number), error.exitStatus)
    }
  }

  private static let stopHint = "run 'kura agent stop', then try again"

  /// An agent that does not answer cannot be asked to end, either.
  static func silence(_ agent: SilentAgent?) -> Words {
    guard let agent else { return ("the agent did not answer in time", stopHint) }
    let name = "the agent with process id \(agent.processID)"
    if agent.isStopped {
      return (
        name + " is stopped and does not answer",
        "'kill -CONT \(agent.processID)' lets it go on"
      )
    }
    return (
      name + " did not answer in time",
      "try again; 'kill \(agent.processID)' ends it if it stays so"
    )
  }

  /// Root is told to be somebody else, not to remove what is theirs.
  private static func unsafePlace(_ directory: String) -> Words {
    let (owner, we) = (Machine.owner(directory), Machine.user)
    let message = "the agent's socket is not yours alone: " + shown(directory)
    guard let owner, owner != we else {
      return (
        message,
        "look at who can enter that directory and who listens there; 'chmod 700' makes it yours alone"
      )
    }
    return (message + " belongs to the user with id \(owner)", "run kura as that user")
  }

  init(_ error: PathError) {
    let words: Words =
      switch error {
      case .homeUnknown:
        (
          "there is no home directory: HOME is not set, and /etc/passwd names none",
          "set HOME, or both XDG_DATA_HOME and XDG_STATE_HOME, to a directory of yours"
        )
      case .empty: ("the vault's name is empty", "name one with --vault")
      case .tooLong(let limit): ("the path has more than \(limit) bytes", nil)
      case .nameInvalid(let name):
        (
          "this cannot be a vault's name: " + Self.shown(name),
          "a name has no / and does not begin with a dot; a path has a /"
        )
      case .notText(let what):
        (what + " is not UTF-8 text", "names and paths are UTF-8: name another place")
      case .noWorkingDirectory(let number):
        ("the working directory is gone: " + SystemMessage.text(number), "cd to another one")
      }
    self.init(words.message, hint: words.hint, .usage)
  }

  init(_ action: FileAction, path: String, errno number: Int32) {
    let verb = action == .write ? "cannot write " : "cannot read "
    let hint =
      action == .readNewKeyFile && number == ENOENT
      ? "make the file first, of 64 random bytes, as 'head -c 64 /dev/urandom' prints them" : nil
    self.init(
      verb + Self.shown(path) + ": " + SystemMessage.text(number), hint: hint, .inputOutput)
  }

  init(output number: Int32) {
    self.init("cannot write to stdout: " + SystemMessage.text(number), .inputOutput)
  }
}

// MARK: - People

extension Diagnostic {
  init(_ error: PromptError) {
    switch error {
    case .interrupted: self.init("", .interrupted)
    case .cancelled: self.init("cancelled", .cancelled)
    case .closed: self.init("the terminal is gone", .cancelled)
    case .answeredElsewhere: self.init("the vault was unlocked elsewhere", .busy)
    case .failed: self.init("the terminal cannot be used", .inputOutput)
    case .outOfMemory: self = .outOfMemory
    }
  }

  init(askpass program: String) {
    self.init(
      "no passcode came from " + Self.shown(program),
      hint: "it is named by KURA_ASKPASS or SSH_ASKPASS",
      .cancelled)
  }

  init(_ fault: ProgramFault, of path: String) {
    let program = Self.shown(path)
    let message =
      switch fault {
      case .notStarted: "the program that asks cannot be started: " + program
      case .ended: program + " ended before it gave a passcode"
      case .silent: program + " did not answer in time"
      case .notUnderstood: program + " does not speak as a pinentry does"
      case .unshown: program + " has no room for all that is asked"
      case .said(let words): program + " could not ask: " + Self.shown(words)
      }
    let hint =
      fault == .unshown
      ? "at a terminal all of it is shown"
      : "KURA_ASKPASS or KURA_PINENTRY names another; --passcode-file needs none"
    self.init(message, hint: hint, .failure)
  }

  init(locked facts: LockFacts) {
    let message =
      "the vault is locked" + (facts.since == 0 ? "" : " since") + Self.circumstances(facts)
    let vault = facts.vault.map { "--vault " + VaultHint.quoted(Array($0.utf8)) + " " } ?? ""
    self.init(
      facts.hasWaited ? message + ", and nobody unlocked it in time" : message,
      hint: "run 'kura " + vault + "unlock'", .locked)
  }

  /// ` 14:02 (idle 15 min)`; as much of it as is known.
  static func circumstances(_ facts: LockFacts) -> String {
    let when = facts.since == 0 ? "" : " " + Moment.recent(facts.since, now: Clock.unix())
    guard let reason = facts.reason else { return when }
    let isIdle = reason == .idle && facts.idleTimeout > 0
    let length = isIdle ? " " + TimeSpan(milliseconds: facts.idleTimeout).words : ""
    return when + " (" + reason.text + length + ")"
  }

  init(_ need: Need) {
    switch need {
    case .passcode:
      self.init(
        "a passcode is needed, and nobody can be asked",
        hint: "run it at a terminal, or use --passcode-file or --passcode-fd", .needsInteraction)
    case .newPasscode:
      self.init(
        "a new passcode is needed, and nobody can be asked",
        hint: "run it at a terminal, or use --new-passcode-file or --new-passcode-fd",
        .needsInteraction)
    case .otherPasscode:
      self.init(
        "that copy stands under another vault key and takes its own passcode, and nobody can be asked",
        hint: "run it at a terminal, or use --other-passcode-file or --other-passcode-fd",
        .needsInteraction)
    case .chipCode:
      self.init(
        "the code for this machine's TPM is needed, and nobody can be asked",
        hint: "run it at a terminal, or use --code-file or --code-fd", .needsInteraction)
    case .pin:
      self.init(
        "the PIN of the security key is needed, and nobody can be asked",
        hint: "run it at a terminal, or use --pin-file or --pin-fd", .needsInteraction)
    case .recoveryKey:
      self.init(
        "a recovery key is needed, and nobody can be asked",
        hint: "run it at a terminal, or use --recovery-key-file", .needsInteraction)
    case .unlock:
      self.init(
        "the vault stays locked: nobody can be asked",
        hint: "run it at a terminal, or use --passcode-file or --passcode-fd", .locked)
    case .unlockAgain:
      self.init(
        "the vault is unlocked; other terms take the passcode again, and nobody can be asked",
        hint: "run it at a terminal, or use --passcode-file or --passcode-fd", .needsInteraction)
    case .recoveryKeyShown:
      self.init(
        "the recovery key can be shown to nobody",
        hint: "run it at a terminal, or use --recovery-key-file OUT or --no-recovery-key",
        .needsInteraction)
    case .newRecoveryKeyShown:
      self.init(
        "the recovery key can be shown to nobody",
        hint: "run it at a terminal, or use --new-recovery-key-file OUT", .needsInteraction)
    case .value:
      self.init(
        "the value is to be typed, and nobody can be asked",
        hint: "give it on stdin, or with --file or --fd", .needsInteraction)
    case .confirmation:
      self.init(
        "the vault's name is to be typed, and nobody can be asked",
        hint: "run it at a terminal; nothing was changed", .needsInteraction)
    case .agreement:
      self.init(
        "it is asked whether to go on, and nobody can be asked",
        hint: "run it at a terminal, or say --yes; nothing was changed", .needsInteraction)
    case .editor: self = .editorUnseen
    case .purge: self = .purgeUnasked
    case .owner(let purpose): self.init(ownerTo: purpose)
    }
  }

  private init(ownerTo purpose: String) {
    self.init(
      "it takes the passcode to " + purpose + ", and nobody can be asked",
      hint: "run it at a terminal, or use --passcode-file or --passcode-fd", .needsInteraction)
  }

  private static let editorUnseen = Diagnostic(
    "an editor needs a terminal, and there is none here",
    hint: "'kura get NAME' and 'kura put NAME' need none", .needsInteraction)

  private static let purgeUnasked = Diagnostic(
    "it would be gone for good, and nobody can be asked",
    hint: "--yes does it without a question; nothing was changed", .needsInteraction)

  init(_ mismatch: Mismatch) {
    switch mismatch {
    case .passcode: self.init("the two passcodes differ", hint: "nothing was changed", .cancelled)
    case .value: self.init("the two values differ", hint: "nothing was stored", .cancelled)
    case .severalLines:
      self.init(
        "more than one line was typed, and a value typed here has one; nothing was stored",
        hint: "'kura edit NAME' takes several lines, as do --file and a pipe", .usage)
    case .vaultName:
      self.init("that is not the vault's name", hint: "nothing was changed", .cancelled)
    case .recoveryKey:
      self.init(
        "the recovery key was not typed back, so no vault was made",
        hint: "run it again; write the key down before you go on", .cancelled)
    case .unkeptRecoveryKey:
      self.init(
        "the new recovery key was not typed back, so nothing was changed",
        hint: "run it again; write the key down before you go on", .cancelled)
    }
  }
}

extension LockFacts {
  /// What the agent said when it refused as locked; nil when it said something else.
  init?(_ error: ClientError) {
    guard case .refused(.locked(let note)) = error else { return nil }
    self.init(note)
  }

  init(_ note: LockNote) {
    (reason, since, idleTimeout) = (note.reason, note.since, note.idleTimeout)
  }
}
