// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// The verb of who masks what programs write, and what it means for those that are handed values.
extension Agent {
  /// Has a client told of each value that the programs below its process are handed, before they are.
  func mask(_ connection: Connection) throws(Refusal) {
    guard let own = configuration.processes(UInt32(clamping: connection.process), .all),
      own.start <= connection.began, lives(connection) == true
    else { throw .unsupported(.text("masking for a process that the agent cannot see")) }
    forgetMasks()
    let run = try run(of: ProcessTree(process: own.process, start: own.start))
    run.connection = connection
    run.open = 0
    connection.mask = run
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putProgress(done: 0, total: 0)
    }
    connection.phase = .masking
  }

  /// The one of a process that comes anew, or one more.
  private func run(of tree: ProcessTree) throws(Refusal) -> MaskRun {
    if let known = masks.first(where: { $0.tree == tree }) {
      if let last = known.connection { close(last) }
      return known
    }
    guard masks.count < configuration.limits.masks else { throw .tooBusy }
    let run = MaskRun(tree)
    masks.append(run)
    return run
  }

  /// Forgets those whose process has ended: nobody is below it any more.
  private func forgetMasks() {
    masks.removeAll { run in
      guard run.connection == nil else { return false }
      return configuration.processes(run.tree.process, .place)?.start != run.tree.start
    }
  }

  /// Hears whether a value will be found.
  func hear(ofNeedle payload: Span<UInt8>, _ connection: Connection) throws(Refusal) {
    let word = try wire { () throws(ProtocolError) in try NeedleWord(payload) }
    guard let run = connection.mask else { throw .malformed }
    run.open = max(0, run.open - 1)
    for client in connections {
      guard let wait = client.phase.masks, wait.drop(word.number, of: run) else { continue }
      if !word.isTaken {
        giveUp(wait, client)
      } else if wait.needles.isEmpty {
        letGo(wait, client)
      }
    }
  }

  /// Notes that who masks is not told any more: who waits for it is refused, and so is who asks next.
  func leaveMask(_ connection: Connection) {
    guard let run = connection.mask else { return }
    connection.mask = nil
    if run.connection === connection { run.connection = nil }
    for client in connections {
      guard let wait = client.phase.masks, wait.needles.contains(where: { $0.run === run }) else {
        continue
      }
      giveUp(wait, client)
    }
    forgetMasks()
  }
}

// MARK: - Who is handed values

extension Agent {
  /// Who has to know what a client is about to be handed. It is found out before anything is read, so that a refusal
  /// has moved no counter.
  ///
  /// - Throws: ``Refusal/maskerSilent``; ``Refusal/busy`` where what is above the client cannot be told.
  func masks(above connection: Connection) throws(Refusal) -> [MaskRun] {
    // A process that the agent does not see is below none that it does.
    guard !masks.isEmpty, connection.process > 0 else { return [] }
    guard let chain = wholeChain(of: connection) else { throw .busy }
    let above = masks.filter { chain.isBelow($0.tree) }
    guard above.allSatisfy(\.isHeard) else { throw .maskerSilent }
    return above
  }

  /// All that is above a client; nil where that cannot be told, as its process has ended. A parent that ends between
  /// two looks is no reason to give up.
  private func wholeChain(of connection: Connection) -> ProcessChain? {
    for _ in 0..<3 {
      let chain = ProcessChain(
        of: UInt32(clamping: connection.process), startedBefore: connection.began,
        configuration.processes)
      guard let chain, chain.isWhole, lives(connection) ?? true else { continue }
      return chain
    }
    return nil
  }

  /// Tells of a value, and has the answer to the request that is served wait for the word of each.
  func tell(
    _ masks: [MaskRun], _ connection: Connection, of part: Needle.Part = .value,
    name: Span<UInt8>, key: Span<UInt8> = Span(), _ value: Span<UInt8>, on session: Session
  ) throws(Refusal) {
    try tell(masks, connection, on: session) { frames, number throws(ProtocolError) in
      let size = UInt64(value.count)
      try frames.putNeedle(Needle(number, part, name: name, key: key, size: size, value: value))
    }
  }

  /// Tells of an item's value; one that is sent in parts is too long to be looked for.
  func tell(
    _ masks: [MaskRun], _ connection: Connection, of value: borrowing Value, on session: Session
  ) throws(Refusal) {
    guard value.isStream else {
      return try tell(masks, connection, name: value.item.name, value.bytes, on: session)
    }
    let (name, size) = (value.item.name, value.item.size)
    try tell(masks, connection, on: session) { frames, number throws(ProtocolError) in
      let none = Span<UInt8>()
      try frames.putNeedle(Needle(number, .value, name: name, key: none, size: size, value: none))
    }
  }

  private func tell(
    _ masks: [MaskRun], _ connection: Connection, on session: Session,
    _ write: (inout SecretBuffer, UInt64) throws(ProtocolError) -> Void
  ) throws(Refusal) {
    guard !masks.isEmpty else { return }
    let wait = try startedWait(of: connection, session)
    for run in masks {
      guard run.isHeard, let masker = run.connection else { throw .maskerSilent }
      lastNeedle += 1
      let number = lastNeedle
      try wire { () throws(ProtocolError) in try write(&masker.outbox.frames, number) }
      run.open += 1
      wait.needles.append(MaskWait.Needle(number: number, run: run))
    }
  }

  private func startedWait(
    of connection: Connection, _ session: Session
  ) throws(Refusal) -> MaskWait {
    if let wait = connection.wait { return wait }
    let deadline = configuration.clock().monotonic + configuration.limits.mask
    let wait = try MaskWait(session, until: deadline)
    connection.wait = wait
    return wait
  }

  /// Keeps an answer back where somebody has to know of its values first.
  ///
  /// - Parameter start: Where in the outbox it begins.
  func keepBack(_ connection: Connection, from start: Int) throws(Refusal) {
    guard let wait = connection.wait.take() else { return }
    try wait.take(&connection.outbox, from: start, then: connection.phase)
    connection.phase = .awaitingMasks(wait)
    send(wait)
  }

  /// Drops what a request that is refused has told of.
  func dropWait(of connection: Connection) {
    guard let wait = connection.wait.take() else { return }
    send(wait)
  }

  private func send(_ wait: MaskWait) {
    for needle in wait.needles {
      guard let masker = needle.run.connection else { continue }
      flush(masker)
    }
  }

  /// Sends an answer that all know the values of.
  private func letGo(_ wait: MaskWait, _ client: Connection) {
    client.phase = wait.next
    do throws(SecureMemoryError) { try wait.give(to: &client.outbox) } catch {
      client.phase = .ready
      refuse(client, .outOfMemory)
    }
    flush(client)
    resumed.append(client)
  }

  /// Refuses a request whose values somebody did not take in time, or cannot take.
  func giveUp(_ wait: MaskWait, _ client: Connection) {
    client.phase = .ready
    refuse(client, .maskerSilent)
    flush(client)
    resumed.append(client)
  }
}
