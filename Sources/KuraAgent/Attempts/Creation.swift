// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Makes the draft of a vault under a passcode.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class CreateJob: Job, @unchecked Sendable {
  private let path: String
  private let options: VaultOptions
  private let cost: KDFParameters
  private let flags: CreateRequest.Flags
  private var passcode: SecretBytes?
  private var draft: VaultDraft?
  private var failure: VaultError?

  init(
    at path: String, _ options: VaultOptions, _ request: CreateRequest,
    _ passcode: consuming SecretBytes
  ) {
    self.path = path
    self.options = options
    cost = request.cost
    flags = request.flags
    self.passcode = consume passcode
  }

  func run() {
    guard let passcode = passcode.take() else { return }
    do throws(VaultError) {
      draft = try VaultDraft.make(
        at: path, options: options, passcode: passcode, kdf: try KDFParameters.wanted(cost),
        allowsWeak: flags.contains(.weakKDF), wantsRecoveryKey: flags.contains(.recoveryKey),
        isCode: flags.contains(.localCode))
    } catch { failure = error }
  }

  /// The draft, once.
  func takeDraft() throws(VaultError) -> VaultDraft {
    guard let draft = draft.take() else { throw failure ?? .outOfMemory }
    return draft
  }
}

/// A new vault under way: it is drafted, its recovery key is shown, then it is there.
final class Creation: Attempt {
  let session: Session? = nil
  private let createJob: CreateJob
  private let path: String
  private var draft: VaultDraft?

  var job: any Job { createJob }

  init(_ job: CreateJob, at path: String) {
    createJob = job
    self.path = path
  }

  func settle() -> Bool { true }

  /// Shows the recovery key; without the client's word that it has it, the draft goes with it.
  func finish(in agent: Agent, for client: Connection) throws(Denial) {
    let draft: VaultDraft
    do throws(VaultError) { draft = try createJob.takeDraft() } catch {
      throw Denial(error, at: path)
    }
    try answer(draft, client)
    self.draft = consume draft
    agent.awaitWord(self, of: client)
  }

  private func answer(_ draft: borrowing VaultDraft, _ client: Connection) throws(Denial) {
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putRecoveryKeyReply(draft.recoveryKeyText)
    }
  }

  /// Gives the vault its name.
  func commit() throws(Denial) {
    do throws(VaultError) { try draft.take()?.commit() } catch { throw Denial(error, at: path) }
  }
}

extension Agent {
  func create(
    _ request: CreateRequest, _ payload: Span<UInt8>, _ connection: Connection
  ) throws(Denial) {
    try checkAttempts()
    let path = connection.vaultPath
    guard !path.isEmpty else { throw Denial(.pathInvalid) }
    let passcode = try secret(payload.extracting(request.passcode))
    start(Creation(CreateJob(at: path, options, request, passcode), at: path), for: connection)
  }
}

extension Creation: Confirmable {
  func confirmed(in agent: Agent, for client: Connection) throws(Denial) {
    try commit()
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply() }
  }
}

extension KDFParameters {
  /// The cost a client wants; by measuring this machine where it leaves that to us. Slow.
  static func wanted(_ cost: KDFParameters) throws(VaultError) -> KDFParameters {
    if cost == .calibrated {
      return try KDFCalibration.run()
    }
    return KDFParameters(
      memory: cost.memory == 0 ? KDFLimits.standard.memory : cost.memory,
      passes: cost.passes == 0 ? KDFLimits.standard.passes : cost.passes)
  }
}
