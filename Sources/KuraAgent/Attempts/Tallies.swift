// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory
internal import Synchronization

/// Keeps what this engine knows of wrong tries at vaults; the loop and the worker share it.
final class Tallies: Sendable {
  private let directory: String
  private let origin: ClockOrigin
  private let clock: @Sendable () -> Moment
  private let known = Mutex<[VaultID: KnownMistakes]>([:])
  /// Vaults whose last try could not be counted.
  private let unkept = Mutex<Set<VaultID>>([])

  init(_ configuration: AgentConfiguration) {
    directory = configuration.stateDirectory
    origin = configuration.origin
    clock = configuration.clock
  }

  /// Takes hold of a vault's file.
  func hold(_ vault: VaultID, patience: Int) throws(VaultError) -> TryFile {
    try TryFile.hold(vault, in: directory, patience: patience)
  }

  /// The monotonic clock, in milliseconds.
  var time: UInt64 { clock().monotonic }

  /// What is counted, without waiting.
  func look(at vault: VaultID) -> TryRecord { TryFile.look(at: vault, in: directory) }

  /// What may be tried now.
  func standing(_ kind: TryKind, _ record: TryRecord) -> TryStanding {
    TryPolicy.standing(kind, record[kind], at: clock().boot, in: origin)
  }

  /// Counts one wrong try more; the try may yet turn out to be right.
  func count(_ kind: TryKind, in record: inout TryRecord) {
    record[kind].count(at: clock().boot, in: origin)
  }

  /// Has the wait for a kind begin now.
  func restart(_ kind: TryKind, in record: inout TryRecord) {
    record[kind].restart(at: clock().boot, in: origin)
  }

  /// Notes whether tries at a vault are counted.
  func note(_ vault: VaultID, isKept: Bool) {
    unkept.withLock { unkept in
      if isKept { unkept.remove(vault) } else { unkept.insert(vault) }
    }
  }

  func isKept(_ vault: VaultID) -> Bool { !unkept.withLock { $0.contains(vault) } }
}

// MARK: - Mistakes made before

extension Tallies {
  /// Remembers a secret that was wrong.
  ///
  /// - Returns: Whether it was known already, in this process.
  func remember(_ mistake: Mistake, _ vault: VaultID) -> Bool {
    known.withLock { known in
      if known[vault, default: KnownMistakes()].contains(mistake) { return true }
      known[vault, default: KnownMistakes()].insert(mistake)
      return false
    }
  }

  /// Forgets what was wrong, now that something was right.
  func forget(_ vault: VaultID) { known.withLock { known in known[vault] = nil } }
}

// MARK: - The loop's side

extension Agent {
  /// Refuses at once what would have to wait; the worker looks again when its turn has come.
  ///
  /// What may be a code waits only when both must: the worker tries it as what may be tried.
  func checkWait(
    _ tally: borrowing Tally, _ secret: borrowing SecretBytes, _ session: Session?
  ) throws(Refusal) {
    let record = tallies.look(at: tally.slots.vault)
    if tally.mayBeCode(secret), tallies.standing(.local, record).isAllowed { return }
    // A try under way is counted already, and may be right.
    guard let kind = TryKind(tally.credential), session?.state.isUnlocking != true
    else { return }
    let standing = tallies.standing(kind, record)
    // A wait that begins only now is for the worker to note.
    guard standing.isAllowed || standing.mustRestart else {
      let hasRecoveryKey = tally.slots.slotCount(for: .recoveryKey) > 0
      throw .throttled(wait: standing.wait, hasRecoveryKey: hasRecoveryKey)
    }
  }

  /// What `status` shows, for the kinds of slots that a vault has.
  func tryReports(of vault: VaultID, _ slots: [SlotSummary]) -> [TryReport] {
    let record = tallies.look(at: vault)
    return TryKind.allCases.compactMap { kind in
      guard slots.contains(where: { $0.kind == kind.slotKind }) else { return nil }
      let standing = tallies.standing(kind, record)
      return TryReport(
        kind: kind, failures: standing.failures, left: standing.left, wait: standing.wait)
    }
  }
}

extension TryKind {
  /// What a credential's tries count as; nil for what is never slowed down.
  init?(_ credential: Credential) {
    switch credential {
    case .passcode: self = .passcode
    // A security key counts wrong PINs itself.
    case .recoveryKey, .fido2: return nil
    case .keyFile: self = .keyFile
    case .local: self = .local
    case .tpm: self = .tpm
    }
  }
}
