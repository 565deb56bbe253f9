// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol
internal import SecureMemory

/// Sends and receives frames over a connected descriptor, both ways in guarded memory.
@safe
struct Channel: ~Copyable {
  private let descriptor: Int32
  /// The engine to wait for at the end, or 0.
  private let process: Int32
  /// What the next ``send(_:)`` sends.
  var output: SecretBuffer
  private var input: SecretBuffer
  /// Where in the input the frame handed out last begins, and how many bytes it has.
  private var start = 0
  private var taken = 0
  /// The agent does not listen any more, but may have said why.
  private var isCut = false
  /// Whether nothing was sent yet.
  private var isNew = true
  /// How long the agent may keep this client waiting.
  var patience: Patience

  /// Takes over a connected descriptor.
  static func make(
    descriptor: Int32, process: Int32 = 0, patience: Patience = .standard
  ) throws(ClientError) -> Channel {
    do throws(SecureMemoryError) {
      let output = try SecretBuffer(capacity: 1_024)
      // All of it in the first page, for most commands need no second.
      let input = try SecretBuffer(capacity: 2_048)
      return Channel(
        descriptor: descriptor, process: process, output: output, input: input, patience: patience)
    } catch {
      kura_socket_close(descriptor)
      throw .outOfMemory
    }
  }

  private init(
    descriptor: Int32, process: Int32, output: consuming SecretBuffer,
    input: consuming SecretBuffer, patience: Patience
  ) {
    self.descriptor = descriptor
    self.process = process
    self.output = output
    self.input = input
    self.patience = patience
  }

  /// Closes the descriptor, and waits for the engine at its other end if it is our own.
  ///
  /// No deinit: Embedded Swift sees those of public types only, so ``Connection`` has it.
  func end() {
    kura_socket_close(descriptor)
    if process != 0 { _ = kura_child_wait(process, patience.process) }
  }

  /// What was received: the frame handed out last stands at its beginning.
  var received: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { input.bytes.extracting(droppingFirst: start) }
  }

  /// What a poll(2) watches for the agent's next word.
  var watched: Int32 { descriptor }

  /// Whether the agent has said something that was not yet read.
  var hasNews: Bool { isAhead || kura_socket_is_readable(descriptor) == 1 }

  /// Whether more was received than the frame handed out last: no poll(2) tells of that.
  var isAhead: Bool { input.count > start + taken }
}

// MARK: - Sending

extension Channel {
  /// Lets the socket take several pieces of a value, so that both sides work at once.
  func widen() { kura_socket_widen(descriptor) }

  /// Sends messages, as one write where the socket takes it; what was to go before them does.
  ///
  /// - Parameter write: Writes them at the output's end.
  mutating func send(
    _ write: (inout SecretBuffer) throws(ProtocolError) -> Void = { _ in }
  ) throws(ClientError) {
    let start = output.count
    do throws(ProtocolError) { try write(&output) } catch {
      output.removeLast(output.count - start)
      throw ClientError(writing: error)
    }
    var sent = 0
    while sent < output.count, !isCut {
      let count = sendOutput(from: sent)
      switch count {
      case 0...:
        sent += count
        isNew = false
      case Int(-EPIPE), Int(-ECONNRESET): isCut = true
      case Int(-ETIMEDOUT): throw .timedOut
      default: throw .system(Int32(-count))
      }
    }
    output.removeAll()
  }

  private func sendOutput(from start: Int) -> Int {
    let left = output.bytes.extracting(droppingFirst: start)
    return isNew
      ? System.sendFirst(left, to: descriptor, patience: patience.stream)
      : System.send(left, to: descriptor, patience: patience.stream)
  }
}

// MARK: - Receiving

extension Channel {
  /// The next frame; positions in its payload are positions in ``received``.
  ///
  /// - Parameter patience: How long to wait for each part of it, in ms.
  mutating func next(patience: Int32) throws(ClientError) -> Frame {
    start += taken
    taken = 0
    while true {
      let frame: Frame?
      do throws(ProtocolError) {
        frame = try Frame.next(in: received, sentBy: .agent)
      } catch { throw .broken(error) }
      if let frame {
        taken = frame.byteCount
        return frame
      }
      // What was handed out is wiped, and what has begun moves to the front.
      input.removeFirst(start)
      start = 0
      try receive(patience)
    }
  }

  /// Receives what there is, at least one byte.
  private mutating func receive(_ patience: Int32) throws(ClientError) {
    let room = try roomWanted()
    do throws(SecureMemoryError) { try input.reserve(room) } catch { throw .outOfMemory }
    let descriptor = descriptor
    let limit = input.capacity - input.count
    var failure = 0
    let count = input.append(upTo: limit) { (tail: inout MutableSpan<UInt8>) -> Int in
      let count = System.receive(descriptor, into: &tail, patience: patience)
      failure = min(count, 0)
      return max(count, 0)
    }
    guard count == 0 else { return }
    switch failure {
    case 0, Int(-ECONNRESET), Int(-EPIPE): throw .hungUp
    case Int(-ETIMEDOUT): throw .timedOut
    default: throw .system(Int32(-failure))
    }
  }

  /// The room that the next bytes need: for the rest of a frame whose beginning is there, and for the
  /// frames behind a large one.
  private func roomWanted() throws(ClientError) -> Int {
    do throws(ProtocolError) {
      let header = try FrameHeader(input.bytes, sentBy: .agent)
      let count = header?.byteCount ?? 0
      let room = count > ProtocolLimit.chunk ? max(count, Self.streamRoom) : count
      return max(room - input.count, 1)
    } catch { throw .broken(error) }
  }

  /// Some pieces of a value with their heads.
  private static let streamRoom = 4 * (ProtocolLimit.chunk + 64)
}
