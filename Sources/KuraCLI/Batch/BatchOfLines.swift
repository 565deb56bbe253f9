// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura put --batch`: stores the items that lines of JSON hold, many a transaction.
enum BatchOfLines {
  /// How many items go together, at most: a commit costs as much for one.
  static let most = ProtocolLimit.batch

  static func store(
    from descriptor: Int32, _ access: VaultAccess, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    var sender = try BatchSender(invocation)
    var late: CommandError?
    do throws(CommandError) {
      try access.unlocked { connection throws(ClientError) in
        try connection.askForBatches()
        // From here on lines are gone: nothing is done twice.
        kura_interrupt_is_noted()
        defer { kura_interrupt_ends() }
        do throws(CommandError) { try sender.store(from: descriptor, &connection) } catch {
          late = error
          throw .stopped
        }
      }
    } catch {
      sender.bar.clear()
      if case .batch(_, .prompt(.interrupted)) = late, invocation.messages.isTerminal {
        // The terminal has written ^C.
        invocation.messages.write("\n")
      }
      throw late ?? error
    }
    sender.bar.clear()
    let count = sender.stored
    invocation.messages.note("stored \(count) " + (count == 1 ? "item" : "items"))
  }
}

extension Connection {
  /// Makes sure that the vault is unlocked, before anything is read.
  mutating func askForBatches() throws(ClientError) {
    var none = 0
    try send(try ItemBatch(), flags: [])
    try batchAnswer(&none)
  }
}

/// Fills one batch while the agent stores the one before.
struct BatchSender: ~Copyable {
  private let flags: PutBatchRequest.Flags
  private let isProtecting: Bool
  private var filling: ItemBatch
  /// The lines that its items stand on.
  private var lines: [UInt64] = []
  /// Those of the batch that the agent has, if it has one.
  private var sent: [UInt64] = []
  /// How many items are stored for good.
  private(set) var stored: UInt64 = 0
  var bar: ProgressBar
  private let messages: Messages
  /// Whether the vault has a place for secret attributes, as far as is known.
  private var takesSecrets = false

  init(_ invocation: borrowing Invocation) throws(CommandError) {
    let arguments = invocation.arguments
    var flags: PutBatchRequest.Flags = []
    if arguments.has(.replace) { flags.insert(.replace) }
    if arguments.has(.empty) { flags.insert(.allowEmpty) }
    self.flags = flags
    isProtecting = arguments.has(.protect)
    filling = try running { () throws(ClientError) in try ItemBatch() }
    messages = invocation.messages
    bar = ProgressBar("storing", messages)
  }

  mutating func store(
    from descriptor: Int32, _ connection: inout Connection
  ) throws(CommandError) {
    var input = try LineInput(descriptor: descriptor)
    var item = try ItemLine.make()
    var line: UInt64 = 1
    do throws(CommandError) {
      while true {
        line = input.number + 1
        var step = try input.advance(patiently: false)
        if step == .quiet {
          try flush(&connection)
          step = try input.advance(patiently: true)
        }
        if step == .interrupted { try stop(before: line, &connection) }
        guard step == .line else { break }
        guard try item.read(input.line) else { continue }
        if item.secretFields.count > 0 { try makePlace(&connection) }
        if item.goesOn {
          try addPieces(item, &input, &connection)
        } else {
          try add(item, on: input.number, &connection)
        }
      }
    } catch {
      if case .batch = error { throw error }
      // Everything before this line is stored, or an earlier one is what went wrong.
      try flush(&connection)
      try settle(&connection)
      throw failure(on: line, error)
    }
    try flush(&connection)
    try settle(&connection)
  }

  /// Ends it with what the agent has; what it does not have yet stays unsent.
  private mutating func stop(
    before line: UInt64, _ connection: inout Connection
  ) throws(CommandError) {
    try settle(&connection)
    throw failure(on: lines.first ?? line, .prompt(.interrupted))
  }

  /// Has the vault taken over before the first item with secret attributes.
  private mutating func makePlace(_ connection: inout Connection) throws(CommandError) {
    guard !takesSecrets else { return }
    try flush(&connection)
    try settle(&connection)
    let copy = try running { () throws(ClientError) in try connection.takeOver() }
    takesSecrets = true
    guard let copy else { return }
    bar.clear()
    messages.note(Attr.takenOver(copy))
  }

  private mutating func add(
    _ item: borrowing ItemLine, on line: UInt64, _ connection: inout Connection
  ) throws(CommandError) {
    guard item.value.count <= ProtocolLimit.inlineValue else {
      return try addAlone(item, on: line, &connection)
    }
    while try !addTogether(item) { try flush(&connection) }
    lines.append(line)
    if filling.count == BatchOfLines.most { try flush(&connection) }
  }

  /// False when the batch is full.
  private mutating func addTogether(_ item: borrowing ItemLine) throws(CommandError) -> Bool {
    do throws(ClientError) {
      return try filling.add(
        name: item.name.bytes, flags: isProtecting ? item.flags.union(.protect) : item.flags,
        value: item.value.bytes, attributes: item.attributes.bytes,
        attributeCount: item.attributeCount, secrets: item.secretFields, times: item.times)
    } catch { throw .client(error) }
  }

  /// Stores a value that is too long for a batch, after all those before it.
  private mutating func addAlone(
    _ item: borrowing ItemLine, on line: UInt64, _ connection: inout Connection
  ) throws(CommandError) {
    try flush(&connection)
    try settle(&connection)
    let order = try item.order(aloneFlags)
    do throws(ClientError) {
      _ = try connection.put(order, value: item.value.bytes, secrets: item.secretFields)
    } catch {
      throw failure(on: line, .client(error.unnamed))
    }
    stored += 1
  }

  /// Stores a value that goes on over lines, as they come.
  private mutating func addPieces(
    _ item: borrowing ItemLine, _ input: inout LineInput, _ connection: inout Connection
  ) throws(CommandError) {
    let line = input.number
    try flush(&connection)
    try settle(&connection)
    let order = try item.order(aloneFlags)
    var piece = try ItemLine.make()
    var isLast = false
    var late: CommandError?
    do throws(ClientError) {
      _ = try connection.put(order, value: item.value.bytes, secrets: item.secretFields) {
        more throws(ClientError) in
        guard !isLast else { return false }
        do throws(CommandError) {
          try piece.read(on: order.name, from: &input)
          isLast = !piece.goesOn
          do throws(SecureMemoryError) { try more.append(piece.value.bytes) } catch {
            throw .outOfMemory
          }
        } catch {
          late = error
          throw .stopped
        }
        return true
      }
    } catch { throw failure(on: line, late ?? .client(error.unnamed)) }
    stored += 1
  }

  private var aloneFlags: PutRequest.Flags {
    var alone: PutRequest.Flags = flags.contains(.replace) ? .replace : []
    if isProtecting { alone.insert(.protect) }
    return alone
  }

  /// Sends what there is, once the batch before is stored.
  private mutating func flush(_ connection: inout Connection) throws(CommandError) {
    try settle(&connection)
    guard filling.count > 0 else { return }
    swap(&sent, &lines)
    do throws(ClientError) { try connection.send(filling, flags: flags) } catch {
      throw failure(on: sent[0], .client(error))
    }
    filling.removeAll()
  }

  /// Waits until the agent has stored what was sent.
  private mutating func settle(_ connection: inout Connection) throws(CommandError) {
    guard !sent.isEmpty else { return }
    var count = 0
    do throws(ClientError) { try connection.batchAnswer(&count) } catch {
      stored += UInt64(count)
      throw failure(on: sent[min(count, sent.count - 1)], .client(error.unnamed))
    }
    stored += UInt64(count)
    sent.removeAll(keepingCapacity: true)
    bar.show(ProgressReport(done: stored, total: 0))
  }

  private func failure(on line: UInt64, _ error: CommandError) -> CommandError {
    .batch(BatchFailure(line: line, last: sent.last ?? line, stored: stored), error)
  }
}

extension ItemLine {
  /// Reads the line that goes on with a value.
  ///
  /// - Parameter name: Whose value it is.
  fileprivate mutating func read(
    on name: String, from input: inout LineInput
  ) throws(CommandError) {
    repeat {
      switch try input.advance(patiently: true) {
      case .line: break
      case .interrupted: throw .prompt(.interrupted)
      case .end, .quiet: throw .usage("the lines end before its value does")
      }
    } while try !readPiece(input)
    guard isPiece, name.utf8.elementsEqual(Array(copying: self.name.bytes)) else {
      throw .usage(
        "line \(input.number) does not go on with its value",
        hint:
          "behind a line with more stands one of the same name, with value, and more again or not")
    }
  }

  private mutating func readPiece(_ input: borrowing LineInput) throws(CommandError) -> Bool {
    do throws(CommandError) { return try read(input.line) } catch {
      let inner = Diagnostic(error)
      throw .failure(
        "line \(input.number), which goes on with it: " + inner.message, hint: inner.hint,
        inner.status)
    }
  }
}

/// Tells how far a batch of lines came.
struct BatchFailure: Equatable, Sendable {
  /// The first line that was not stored, or not to anybody's knowledge.
  let line: UInt64
  /// The last line of what the agent had in hand.
  let last: UInt64
  /// How many items are stored for good.
  let stored: UInt64
}

extension ClientError {
  /// The same without the item's name: the line says which it is, and nothing of its content is told.
  fileprivate var unnamed: ClientError {
    guard case .refused(let refusal) = self else { return self }
    if case .exists(let revision, _) = refusal {
      return .refused(.exists(revision: revision, .none))
    }
    if case .historyFull = refusal { return .refused(.historyFull(.none)) }
    if case .damaged = refusal { return .refused(.damaged(.none)) }
    return self
  }
}
