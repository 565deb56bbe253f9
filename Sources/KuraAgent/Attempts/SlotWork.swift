// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// What is to be done with the slots.
enum SlotTask: Equatable {
  case add(SlotAddRequest)
  case remove(UInt8)
  case test(only: UInt8?)
}

/// Proves a passcode or recovery key, and prepares the slot that is to be added.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class SlotJob: Job, @unchecked Sendable {
  fileprivate private(set) var guess: Guess
  fileprivate let task: SlotTask
  fileprivate let credential: Credential
  private let naming: SlotNaming
  private var current: SecretBytes?
  private var new: SecretBytes?
  /// Whether the vault has to be unlocked for the change, which takes a key of its own.
  private let unlocks: Bool
  fileprivate var key: VaultKey?
  /// The slot that opened, and what it takes.
  fileprivate private(set) var opened: UInt8 = 0
  fileprivate private(set) var credentialOfOpened: Credential
  fileprivate var unlockKey: VaultKey?
  fileprivate var slot: PreparedSlot?
  private(set) var failure: VaultError?

  init(
    _ guess: Guess, _ task: SlotTask, _ credential: Credential,
    current: consuming SecretBytes, new: consuming SecretBytes?, naming: SlotNaming,
    unlocks: Bool
  ) {
    self.guess = guess
    self.task = task
    self.credential = credential
    credentialOfOpened = credential
    self.current = consume current
    self.new = consume new
    self.naming = naming
    self.unlocks = unlocks
  }

  func mayBegin() -> Bool { guess.reach(credential) }

  func run() {
    guard let current = current.take() else { return }
    do throws(VaultError) {
      try prove(current)
      if case .add(let request) = task, let new = new.take() {
        try check(new, for: request.kind, beside: current)
        slot = try .prepared(request, new, naming)
      }
    } catch { failure = error }
  }

  private func prove(_ current: borrowing SecretBytes) throws(VaultError) {
    guard case .test(let number) = task else {
      let proved = try guess.open(credential, secret: current)
      opened = proved.slot
      key = consume proved
      if unlocks { unlockKey = try guess.attempt.open(credential, secret: current) }
      return
    }
    // What is typed where a passcode is asked for may be a code, here as at an unlock.
    let key =
      number == nil && credential == .passcode
      ? try guess.openTyped(current) : try guess.open(credential, secret: current, only: number)
    opened = key.slot
    credentialOfOpened = key.credential
  }

  /// Refuses what opens a slot already, as far as that costs no guess more: all key files are compared,
  /// of passcodes the one that was shown.
  private func check(
    _ new: borrowing SecretBytes, for kind: Credential, beside current: borrowing SecretBytes
  ) throws(VaultError) {
    if kind == .keyFile {
      guard let number = try guess.attempt.slot(openedBy: new) else { return }
      throw .credentialTaken(number)
    }
    guard kind == .passcode, credential == .passcode else { return }
    if try UnlockAttempt.isSamePasscode(new, current) { throw .credentialTaken(opened) }
  }
}

extension PreparedSlot {
  /// The slot that a client wants; slow.
  fileprivate static func prepared(
    _ request: SlotAddRequest, _ secret: borrowing SecretBytes, _ naming: SlotNaming
  ) throws(VaultError) -> PreparedSlot {
    let allowsWeak = request.flags.contains(.weakKDF)
    let withProtected = request.flags.contains(.withProtected)
    switch request.kind {
    case .passcode:
      return try passcode(
        secret, kdf: try KDFParameters.wanted(request.cost), allowsWeak: allowsWeak,
        naming: naming)
    case .recoveryKey: return try recoveryKey(naming: naming)
    case .keyFile: return try keyFile(secret, withProtected: withProtected, naming: naming)
    case .local:
      return try local(
        secret, kdf: try KDFParameters.wanted(request.cost), allowsWeak: allowsWeak,
        withProtected: withProtected, naming: naming)
    }
  }
}

/// Work on the slots under way; the session stays as it is.
final class SlotWork: Attempt {
  private let owner: Session
  private let ticket: UnlockTicket
  private let slotJob: SlotJob
  private var vault: LockedVault?
  /// A locked vault, open for the change alone.
  private var opened: UnlockedVault?

  var session: Session? { owner }
  var job: any Job { slotJob }

  init(_ job: SlotJob, _ vault: consuming LockedVault, _ session: Session) {
    slotJob = job
    owner = session
    ticket = session.state.beginAttempt()
    self.vault = consume vault
  }

  var wrong: WrongCredential? { WrongCredential(slotJob.failure, slotJob.credential) }

  func settle() -> Bool { owner.state.endAttempt(ticket) }

  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    if let failure = slotJob.failure {
      if slotJob.guess.isCounted { client.mistakes += 1 }
      let isTest = if case .test = slotJob.task { true } else { false }
      let denial = slotJob.guess.denial(
        failure, at: owner.path, showing: slotJob.credential, takesCode: isTest)
      throw denial.final(when: true)
    }
    client.mistakes = 0
    guard case .add(let request) = slotJob.task, request.kind == .recoveryKey else {
      return try perform(in: agent, for: client)
    }
    // The key is in force only once somebody has it.
    try showKey(slotJob.slot, client)
    agent.awaitWord(self, of: client)
  }

  private func showKey(_ slot: borrowing PreparedSlot?, _ client: Connection) throws(Denial) {
    try wire { () throws(ProtocolError) in
      switch slot {
      case .some(let slot): try client.outbox.frames.putRecoveryKeyReply(slot.recoveryKeyText)
      case .none: try client.outbox.frames.putRecoveryKeyReply(Span())
      }
    }
  }
}

// MARK: - The change

extension SlotWork: Confirmable {
  func confirmed(in agent: Agent, for client: Connection) throws(Denial) {
    try perform(in: agent, for: client)
  }

  private func perform(in agent: Agent, for client: Connection) throws(Denial) {
    let number: UInt8
    do throws(VaultError) { number = try change() } catch {
      // The unlock took the vault and left none: another try would find nothing to work with.
      throw Denial(error, at: owner.path).final(when: vault == nil && opened == nil)
    }
    // What a slot proved that is gone reads no more.
    if case .remove = slotJob.task { agent.revokeGrants(of: owner) }
    if owner.isUnlocked { agent.noteChange(of: owner) }
    try wire { () throws(ProtocolError) in
      switch slotJob.task {
      case .add(let request):
        try client.outbox.frames.putSlotReply(number: number, kind: request.kind.slotKind)
      case .test:
        try client.outbox.frames.putSlotReply(
          number: number, kind: slotJob.credentialOfOpened.slotKind)
      case .remove: try client.outbox.frames.putReply()
      }
    }
  }

  /// Does what was asked.
  ///
  /// - Returns: The slot that it was about.
  private func change() throws(VaultError) -> UInt8 {
    if case .test = slotJob.task { return slotJob.opened }
    // A job without a failure has left its key; comparing first keeps the borrow short.
    guard slotJob.key != nil else { throw .outOfMemory }
    guard !owner.isUnlocked else {
      return try owner.withVault { vault throws(VaultError) in try change(&vault) }
    }
    if opened == nil {
      guard let locked = vault.take(), let key = slotJob.unlockKey.take() else {
        throw .credentialStale
      }
      opened = try locked.unlock(with: key)
    }
    // Assigned just now, or by the try before; it stays for the next one when the file is busy.
    let number = try change(&opened!)
    opened.take()?.fold()
    return number
  }

  private func change(_ vault: inout UnlockedVault) throws(VaultError) -> UInt8 {
    switch slotJob.task {
    case .add(let request):
      guard slotJob.slot != nil else { throw .outOfMemory }
      return try vault.addSlot(
        slotJob.slot!, authorizedBy: slotJob.key!, replacing: request.flags.contains(.replace))
    case .remove(let number):
      try vault.removeSlot(number, authorizedBy: slotJob.key!)
      return number
    case .test: return slotJob.opened
    }
  }
}
