// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Tells a person why a command failed: what happened and why, what to do next, and the status a
/// script sees. Whoever finds out what is wrong says it; what the agent, the system or a person
/// answered becomes words in this folder.
struct Diagnostic: Equatable, Sendable {
  /// Lower case, no full stop; empty where the person who ended the command knows.
  let message: String
  let hint: String?
  let status: ExitStatus

  init(_ message: String, hint: String? = nil, _ status: ExitStatus) {
    self.message = message
    self.hint = hint
    self.status = status
  }
}

extension Diagnostic {
  /// A message and what to do next.
  typealias Words = (message: String, hint: String?)

  /// The diagnostic of whatever ended a command.
  init(_ error: CommandError) {
    switch error {
    case .told(let diagnostic): self = diagnostic
    case .client(let error): self.init(error)
    case .prompt(let error): self.init(error)
    case .askpass(let program): self.init(askpass: program)
    case .program(let fault, let path): self.init(fault, of: path)
    case .path(let error): self.init(error)
    case .file(let action, let path, let number): self.init(action, path: path, errno: number)
    case .output(let number): self.init(output: number)
    case .outOfMemory: self = .outOfMemory
    case .noVault(let path):
      self.init("there is no vault: " + Self.shown(path), hint: Self.noVaultHint, .noVault)
    case .notAVault(let path):
      self.init(
        "this is not a vault: " + Self.shown(path), hint: Self.notAVaultHint, .integrity)
    case .exists(.vault, let path):
      self.init(
        "a vault exists there already: " + Self.shown(path), hint: Self.vaultExistsHint, .exists)
    case .exists(.file, let path):
      self.init(
        "a file exists there already: " + Self.shown(path), hint: "name another one", .exists)
    case .locked(let facts): self.init(locked: facts)
    case .noItem(let name, let near): self.init(noItem: name, near)
    case .throttled(let wait, let hasRecoveryKey):
      self.init(Self.throttledWords(wait, hasRecoveryKey: hasRecoveryKey), .throttled)
    case .noInteraction(let need): self.init(need)
    case .mismatch(let what): self.init(what)
    case .findings(let count): self.init(findings: count)
    case .logFindings(let count): self.init(logFindings: count)
    case .weakPasscode(let remedy, let lasts): self.init(weak: remedy, lasts: lasts)
    case .costRefused(let cost):
      self.init(Self.newCostWords(cost), Failure.kdfTooCostly.exitStatus)
    case .noSlot(let number): self.init(noSlot: number)
    case .placed(let place, let error): self.init(place, error)
    case .syntax(let flaw): self.init(flaw)
    case .launch(let name, let failure): self.init(launch: name, failure)
    case .lost(let lost, let error): self.init(lost, error)
    case .codeForPasscode: self = .codeForPasscode
    case .noPasscode: self = .noPasscode
    case .noCode: self = .noCode
    case .batch(let failure, let error): self.init(failure, error)
    case .agentNotRunning: self.init("no agent is running", .agent)
    }
  }

  init(_ words: Words, _ status: ExitStatus) {
    self.init(words.message, hint: words.hint, status)
  }

  private init(noItem name: String, _ near: NearNames) {
    let words = Self.words(.notFound(.text(name)))
    self.init(
      words.message, hint: near.hint(for: name) ?? words.hint, Failure.notFound.exitStatus)
  }

  private init(noSlot number: UInt8) {
    self.init("there is no slot \(number)", hint: "'kura slot list' shows them", .notFound)
  }

  static let outOfMemory = Diagnostic(
    "no memory is left", hint: "end some programs, or raise the limit on memory, and try again",
    .failure)

  private static let codeForPasscode = Diagnostic(
    "a code changes no slot; it takes the passcode", hint: "nothing was changed", .denied)

  private static let noCode = Diagnostic(
    "the vault has no code for a machine", hint: "'kura slot add local' adds one", .denied)

  private static let noPasscode = Diagnostic(
    "a new vault key takes a passcode, and the vault has none",
    hint: "'kura passcode --recovery-key' gives it one", .denied)

  private init(weak remedy: WeakPasscodeRemedy, lasts: String) {
    let time = lasts.utf8.isEmpty ? "soon" : "in " + lasts
    self.init(
      "a thief with the vault's file would guess this passcode " + time,
      hint: Self.words(remedy) + "; --weak-passcode takes it all the same", .denied)
  }

  private init(findings count: Int) {
    self.init(
      "the vault is damaged: \(count) " + (count == 1 ? "finding" : "findings"),
      hint: "keep this file, and bring back a backup of the vault", .integrity)
  }

  private init(logFindings count: Int) {
    self.init(
      "the log is not as it was written: \(count) " + (count == 1 ? "finding" : "findings"),
      hint: "'kura verify' tells whether the vault itself is whole", .integrity)
  }
}

// MARK: - Text that others wrote

extension Diagnostic {
  /// A name or a path as it can stand in a message on a terminal.
  static func shown(_ text: String) -> String { shown(Array(text.utf8)) }

  /// Bytes as they can stand in a message on a terminal.
  static func shown(_ bytes: [UInt8]) -> String { Escaping.shown(bytes) }

  /// The same where a person decides by it: a blank that is none of ASCII, and more than one together, is shown as its
  /// number, so that no name makes lines that look like Kura's own.
  static func plain(_ bytes: [UInt8]) -> String {
    var text = ""
    var run = 0
    // The mark at the end lets go of blanks there.
    for scalar in (shown(bytes) + "\n").unicodeScalars {
      if scalar == " " {
        run += 1
        continue
      }
      if run > 0 { text += run == 1 ? " " : "\\x20(\(run))" }
      run = 0
      if Claim.isBlank(scalar.value) {
        text += "\\u{" + hex(scalar.value) + "}"
      } else if scalar != "\n" {
        text.unicodeScalars.append(scalar)
      }
    }
    return text
  }

  private static func hex(_ value: UInt32) -> String {
    let digits = [12, 8, 4, 0].map { Hex.digit(UInt8(value >> UInt32($0) & 0xF)) }
    return String(decoding: digits, as: UTF8.self)
  }

  /// The same in quotes, so that an empty one is seen.
  static func quoted(_ bytes: [UInt8]) -> String { "'" + shown(bytes) + "'" }
}
