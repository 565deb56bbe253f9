// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraFormat
internal import KuraProtocol
internal import KuraVault

/// Holds the keys of one vault file while it is unlocked, and says why it is locked while it is not.
///
/// It is the only owner of the unlocked vault, and goes by the file's device and inode.
final class Session {
  let id: FileID
  /// The path that it was unlocked by last.
  private(set) var path: String
  /// The vault's own id, under which this machine keeps what it notes of it.
  let vaultID: VaultID

  var state: LockState
  /// What the last unlock asked for; it outlives a change of the policy.
  private(set) var asked = AskedTimes()
  private(set) var notices: Notice = []

  private(set) var vault: UnlockedVault?
  /// What leaves the file whole once the keys are gone; nil when that is done. Until then nobody opens it.
  private(set) var closing: Closing?
  /// Whether that was handed to the thread for it.
  var isClosingBegun = false

  /// What was answered for a moment ago, and may be read again while its owner's window lasts.
  var windows: [Window] = []
  /// What the owner granted to programs.
  var grants = GrantTable()
  /// What came of fingers since the passcode worked.
  var fingers = FingerTries()
  /// What programs ask its owner for.
  var wishes = WishDesk()

  /// When the newest state has to be noted and what is loose swept, on the monotonic clock.
  var upkeepDeadline: UInt64?
  /// When entries of the access log have to be written, on the monotonic clock.
  var logDeadline: UInt64?
  /// Whether the vault turned out to be another than it was, and is to be locked.
  var isOutdated = false
  /// Entries of the access log that could not be written at a lock.
  private var lostEntries: UInt64 = 0
  /// Whether what a batch took of memory is still to be given back: no small part of what an agent at rest may have.
  var mustTrim = false
  /// By what the key is entered that another machine gave the vault, as the store was met last; nil for none.
  var entrance: JoinOffer?
  /// Whether keys that machines gave the vault are to be brought together by one more, as of then.
  var unites = false
  /// What makes the file short, which a lock waits for.
  weak var compaction: Compaction?
  /// What copies the file, which a lock waits for.
  weak var backup: Backup?
  /// When a rotation of the vault goes on.
  var rotation = RotationPace()

  init(id: FileID, vault: VaultID, path: String, at now: Moment) {
    self.id = id
    self.vaultID = vault
    self.path = path
    state = LockState(at: now)
  }

  var isUnlocked: Bool { vault != nil }

  /// Whether the vault was opened by that path.
  func isAt(_ bytes: Span<UInt8>) -> Bool {
    let own = path.utf8.span
    guard own.count == bytes.count else { return false }
    for index in own.indices where own[index] != bytes[index] { return false }
    return true
  }

  /// Works on the vault, which must be unlocked.
  func withVault<Result: ~Copyable>(
    _ body: (inout UnlockedVault) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    precondition(vault != nil, "a locked vault has nothing to work on")
    // Compared with nil just now; to take it out and put it back would move every key.
    // swift-format-ignore: NeverForceUnwrap
    return try body(&vault!)
  }

  /// What its owner set, as of the last look at the vault; nil while it is locked.
  var policy: Policy? { vault?.policy }

  /// The slot that opened the vault.
  var unlockSlot: UInt8? { vault?.unlockSlot }

  /// Whether the passcode that opened the vault is too cheap to guess, and nobody asked for that.
  var mayBeStrengthened: Bool { vault?.mayBeStrengthened ?? false }

  /// Whether the file is being made short, so that nobody else can write.
  var isCompacting: Bool { compaction?.isUnderWay ?? false }

  /// What an unlocked vault is at.
  var summary: Summary? {
    guard isUnlocked else { return nil }
    return try? withVault { vault throws(VaultError) in vault.summary }
  }

  /// How far a rotation of the vault is; nil when none is under way.
  var rotationProgress: RotationProgress? { vault?.rotation }

  /// Whether there is a rotation to go on with.
  var isRotating: Bool { !rotation.isHalted && rotationProgress != nil }

  /// Which vault it is while it is unlocked, and its key slots.
  var front: (VaultID, [SlotSummary])? {
    guard isUnlocked else { return nil }
    return try? withVault { vault throws(VaultError) in (vault.id, vault.slots) }
  }

  /// Why requests are refused while the vault is locked.
  func lockedRefusal() -> Refusal {
    .locked(state.lockNote ?? LockNote())
  }
}

/// Keeps the times that an unlock asked for, in milliseconds; 0 = what the policy says.
struct AskedTimes: Equatable {
  var idleTimeout: UInt64 = 0
  var maxSession: UInt64 = 0
}

// MARK: - Unlocking and locking

extension Session {
  /// Takes the keys over and begins both clocks.
  ///
  /// A vault that is unlocked already stays, and the other one is dropped with its keys.
  func unlock(
    _ opened: consuming UnlockedVault, by path: String, asking asked: AskedTimes, at now: Moment
  ) {
    if vault == nil {
      self.path = path
      notices = opened.notices
      // What could not be written now is at the next unlock.
      try? opened.refreshEraseRules()
      opened.releaseKeyFiles()
      opened.noteLostEntries(lostEntries)
      lostEntries = 0
      vault = consume opened
      upkeepDeadline = now.monotonic
      rotation = RotationPace()
    } else {
      opened.fold()
    }
    begin(asking: asked, at: now)
  }

  /// Begins both clocks anew: the passcode was proved once more.
  func begin(asking asked: AskedTimes, at now: Moment) {
    self.asked = asked
    state.unlock(limits, at: now)
  }

  /// Applies the policy after a change of it.
  func adjust(at now: Moment) { state.adjust(limits, at: now) }

  /// Wipes the keys, then says that it is locked. What waits for a disk is left to ``closing``.
  func lock(_ reason: LockReason, at now: Moment) {
    windows = []
    (entrance, unites) = (nil, false)
    if let open = vault.take() {
      let notes = open.lockNotes
      let locked = open.lock()
      if reason.holdsKeyFile { locked.holdKeyFiles() }
      leave(locked, notes)
    }
    upkeepDeadline = nil
    logDeadline = nil
    isOutdated = false
    state.lock(reason, at: now)
  }

  /// Has a vault closed of which nothing secret is known.
  func leave(_ vault: consuming LockedVault, _ notes: LockNotes? = nil) {
    precondition(closing == nil, "nobody opens a vault that is being closed")
    closing = Closing(vault, notes, after: compaction, backup)
    isClosingBegun = false
  }

  /// Takes note of the end of ``closing``.
  func endClosing() {
    lostEntries += closing?.lostEntries ?? 0
    closing = nil
    // Pages of the file were most of what an unlocked agent holds, the program's own are most of the rest.
    kura_memory_trim()
    kura_code_trim()
  }

  private var limits: SessionLimits {
    guard let policy = vault?.policy else { return .standard }
    let own = SessionLimits(
      idleTimeout: policy[.idleTimeout], maxSession: policy[.maxSession],
      locksOnSleep: policy[.lockOnSleep] != 0)
    return own.replacing(idleTimeout: asked.idleTimeout, maxSession: asked.maxSession)
  }
}
