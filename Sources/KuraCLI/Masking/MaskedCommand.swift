// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Runs a command, in a room where that is wanted, and passes what it writes on: where that is to be masked, with names in
/// the place of the values that it was given.
struct MaskedCommand: ~Copyable {
  /// How long a beginning of a value is held back that may be a question, in ms.
  private static let patience: Int32 = 50
  /// What a command can have left in a pipe when it ends.
  private static let mostLeft = 2 << 20
  /// Stands behind the last order.
  private static let end = UInt8(ascii: "!")

  private var relay: kura_relay
  private var set: NeedleSet
  private var source: NeedleSource
  private let messages: Messages
  /// The way into the room that the command is in; nil: it is in none.
  private let door: RoomDoor?
  private var output: MaskedStream
  private var errors: MaskedStream
  private var input: SecretBuffer

  /// Runs it.
  ///
  /// - Parameters:
  ///   - plan: What it is given.
  ///   - values: Those of ``LaunchPlan/read(_:)``.
  ///   - room: The room that it is to be in.
  ///   - invocation: The words of the command.
  /// - Returns: In the process that has read what the command wrote; the one that was called ends as the command does.
  static func run(
    _ plan: consuming LaunchPlan, _ values: consuming PlaceholderValues, in room: RoomPlan?,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let access = try invocation.access()
    let isTold = invocation.arguments.has(.mask) && !access.isPrivate
    // Who is in the way of an agent's start says so before anything is begun.
    if isTold { _ = try access.connect() }
    let (reader, channel) = System.partRelay()
    guard reader >= 0 else { throw .client(.system(-reader)) }
    var plan = plan
    var values = values
    guard reader == 0 else {
      try plan.send(values, to: channel)
      values.removeAll()
      return plan.standIn(reader, channel)
    }
    try plan.receive(&values, from: channel)
    let messages = invocation.messages
    let set = try plan.needles(values, messages)
    var door: RoomDoor?
    if let room { door = try RoomDoor.open(room, access, besides: plan.taken) }
    door?.announce(messages)
    var relay = kura_relay()
    let process = System.startRelay(&relay, starter: channel, isRoom: room != nil)
    guard process >= 0 else { throw .client(.system(-process)) }
    guard process > 0 else { throw try become(plan, door, relay, invocation.arguments) }
    let source = try NeedleSource.begin(isTold ? access : nil, &relay)
    var command = try MaskedCommand(relay, set, source, door, messages)
    // Its files are there for as long as it is.
    defer { extendLifetime(plan) }
    do throws(CommandError) {
      try command.order(try plan.environment(values, of: process))
      values.removeAll()
      let status = try command.pass()
      System.endRelay(&command.relay)
      return status
    } catch {
      System.endRelay(&command.relay)
      throw error
    }
  }

  private init(
    _ relay: kura_relay, _ set: consuming NeedleSet, _ source: consuming NeedleSource,
    _ door: RoomDoor?, _ messages: Messages
  ) throws(CommandError) {
    let input = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: MaskedStream.step)
    }
    let output = try MaskedStream(1, messages)
    let errors = try MaskedStream(2, messages)
    self.input = input
    self.output = output
    self.errors = errors
    self.relay = relay
    self.set = set
    self.source = source
    self.door = door
    self.messages = messages
  }
}

// MARK: - Orders

extension MaskedCommand {
  /// Gives the command its variables.
  private mutating func order(_ block: consuming SecretBuffer) throws(CommandError) {
    var block = block
    try allocating { () throws(SecureMemoryError) in try block.append(MaskedCommand.end) }
    // One that has ended already tells of it by its status.
    do throws(FileError) { try Descriptor.write(block.bytes, to: relay.orders) } catch {}
    System.endRelayOrders(&relay)
  }

  /// Becomes the command once its variables are there.
  ///
  /// - Returns: Only when that fails: why.
  private static func become(
    _ plan: borrowing LaunchPlan, _ door: RoomDoor?, _ relay: kura_relay,
    _ arguments: Arguments
  ) throws(CommandError) -> CommandError {
    var block: SecretBuffer
    do throws(FileError) { block = try Descriptor.readAll(relay.orders, limit: .max - 1) } catch {
      return .client(.system(error.errno))
    }
    // Without an end they are none: whoever gives them says why.
    let last = block.count - 1
    guard last >= 0, block.bytes[last] == end else { kura_clip_leave() }
    block.removeLast(1)
    guard let door else { return try plan.launch(arguments, block) }
    return try plan.launch(arguments, block, through: door, isApart: relay.terminal < 0)
  }
}

// MARK: - Passing on

extension MaskedCommand {
  private mutating func pass() throws(CommandError) -> ExitStatus {
    while !relay.has_ended || relay.output >= 0 || relay.errors >= 0 {
      var found = System.awaitRelay(&relay, patience: patience)
      if source.isLost { source.comeBack(&relay) }
      if found == 0 { try release() }
      try take(found)
      if found & Int32(KURA_RELAY_STOPPED) != 0 {
        found |= try takeRest()
        System.stopRelay(&relay)
      }
      if found & Int32(KURA_RELAY_ENDED) != 0 {
        _ = try takeRest()
        try sayLast()
        guard !output.hasFailed, !errors.hasFailed else { return .runFailed }
        System.tellRelay(&relay)
      }
    }
    return .ok
  }

  private var patience: Int32 {
    if output.isWaiting || errors.isWaiting { return Self.patience }
    return source.isLost ? NeedleSource.patience : -1
  }

  /// - Returns: How many bytes were read.
  @discardableResult
  private mutating func take(_ found: Int32) throws(CommandError) -> Int {
    if found & Int32(KURA_RELAY_NEEDLE) != 0 { source.take(into: &set, &relay) }
    var count = 0
    if found & Int32(KURA_RELAY_OUTPUT) != 0,
      let read = try output.read(relay, set, through: &input)
    {
      sendOutput()
      if read == 0, !relay.is_merged || isCertain {
        if relay.is_merged { try sayLast() }
        output.close(&relay)
      }
      count += read
    }
    if found & Int32(KURA_RELAY_ERRORS) != 0,
      let read = try errors.read(relay, set, through: &input)
    {
      sendErrors()
      if read == 0, isCertain {
        try sayLast()
        errors.close(&relay)
      }
      count += read
    }
    return count
  }

  /// Whether it is known that the command was started, or why not: until then messages are to be read.
  private var isCertain: Bool { relay.has_ended || door?.stands() ?? true }

  /// Says how many values are not looked for, and what is to be said of a room, while messages are still read.
  private mutating func sayLast() throws(CommandError) {
    guard source.hasLeftOut || door != nil else { return }
    System.leaveRelay(&relay)
    source.sayLeftOut(messages)
    // What a signal has ended says nothing of rooms.
    if relay.has_ended, relay.status & 0x7F == 0, door?.stands() == false {
      throw RoomGround().failure
    }
    door?.sayMade(messages)
  }

  private mutating func release() throws(CommandError) {
    try output.release(set)
    sendOutput()
    try errors.release(set)
    sendErrors()
  }

  private mutating func sendOutput() {
    while !output.send(&relay) { source.take(into: &set, &relay) }
  }

  private mutating func sendErrors() {
    while !errors.send(&relay) { source.take(into: &set, &relay) }
  }

  /// Takes what was written before the command stopped or ended; others may hold its streams, and write for ever.
  ///
  /// - Returns: What happened meanwhile.
  private mutating func takeRest() throws(CommandError) -> Int32 {
    let streams = Int32(KURA_RELAY_OUTPUT | KURA_RELAY_ERRORS)
    var (left, happened) = (Self.mostLeft, Int32(0))
    while left > 0 {
      let found = System.awaitRelay(&relay, patience: 0)
      happened |= found & ~(streams | Int32(KURA_RELAY_NEEDLE))
      guard found & (streams | Int32(KURA_RELAY_NEEDLE)) != 0 else { break }
      left -= try take(found)
    }
    try release()
    return happened
  }
}
