// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Runs a command, and passes what it writes on with names in the place of the values that it was given.
struct MaskedCommand: ~Copyable {
  /// How long a beginning of a value is held back that may be a question, in ms.
  private static let patience: Int32 = 50
  /// What a command can have left in a pipe when it ends.
  private static let mostLeft = 2 << 20
  /// Stands behind the last order.
  private static let end = UInt8(ascii: "!")

  private var relay: kura_relay
  private let set: NeedleSet
  private var output: MaskedStream
  private var errors: MaskedStream
  private var input: SecretBuffer

  /// Runs it.
  ///
  /// - Parameters:
  ///   - plan: What it is given.
  ///   - values: Those of ``LaunchPlan/read(_:)``.
  ///   - invocation: The words of the command.
  /// - Returns: In the process that has read what the command wrote; the one that was called ends as the command does.
  static func run(
    _ plan: consuming LaunchPlan, _ values: consuming PlaceholderValues,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
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
    var relay = kura_relay()
    let process = System.startRelay(&relay, starter: channel)
    guard process >= 0 else { throw .client(.system(-process)) }
    guard process > 0 else { throw try become(plan, relay.orders, invocation.arguments) }
    var command = try MaskedCommand(
      relay, set, try MaskedStream(1, messages), try MaskedStream(2, messages))
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
    _ relay: kura_relay, _ set: consuming NeedleSet, _ output: consuming MaskedStream,
    _ errors: consuming MaskedStream
  ) throws(CommandError) {
    input = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: MaskedStream.step)
    }
    self.relay = relay
    self.set = set
    self.output = output
    self.errors = errors
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
    _ plan: borrowing LaunchPlan, _ orders: Int32, _ arguments: Arguments
  ) throws(CommandError) -> CommandError {
    var block: SecretBuffer
    do throws(FileError) { block = try Descriptor.readAll(orders, limit: .max - 1) } catch {
      return .client(.system(error.errno))
    }
    // Without an end they are none: whoever gives them says why.
    let last = block.count - 1
    guard last >= 0, block.bytes[last] == end else { kura_clip_leave() }
    block.removeLast(1)
    return try plan.launch(arguments, block)
  }
}

// MARK: - Passing on

extension MaskedCommand {
  private mutating func pass() throws(CommandError) -> ExitStatus {
    while !relay.has_ended || relay.output >= 0 || relay.errors >= 0 {
      let isWaiting = output.isWaiting || errors.isWaiting
      var found = System.awaitRelay(&relay, patience: isWaiting ? Self.patience : -1)
      if found == 0 {
        try output.release(&relay, set)
        try errors.release(&relay, set)
      }
      _ = try take(found)
      if found & Int32(KURA_RELAY_STOPPED) != 0 {
        found |= try takeRest()
        System.stopRelay(&relay)
      }
      if found & Int32(KURA_RELAY_ENDED) != 0 {
        _ = try takeRest()
        guard !output.hasFailed, !errors.hasFailed else { return .runFailed }
        System.tellRelay(&relay)
      }
    }
    return .ok
  }

  private mutating func take(_ found: Int32) throws(CommandError) -> Int {
    var count = 0
    if found & Int32(KURA_RELAY_OUTPUT) != 0 {
      count += try output.take(&relay, set, through: &input)
    }
    if found & Int32(KURA_RELAY_ERRORS) != 0 {
      count += try errors.take(&relay, set, through: &input)
    }
    return count
  }

  /// Takes what was written before the command stopped or ended; others may hold its streams, and write for ever.
  ///
  /// - Returns: What happened meanwhile.
  private mutating func takeRest() throws(CommandError) -> Int32 {
    let streams = Int32(KURA_RELAY_OUTPUT | KURA_RELAY_ERRORS)
    var (left, happened) = (Self.mostLeft, Int32(0))
    while left > 0 {
      let found = System.awaitRelay(&relay, patience: 0)
      happened |= found & ~streams
      guard found & streams != 0 else { break }
      left -= try take(found)
    }
    try output.release(&relay, set)
    try errors.release(&relay, set)
    return happened
  }
}
