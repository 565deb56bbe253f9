// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory
internal import Synchronization

/// A client's secret at a vault's slots; a try that can be wrong is counted on the disk before it is made.
///
/// It is the only way from a request to a key, and does its work on the worker's thread.
struct Guess: Sendable {
  /// How long another engine's try is waited for, in milliseconds.
  private static let patience = 20_000
  /// The same where only the count is to be cleared.
  private static let shortPatience = 50

  /// The slots. To open them directly counts nothing: only for a secret that was right just now.
  let attempt: UnlockAttempt
  private let vault: VaultID
  private let tries: Tries

  /// Wrong tries that were counted before this one.
  private(set) var failuresBefore: UInt64 = 0
  private var hasBegun = false
  /// Whether the try was counted, or did not have to be.
  private(set) var isKept = true
  /// What may be tried next, after a wrong one.
  private(set) var next: TryStanding?
  /// The count, held since before the try; given back by a code that was wrong, for the passcode.
  private var hold: TryHold?
  /// Until when another engine's try is waited for, on the monotonic clock.
  private var patienceEnd: UInt64?
  /// Whether this was one wrong try more.
  private(set) var isCounted = false
  /// Whether what was tried as a passcode could be a code for this machine.
  private var mayBeCode = false

  init(_ attempt: UnlockAttempt, at vault: VaultID, _ tries: Tries) {
    self.attempt = attempt
    self.vault = vault
    self.tries = tries
  }

  /// Opens a slot, once; slow for a passcode, and not before another engine's try has ended.
  ///
  /// - Throws: As ``UnlockAttempt/open(_:secret:)`` does; ``VaultError/throttled(milliseconds:)`` without
  ///   trying, ``VaultError/triesNotKept``; ``VaultError/codesSpent(failures:)``, after which this
  ///   machine's secrets are destroyed; ``VaultError/busy`` when another engine takes too long.
  mutating func open(
    _ credential: Credential, secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    do throws(VaultError) { return try derive(credential, secret, only: number) } catch {
      if case .codesSpent = error { attempt.eraseDeviceSecrets() }
      throw error
    }
  }

  /// The same, but leaves it to the caller to destroy what a wrong code should.
  mutating func derive(
    _ credential: Credential, _ secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    guard let kind = TryKind(credential) else {
      let key = try attempt.open(credential, secret: secret, only: number)
      clear(credential)
      return key
    }
    if credential == .passcode { mayBeCode = attempt.mayBeCode(secret) }
    var file = try hold(kind)
    let before = record(file)
    begin(before)
    try check(kind, before, &file)
    let limit = kind == .local ? try attempt.eraseLimit() : 0
    // Whoever was killed in the middle of the last try that is allowed has had it.
    try checkLimit(limit, before)
    var counted = before
    tries.count(kind, in: &counted)
    try keep(counted, &file, kind)
    isCounted = true
    var mistake = Mistake()
    do throws(VaultError) {
      let key = try attempt.open(credential, secret: secret, only: number, noting: &mistake)
      succeed(credential, before, &file)
      return key
    } catch {
      // What it is shows only now: the same mistake again is no try, nor is what says nothing about it.
      let isWrong = error.isWrongSecret
      if !isWrong || tries.remember(mistake, vault) { takeBack(before, &file) }
      guard isWrong else { throw error }
      fail(kind, isCounted ? counted : before, &file)
      if isCounted { try checkLimit(limit, counted) }
      throw error
    }
  }
}

/// The count of a vault's tries, held by this process.
private final class TryHold: Sendable {
  private let file: Mutex<TryFile?>

  init(_ file: consuming TryFile) { self.file = Mutex(file) }

  func take() -> TryFile? { file.withLock { $0.take() } }
}

// MARK: - Before the try

extension Guess {
  /// Takes hold of the count without waiting.
  ///
  /// - Returns: Whether the try can be made: false while another engine makes one.
  mutating func reach(_ credential: Credential) -> Bool {
    guard TryKind(credential) != nil, hold == nil else { return true }
    do throws(VaultError) {
      hold = TryHold(try tries.hold(vault, patience: 0))
      return true
    } catch {
      // What cannot be held at all is told by the try itself.
      guard error == .busy else { return true }
    }
    let end = patienceEnd ?? tries.time + UInt64(Self.patience)
    patienceEnd = end
    return tries.time >= end
  }

  /// Takes hold of the count; nil when it cannot be kept and that may be.
  private mutating func hold(_ kind: TryKind) throws(VaultError) -> TryFile? {
    if let file = hold?.take() { return file }
    // Who waited before does not wait here.
    let patience = patienceEnd == nil ? Self.patience : 0
    do throws(VaultError) { return try tries.hold(vault, patience: patience) } catch {
      if case .stateDirectoryUnsafe = error { throw error }
      guard error != .busy else { throw error }
      try goOnUncounted(kind)
      return nil
    }
  }

  /// Notes what was counted before the first slot was tried: a secret that is no code may be the passcode.
  private mutating func begin(_ record: TryRecord) {
    if !hasBegun { failuresBefore = record.failures }
    hasBegun = true
  }

  private func record(_ file: borrowing TryFile?) -> TryRecord {
    switch file {
    case .some(let file): file.record
    case .none: tries.look(at: vault)
    }
  }

  private func check(
    _ kind: TryKind, _ record: TryRecord, _ file: inout TryFile?
  ) throws(VaultError) {
    let standing = tries.standing(kind, record)
    guard !standing.isAllowed else { return }
    if standing.mustRestart {
      var restarted = record
      tries.restart(kind, in: &restarted)
      try? file?.write(restarted)
    }
    throw .throttled(milliseconds: standing.wait)
  }

  private func checkLimit(_ limit: UInt64, _ record: TryRecord) throws(VaultError) {
    let failures = record[.local].failures
    if limit > 0, failures >= limit { throw .codesSpent(failures: failures) }
  }

  /// Puts the count on the disk before anything is derived: who is killed meanwhile has had a try.
  private mutating func keep(
    _ record: TryRecord, _ file: inout TryFile?, _ kind: TryKind
  ) throws(VaultError) {
    do throws(VaultError) { try file?.write(record) } catch { try goOnUncounted(kind) }
  }

  /// A full disk must not shut the owner out of a vault whose passcode is expensive to guess. A short code
  /// has nothing but the count.
  private mutating func goOnUncounted(_ kind: TryKind) throws(VaultError) {
    isKept = false
    tries.note(vault, isKept: false)
    if kind == .local { throw .triesNotKept }
  }
}

// MARK: - After it

extension Guess {
  private mutating func succeed(
    _ credential: Credential, _ before: TryRecord, _ file: inout TryFile?
  ) {
    tries.forget(vault)
    if isKept { tries.note(vault, isKept: true) }
    isCounted = false
    var record = before
    record.succeed(credential)
    // Left as it was, one try too many is counted.
    try? file?.write(record)
  }

  /// Uncounts the try; where that cannot be written, it stays counted.
  private mutating func takeBack(_ before: TryRecord, _ file: inout TryFile?) {
    try? file?.write(before)
    isCounted = false
  }

  private mutating func fail(_ kind: TryKind, _ record: TryRecord, _ file: inout TryFile?) {
    if isKept { tries.note(vault, isKept: true) }
    next = tries.standing(kind, record)
    if kind == .local, let held = file.take() { hold = TryHold(held) }
  }

  /// Forgets wrong passcodes after a recovery key was right.
  private mutating func clear(_ credential: Credential) {
    tries.forget(vault)
    begin(tries.look(at: vault))
    guard failuresBefore > 0, var file = try? tries.hold(vault, patience: Self.shortPatience)
    else { return }
    var record = file.record
    record.succeed(credential)
    try? file.write(record)
  }
}

// MARK: - What a client is told

extension Guess {
  /// What an error of the try means to a client.
  ///
  /// - Parameter takesCode: Whether a code would have done, too.
  func denial(
    _ error: VaultError, at path: String, showing credential: Credential,
    takesCode: Bool = true
  ) -> Denial {
    let recoveryKeys: UInt64 = attempt.slotCount(for: .recoveryKey) > 0 ? 1 : 0
    if case .throttled(let wait) = error { return Denial(.throttled, wait, recoveryKeys) }
    guard error == .wrongPasscode else { return Denial(error, at: path) }
    if credential == .recoveryKey || credential == .keyFile {
      return Denial(.wrongKey, UInt64(credential.rawValue))
    }
    let code: UInt64 = mayBeCode && !takesCode ? 2 : 0
    let onlyCodes: UInt64 =
      attempt.slotCount(for: .passcode) == 0 && attempt.slotCount(for: .local) > 0 ? 4 : 0
    return Denial(
      .wrongPasscode, UInt64(next?.failures ?? 0), next?.wait ?? 0,
      recoveryKeys | code | onlyCodes)
  }

  /// What a right try has to say; a client's own mistakes are no news to it.
  func notice(afterMistakes mistakes: UInt64) -> Notice {
    var notice: Notice = []
    if !isKept { notice.insert(.triesNotKept) }
    if failuresBefore > mistakes { notice.insert(.triesFailed) }
    return notice
  }
}
