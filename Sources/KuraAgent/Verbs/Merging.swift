// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Verbs for copies of a vault that went separate ways.
extension Agent {
  func merge(_ request: MergeRequest, _ connection: Connection) throws(Refusal) {
    let bytes = request.path.bytes
    guard bytes.count > 0, bytes[0] == UInt8(ascii: "/"),
      let text = try? UTF8Span(validating: bytes)
    else { throw .pathInvalid }
    let path = String(copying: text)
    let session = try unlocked(connection)
    guard let credential = request.key.credential else {
      // A file that is no copy takes no vault over.
      try work(on: session, at: path) { vault throws(VaultError) in
        _ = try vault.openCopy(at: path)
      }
      return try beginMerge(path, isTrial: request.isTrial, of: session, for: connection) {
        vault throws(VaultError) in try vault.openCopy(at: path)
      }
    }
    try checkMemory()
    try checkAttempts()
    let secret = try secret(request.key.secret.bytes)
    let copy = try work(on: session, at: path) { vault throws(VaultError) in
      try vault.attempt(atCopy: path)
    }
    let tally = Tally(copy, for: credential, .unknown, tallies)
    try checkWait(tally, secret, session)
    let act = CopyOpening(path, isTrial: request.isTrial, session)
    start(Attempt(act, secret, tally, of: session, for: connection), for: connection)
  }

  /// Takes the vault over where it has to be, and begins.
  func beginMerge(
    _ path: String, isTrial: Bool, of session: Session, for connection: Connection,
    opening open: (inout UnlockedVault) throws(VaultError) -> OtherCopy
  ) throws(Refusal) {
    let copy = try work(on: session) { vault throws(VaultError) in
      isTrial ? nil : try vault.takeOver()
    }
    if copy != nil { noteChange(of: session) }
    let work = try self.work(on: session, at: path) { vault throws(VaultError) in
      try vault.beginMerge(open(&vault), isTrial: isTrial)
    }
    connection.phase = .sending(VaultMerge(work, with: path, copy: copy, of: session))
  }

  func conflicts(_ request: ConflictsRequest, _ connection: Connection) throws(Refusal) {
    let session = try unlocked(connection)
    let name = request.name.bytes
    guard !name.isEmpty else {
      connection.phase = .sending(ConflictList(of: nil, in: session))
      return
    }
    // What is not there is refused with a reply.
    try work(on: session, item: request.name.place) { vault throws(VaultError) in
      try vault.eachConflict(of: name) { _ throws(VaultError) in }
    }
    connection.phase = .sending(ConflictList(of: try secret(name), in: session))
  }
}

/// Opens another copy of the vault that stands under another vault key, and begins to bring both together.
/// Unchecked: the loop hands it to the worker and takes it back, so one thread has it at a time.
final class CopyOpening: Act, @unchecked Sendable {
  private let path: String
  private let isTrial: Bool
  private let session: Session
  private var key: VaultKey?

  init(_ path: String, isTrial: Bool, _ session: Session) {
    self.path = path
    self.isTrial = isTrial
    self.session = session
  }

  func prepare(_ secret: consuming SecretBytes, _ job: AttemptJob) throws(VaultError) {
    key = try job.prove(secret)
  }

  func perform(_ attempt: Attempt, in agent: Agent, for client: Connection) throws(Refusal) {
    guard session.isUnlocked else { throw session.lockedRefusal() }
    try agent.beginMerge(path, isTrial: isTrial, of: session, for: client) {
      vault throws(VaultError) in try open(vault, by: key)
    }
    agent.noteEntry(.merge, of: session, by: client)
  }

  private func open(
    _ vault: borrowing UnlockedVault, by key: borrowing VaultKey?
  ) throws(VaultError) -> OtherCopy {
    switch key {
    case .some(let key): try vault.openCopy(at: path, by: key)
    case .none: throw .outOfMemory
    }
  }
}
