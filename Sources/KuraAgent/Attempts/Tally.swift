// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory
internal import Synchronization

/// Opens a vault's slots with what a client shows, and counts on the disk what can be wrong before it is tried.
///
/// It is the only way from a request to a key, and does its work on the worker's thread.
struct Tally: Sendable {
  /// Says what becomes of a code for this machine where a passcode is asked for.
  enum Codes: Sendable {
    /// It is tried, and before the passcode.
    case taken
    /// It is a wrong passcode, and who typed what could be one is told so.
    case refused
    /// It is a wrong passcode.
    case unknown
  }

  /// Proves what else has to be right, by what a slot gave.
  typealias Proving = (borrowing VaultKey, inout Mistake) throws(VaultError) -> Void

  /// Opens a slot by what is shown, and notes what a wrong secret came to.
  typealias Opening = (Credential, borrowing SecretBytes, inout Mistake) throws(VaultError) ->
    VaultKey

  /// How long another engine's try is waited for, in milliseconds.
  private static let patience = 20_000
  /// The same where only the count is to be cleared.
  private static let shortPatience = 50

  /// The slots. To open them directly counts nothing: only for a secret that was right just now.
  let slots: UnlockAttempt
  /// What is shown; once it was right, what that was: a code is typed for a passcode, too.
  private(set) var credential: Credential
  let codes: Codes
  private let tallies: Tallies

  /// Whose tries are counted.
  private var vault: VaultID { slots.vault }
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
  private(set) var couldBeCode = false

  init(
    _ slots: UnlockAttempt, for credential: Credential, _ codes: Codes, _ tallies: Tallies
  ) {
    self.slots = slots
    self.credential = credential
    self.codes = codes
    self.tallies = tallies
  }

  /// Opens a slot, once; slow for a passcode, and not before another engine's try has ended.
  ///
  /// - Throws: As ``UnlockAttempt/open(_:secret:)`` does; ``VaultError/throttled(milliseconds:)`` without
  ///   trying, ``VaultError/triesNotKept``; ``VaultError/codesSpent(failures:)``, after which this
  ///   machine's secrets are destroyed; ``VaultError/busy`` when another engine takes too long.
  mutating func open(
    _ secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    guard number != nil || !isTyped else { return try openTyped(secret) }
    return try open(credential, secret, only: number)
  }

  /// The same where more has to be right: what that is wrong about counts as if no slot had opened.
  ///
  /// - Parameter more: Proves the rest by what the slot gave, and notes what a wrong secret came to.
  mutating func open(_ secret: borrowing SecretBytes, and more: Proving) throws(VaultError)
    -> VaultKey
  {
    let slots = slots
    return try open(secret) { credential, secret, mistake throws(VaultError) in
      let key = try slots.open(credential, secret: secret, noting: &mistake)
      var another = Mistake()
      do throws(VaultError) { try more(key, &another) } catch {
        mistake = another
        throw error
      }
      return key
    }
  }

  /// The same where it is found out elsewhere what the secret opens: whatever that takes, it is one try.
  mutating func open(
    _ secret: borrowing SecretBytes, by opening: Opening
  ) throws(VaultError) -> VaultKey {
    try derive(credential, secret, by: opening)
  }

  /// Opens a slot by what is shown beside what was right just now; not counted, since it opens nothing alone.
  mutating func openBeside(
    _ other: Credential, _ secret: borrowing SecretBytes
  ) throws(VaultError) -> VaultKey {
    let first = credential
    credential = other
    let key = try slots.open(other, secret: secret)
    credential = first
    return key
  }

  private mutating func open(
    _ credential: Credential, _ secret: borrowing SecretBytes, only number: UInt8? = nil
  ) throws(VaultError) -> VaultKey {
    do throws(VaultError) {
      return try derive(credential, secret, by: slots.opening(only: number))
    } catch {
      if case .codesSpent = error { slots.eraseDeviceSecrets() }
      throw error
    }
  }

  /// The same, but leaves it to the caller to destroy what a wrong code should.
  private mutating func derive(
    _ credential: Credential, _ secret: borrowing SecretBytes, by opening: Opening
  ) throws(VaultError) -> VaultKey {
    var mistake = Mistake()
    guard let kind = TryKind(credential) else {
      let key = try opening(credential, secret, &mistake)
      clear(credential)
      return key
    }
    if credential == .passcode { couldBeCode = slots.mayBeCode(secret) }
    var file = try hold(kind)
    var before = record(file)
    begin(before)
    try check(kind, before, &file)
    let limit = kind == .local ? try slots.eraseLimit() : 0
    // Whoever was killed in the middle of the last try that is allowed has had it.
    try checkLimit(limit, before)
    var counted = before
    tallies.count(kind, in: &counted)
    try keep(counted, &file, kind)
    isCounted = true
    // A TPM may keep everybody waiting, and counts by itself.
    if kind == .tpm { _ = file.take() }
    do throws(VaultError) {
      let key = try opening(credential, secret, &mistake)
      if kind == .tpm { before = regain(kind, before, &file) }
      succeed(credential, before, &file)
      return key
    } catch {
      if kind == .tpm { before = regain(kind, before, &file) }
      // What it is shows only now: the same mistake again is no try, nor is what says nothing about it.
      let isWrong = error.isWrongSecret
      if !isWrong || tallies.remember(mistake, vault) { takeBack(before, &file) }
      guard isWrong else { throw error }
      fail(kind, isCounted ? counted : before, &file)
      if isCounted { try checkLimit(limit, counted) }
      throw error
    }
  }
}

/// Holds the count of a vault's tries for this process.
private final class TryHold: Sendable {
  private let file: Mutex<TryFile?>

  init(_ file: consuming TryFile) { self.file = Mutex(file) }

  func take() -> TryFile? { file.withLock { $0.take() } }
}

// MARK: - Before the try

extension Tally {
  /// Takes hold of the count without waiting.
  ///
  /// - Returns: Whether the try can be made: false while another engine makes one.
  mutating func reach() -> Bool {
    guard TryKind(credential) != nil, hold == nil else { return true }
    do throws(VaultError) {
      hold = TryHold(try tallies.hold(vault, patience: 0))
      return true
    } catch {
      // What cannot be held at all is told by the try itself.
      guard error == .busy else { return true }
    }
    let end = patienceEnd ?? tallies.time + UInt64(Self.patience)
    patienceEnd = end
    return tallies.time >= end
  }

  /// Takes hold of the count; nil when it cannot be kept and that may be.
  private mutating func hold(_ kind: TryKind) throws(VaultError) -> TryFile? {
    if let file = hold?.take() { return file }
    // Who waited before does not wait here.
    let patience = patienceEnd == nil ? Self.patience : 0
    do throws(VaultError) { return try tallies.hold(vault, patience: patience) } catch {
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
    case .none: tallies.look(at: vault)
    }
  }

  private func check(
    _ kind: TryKind, _ record: TryRecord, _ file: inout TryFile?
  ) throws(VaultError) {
    let standing = tallies.standing(kind, record)
    guard !standing.isAllowed else { return }
    if standing.mustRestart {
      var restarted = record
      tallies.restart(kind, in: &restarted)
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
    tallies.note(vault, isKept: false)
    if kind == .local { throw .triesNotKept }
  }
}

// MARK: - After it

extension Tally {
  private mutating func succeed(
    _ credential: Credential, _ before: TryRecord, _ file: inout TryFile?
  ) {
    tallies.forget(vault)
    self.credential = credential
    if isKept { tallies.note(vault, isKept: true) }
    isCounted = false
    var record = before
    record.succeed(credential)
    // Left as it was, one try too many is counted.
    try? file?.write(record)
  }

  /// Takes hold of the count again that was let go of meanwhile.
  ///
  /// - Returns: What stands there now, but for this try.
  private func regain(
    _ kind: TryKind, _ before: TryRecord, _ file: inout TryFile?
  ) -> TryRecord {
    file = isKept ? try? tallies.hold(vault, patience: Self.shortPatience) : nil
    var record = record(file)
    record[kind] = before[kind]
    return record
  }

  /// Uncounts the try; where that cannot be written, it stays counted.
  private mutating func takeBack(_ before: TryRecord, _ file: inout TryFile?) {
    try? file?.write(before)
    isCounted = false
  }

  private mutating func fail(_ kind: TryKind, _ record: TryRecord, _ file: inout TryFile?) {
    if isKept { tallies.note(vault, isKept: true) }
    next = tallies.standing(kind, record)
    if kind == .local, let held = file.take() { hold = TryHold(held) }
  }

  /// Forgets wrong passcodes after a recovery key was right.
  private mutating func clear(_ credential: Credential) {
    tallies.forget(vault)
    begin(tallies.look(at: vault))
    guard failuresBefore > 0, var file = try? tallies.hold(vault, patience: Self.shortPatience)
    else { return }
    var record = file.record
    record.succeed(credential)
    try? file.write(record)
  }
}

// MARK: - What is typed

extension Tally {
  /// Whether what is shown was typed where a code is taken for a passcode, too.
  private var isTyped: Bool { credential == .passcode && codes == .taken }

  /// Whether what is shown may be a code that is taken.
  func mayBeCode(_ secret: borrowing SecretBytes) -> Bool { isTyped && slots.mayBeCode(secret) }

  /// Opens a slot by what was typed where a passcode is asked for: it may be a passcode, or the code of
  /// a slot for this machine. Each counts as its own kind.
  ///
  /// - Throws: As ``open(_:only:)`` does, about the passcode where there is one.
  private mutating func openTyped(_ secret: borrowing SecretBytes) throws(VaultError) -> VaultKey {
    guard slots.mayBeCode(secret) else {
      try checkPasscodeSlot()
      return try open(.passcode, secret)
    }
    let failure: VaultError
    do throws(VaultError) { return try derive(.local, secret, by: slots.opening()) } catch {
      failure = error
    }
    let isSpent = if case .codesSpent = failure { true } else { false }
    do throws(VaultError) {
      guard failure.isOfCodeOnly, slots.slotCount(for: .passcode) > 0 else { throw failure }
      return try open(.passcode, secret)
    } catch {
      // The code's slot was left out because of its cost: that the secret is wrong was not found out.
      if error == .wrongPasscode, case .kdfRefused(let reason) = failure {
        throw .wrongOrRefused(reason)
      }
      // It was no passcode either, which would have shown that the owner is there.
      guard isSpent else { throw error }
      slots.eraseDeviceSecrets()
      throw failure
    }
  }

  /// A vault that only codes open has no passcode; what is too long to be a code is a wrong one, at no
  /// cost to who guesses and to nobody else.
  private func checkPasscodeSlot() throws(VaultError) {
    guard slots.slotCount(for: .passcode) == 0, slots.slotCount(for: .local) > 0 else { return }
    throw slots.hasDeviceSecret ? .wrongPasscode : .deviceSecretMissing
  }
}

extension VaultError {
  /// Whether what was typed may still be a passcode: a code that is wrong, has to wait, or cannot be
  /// counted, says nothing about that.
  fileprivate var isOfCodeOnly: Bool {
    switch self {
    case .wrongPasscode, .throttled, .triesNotKept, .deviceSecretMissing, .eraseRuleDamaged,
      .codesSpent, .kdfRefused, .wrongOrRefused:
      true
    case .chip: false
    case .noVault, .notAVault, .newerFormat, .takesNewFormat, .notShared, .deviceRemoved,
      .eachRemoved,
      .copyRefused, .copyDamaged, .pathTaken, .walLeftBehind,
      .directoryUnsafe,
      .fileUnsafe, .stateDirectoryUnsafe, .stateFile, .replaced, .permissionDenied, .readOnly,
      .walOutOfReach, .diskFull, .busy, .outOfMemory, .entropyUnavailable, .io, .damaged,
      .rolledBack, .forked, .exchanged, .passcodeInvalid, .recoveryKeyTypo, .keyFileTooShort,
      .codeTooShort, .codeTooLong, .deviceSecretUnsafe, .noSuchSlot, .slotOfOtherKind, .kdfTooWeak,
      .credentialStale, .ownerNeeded, .otpInvalid, .notOTP, .slotNotFound, .labelInvalid,
      .slotsFull, .credentialTaken, .recoveryKeyExists, .lastSlot, .notFound, .revisionNotFound,
      .historyFull, .recoveryKeyNeeded, .passcodesInStore, .slotsAwaited,
      .notDeleted, .revisionCurrent, .exists, .revisionConflict, .nameInvalid, .attributeInvalid,
      .tooLarge, .tooManySides, .policyInvalid, .changed, .protected, .noProtectedHalf, .uploadLost:
      false
    }
  }
}
