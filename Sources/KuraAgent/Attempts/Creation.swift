// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Makes a new vault, which is there once its client has the recovery key.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class Creation: Act, @unchecked Sendable {
  private let path: String
  private let options: VaultOptions
  private let cost: KDFParameters
  private let flags: CreateRequest.Flags
  private var draft: VaultDraft?

  init(at path: String, _ options: VaultOptions, _ request: CreateRequest) {
    self.path = path
    self.options = options
    cost = request.cost
    flags = request.flags
  }

  func prepare(_ passcode: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    draft = try VaultDraft.make(
      at: path, options: options, passcode: passcode, kdf: try KDFParameters.wanted(cost),
      allowsWeak: flags.contains(.weakKDF), wantsRecoveryKey: flags.contains(.recoveryKey),
      isCode: flags.contains(.localCode))
  }

  /// Without the client's word that it has the key, the draft goes with it.
  func showKey(in attempt: Attempt, to client: Connection) throws(Refusal) -> Bool {
    switch draft {
    case .some(let draft): try show(draft, to: client)
    case .none: throw .outOfMemory
    }
    return true
  }

  private func show(_ draft: borrowing VaultDraft, to client: Connection) throws(Refusal) {
    try wire { () throws(ProtocolError) in
      try client.outbox.frames.putReply(RecoveryKeyReply(draft.recoveryKeyText))
    }
  }

  /// Gives the vault its name.
  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    do throws(VaultError) { try draft.take()?.commit() } catch { throw Refusal(error, at: path) }
    try wire { () throws(ProtocolError) in try client.outbox.frames.putReply() }
  }
}

extension Agent {
  func create(
    _ request: CreateRequest, _ connection: Connection
  ) throws(Refusal) {
    try checkAttempts()
    let path = connection.vaultPath
    guard !path.isEmpty else { throw .pathInvalid }
    let passcode = try secret(request.passcode.bytes)
    start(
      Attempt(Creation(at: path, options, request), passcode, for: connection), for: connection)
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
