// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Goes on with a clone: a thread copies the file, the loop seals the copy anew and proves it, and the thread gives it
/// its name. It ends with its client, and with a lock.
final class CloneWork: Stream {
  /// Between two looks at the thread, in milliseconds.
  private static let pause: UInt64 = 20
  /// Parts of the whole after which progress is told.
  private static let steps: UInt64 = 200

  /// Says what is done now.
  private enum Part {
    case copying, sealing, publishing
  }

  /// Says what a step came to.
  private enum Step {
    case underWay, refused, done
  }

  let session: Session
  let isUse = false
  private(set) var due: UInt64 = 0
  private let backup: Backup
  private let path: String
  private let thread: Worker
  private let configuration: AgentConfiguration
  private var part = Part.copying
  /// What the clone is to open by, and what the vault does, until the copy is there.
  private var key: VaultKey?
  private var slots: RekeySlots?
  private var cloning: Cloning?
  private var told: UInt64?

  init(
    _ backup: Backup, at path: String, _ key: consuming VaultKey, _ slots: consuming RekeySlots,
    of session: Session, on thread: Worker, _ configuration: AgentConfiguration
  ) {
    self.backup = backup
    self.path = path
    self.key = consume key
    self.slots = consume slots
    self.session = session
    self.thread = thread
    self.configuration = configuration
    thread.start(BackupJob { backup.copy() })
  }

  deinit { backup.stop() }

  func stop() { backup.stop() }

  /// Whether the copy is not there yet.
  var isCopying: Bool { part == .copying }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    switch part {
    case .copying:
      guard let copied = backup.copied else { return try wait(&outbox) }
      if case .failure(let failure) = copied { return try refuse(failure, &outbox) }
      due = 0
      if let refusal = try begin(&vault) { return try refuse(refusal, &outbox) }
      part = .sealing
    case .sealing:
      switch try seal(&outbox) {
      case .underWay: break
      case .refused: return false
      case .done:
        let backup = backup
        thread.start(BackupJob { backup.publish() })
        part = .publishing
      }
    case .publishing:
      guard let made = backup.made else { return try wait(&outbox) }
      if case .failure(let failure) = made { return try refuse(failure, &outbox) }
      try write { () throws(ProtocolError) in try outbox.frames.putEnd() }
      return false
    }
    return true
  }

  /// - Returns: What is wrong with the place of the clone.
  private func begin(_ vault: inout UnlockedVault) throws(VaultError) -> Backup.Failure? {
    guard let key = key.take(), let slots = slots.take() else { throw .outOfMemory }
    do throws(VaultError) {
      cloning = try vault.beginClone(of: backup, authorizedBy: key, slots)
      return nil
    } catch { return try place(error) }
  }

  /// Seals and proves some.
  private func seal(_ outbox: inout Outbox) throws(VaultError) -> Step {
    guard var cloning = cloning.take() else { throw .busy }
    do throws(VaultError) {
      guard try cloning.step() else { return .done }
    } catch {
      _ = try refuse(try place(error), &outbox)
      return .refused
    }
    let progress = cloning.progress
    self.cloning = consume cloning
    try tell(400 + progress.done * 600 / progress.total, of: 1_000, &outbox)
    return .underWay
  }

  /// What the disk of the clone did is said of its path; all else is thrown.
  private func place(_ error: VaultError) throws(VaultError) -> Backup.Failure {
    if error == .copyDamaged { return .unsound }
    if case .io = error { return .target(error) }
    guard error == .diskFull || error == .readOnly || error == .permissionDenied else {
      throw error
    }
    return .target(error)
  }

  private func wait(_ outbox: inout Outbox) throws(VaultError) -> Bool {
    due = configuration.clock().monotonic + Self.pause
    guard part == .copying else { return true }
    let (done, total) = backup.progress
    try tell(done * 400 / max(1, total), of: 1_000, &outbox)
    return true
  }

  private func tell(
    _ done: UInt64, of total: UInt64, _ outbox: inout Outbox
  ) throws(VaultError) {
    let step = done * Self.steps / total
    guard step != told else { return }
    told = step
    try write { () throws(ProtocolError) in try outbox.frames.putProgress(done: done, total: total)
    }
  }

  private func refuse(
    _ failure: Backup.Failure, _ outbox: inout Outbox
  ) throws(VaultError) -> Bool {
    let refusal = Refusal(failure, at: path, of: session.path)
    try write { () throws(ProtocolError) in try outbox.frames.putRefusal(refusal, as: .end) }
    return false
  }
}
