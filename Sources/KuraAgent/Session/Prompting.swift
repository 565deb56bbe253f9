// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault

/// Keeps the line of those who ask for one vault.
final class PromptDesk {
  let vault: FileID
  var line = PromptLine()

  init(vault: FileID) { self.vault = vault }
}

/// Has its turn to ask a person for a passcode, or waits for it.
final class Prompting {
  let desk: PromptDesk
  let id: UInt64
  /// What its client was told last.
  var told: PromptLine.Standing?

  init(_ id: UInt64, at desk: PromptDesk) {
    self.id = id
    self.desk = desk
  }
}

// MARK: - Verbs and words

extension Agent {
  /// Gives a client its turn to ask for the vault's passcode, or lets it wait.
  func prompt(
    _ request: PromptRequest, _ connection: Connection
  ) throws(Refusal) {
    connection.mayCrossEnd = true
    if try session(of: connection)?.isUnlocked == true {
      return try wire { () throws(ProtocolError) in try connection.outbox.frames.putEnd() }
    }
    let desk = try desk(of: connection)
    let now = configuration.clock()
    lastAsker += 1
    let place = String(decoding: Self.copy(request.place.bytes), as: UTF8.self)
    let asker = PromptLine.Asker(
      id: lastAsker, at: place, seesKeys: request.flags.contains(.seesKeys),
      from: .init(ofProcess: connection.process))
    let wait = desk.line.coolDownLeft(for: asker, at: now)
    guard wait == 0 else { throw .cancelled(lasting: wait) }
    guard hasRoomToWait else { throw .tooBusy }
    desk.line.join(asker, at: now)
    connection.prompting = Prompting(lastAsker, at: desk)
    tell(desk)
  }

  /// Of the seats, so many are not for clients that ask or wait: an answer has to come in.
  private static let spared = 8

  /// Whether one more may ask, or wait for a lock or an unlock.
  var hasRoomToWait: Bool {
    let count = connections.count { $0.phase.isEndless || $0.prompting != nil }
    return count + Self.spared < configuration.limits.seats
  }

  private static func copy(_ bytes: Span<UInt8>) -> [UInt8] {
    bytes.indices.map { bytes[$0] }
  }

  private func desk(of connection: Connection) throws(Refusal) -> PromptDesk {
    let vault = try identity(of: connection.vaultPath)
    let now = configuration.clock()
    desks.removeAll { $0.line.isIdle(at: now) }
    if let desk = desks.first(where: { $0.vault == vault }) { return desk }
    let desk = PromptDesk(vault: vault)
    desks.append(desk)
    return desk
  }

  /// Hears what a client that asks or waits has to say.
  func hear(_ payload: Span<UInt8>, _ connection: Connection) throws(Refusal) {
    let word = try wire { () throws(ProtocolError) in try PromptWord(payload) }
    guard let prompting = connection.prompting else { return }
    let desk = prompting.desk
    let now = configuration.clock()
    switch word {
    case .touched: desk.line.touch(by: prompting.id, at: now)
    case .take: desk.line.take(by: prompting.id, at: now)
    case .aside: desk.line.stepAside(prompting.id, at: now)
    case .cancel:
      guard desk.line.cancel(by: prompting.id, at: now) else { return }
      endPrompts(desk, with: .cancelled(lasting: 0))
    }
    tell(desk)
  }
}

// MARK: - Turns

extension Agent {
  /// Lets the next one ask when a client that did is gone.
  func leavePrompt(_ connection: Connection) {
    guard let prompting = connection.prompting else { return }
    connection.prompting = nil
    prompting.desk.line.leave(prompting.id, at: configuration.clock())
    tell(prompting.desk)
  }

  /// Tells a client that asks or waits that its vault is unlocked, if nothing else did.
  func endPrompt(of connection: Connection) {
    guard connection.prompting != nil else { return }
    leavePrompt(connection)
    try? connection.outbox.frames.putEnd()
  }

  /// Answers those who ask and wait for a vault that has just been unlocked.
  func endPrompts(for session: Session) {
    guard let desk = desks.first(where: { $0.vault == session.id }) else { return }
    desk.line.empty()
    endPrompts(desk, with: nil)
  }

  private func endPrompts(_ desk: PromptDesk, with refusal: Refusal?) {
    for connection in connections {
      guard connection.prompting?.desk === desk else { continue }
      connection.prompting = nil
      if let refusal {
        refuse(connection, refusal, as: .end)
      } else {
        try? connection.outbox.frames.putEnd()
      }
      resumed.append(connection)
    }
  }

  /// When the next turn passes to another, on the monotonic clock.
  var promptDeadline: UInt64 { desks.compactMap { $0.line.deadline }.min() ?? .max }

  /// Passes on the turns that nobody used.
  func expirePrompts() {
    guard !desks.isEmpty else { return }
    let now = configuration.clock()
    for desk in desks where now.monotonic >= desk.line.deadline ?? .max {
      desk.line.expire(at: now)
      tell(desk)
    }
  }

  /// Tells each client whose turn it is, where that has changed.
  private func tell(_ desk: PromptDesk) {
    for connection in connections {
      guard let prompting = connection.prompting, prompting.desk === desk else { continue }
      let standing = desk.line.standing(of: prompting.id)
      guard standing != prompting.told else { continue }
      prompting.told = standing
      switch standing {
      case .asks: try? connection.outbox.frames.putPromptNews(elsewhere: nil)
      case .waits(let place):
        try? connection.outbox.frames.putPromptNews(elsewhere: place.utf8.span)
      case .aside: continue
      }
      resumed.append(connection)
    }
  }
}
