// SPDX-License-Identifier: MIT

public import KuraProtocol
internal import SecureMemory

/// Tells why a conversation with the agent did not end with an answer that says yes.
public enum ClientError: Error, Equatable, Sendable {
  /// Nobody listens; nothing was sent. The vault is as good as locked.
  case noAgent
  /// `kura-agent` was not found in this directory, nor where it is installed.
  case agentMissing(directory: String)
  /// The agent that was started did not come up: its exit status and what it said.
  case agentFailed(status: Int32, text: String)
  /// The socket's directory is not the user's alone, or somebody else listens there.
  case agentUnsafe(directory: String)
  /// The agent speaks another version of the protocol.
  case otherVersion(version: UInt16, release: String)
  /// The connection ended before the answer came.
  case hungUp
  /// The agent did not answer in time.
  case timedOut
  /// What came was no protocol.
  case broken(ProtocolError)
  /// The agent refused.
  case refused(Refusal)
  /// Where the socket is cannot be told.
  case path(PathError)
  /// Writing a value failed: errno.
  case output(Int32)
  /// Reading a value failed: errno.
  case input(Int32)
  /// A name, passcode or attribute is longer than a message can hold.
  case tooLong(limit: Int)
  /// A callback said no; nothing was kept.
  case stopped
  /// No guarded memory was left.
  case outOfMemory
  /// The socket in this directory cannot be reached: errno.
  case agentUnreachable(directory: String, errno: Int32)
  /// This program could not be started: errno.
  case programUnstartable(path: String, errno: Int32)
  /// A system call failed: errno.
  case system(Int32)

  /// The status a command ends with.
  public var exitStatus: ExitStatus {
    switch self {
    case .noAgent: .locked
    case .agentMissing, .agentFailed, .agentUnsafe, .otherVersion, .hungUp, .broken: .agent
    case .timedOut: .busy
    case .refused(let refused): refused.failure.exitStatus
    case .output, .input, .agentUnreachable, .programUnstartable, .system: .inputOutput
    case .path, .tooLong: .usage
    case .stopped: .cancelled
    case .outOfMemory: .failure
    }
  }
}

// MARK: - Translation

extension ClientError {
  /// Writing a message failed: by what was to be said, or for want of memory.
  init(writing error: ProtocolError) {
    switch error {
    case .fieldTooLong(let limit): self = .tooLong(limit: limit)
    case .frameLength: self = .tooLong(limit: ProtocolLimit.frame)
    case .outOfMemory: self = .outOfMemory
    case .frameType, .truncated, .trailingBytes, .notKura, .unknownVerb, .fieldValue:
      self = .broken(error)
    }
  }
}

/// Does what the other modules do, with this module's errors.
func reading<Value: ~Copyable>(
  _ body: () throws(ProtocolError) -> Value
) throws(ClientError) -> Value {
  do throws(ProtocolError) { return try body() } catch { throw .broken(error) }
}

func allocating<Value: ~Copyable>(
  _ body: () throws(SecureMemoryError) -> Value
) throws(ClientError) -> Value {
  do throws(SecureMemoryError) { return try body() } catch { throw .outOfMemory }
}

/// Reads what a reply's payload says beside yes.
@_lifetime(copy payload)
func replied<Answer: Message & ~Escapable>(_ payload: Span<UInt8>) throws(ClientError) -> Answer {
  do throws(ProtocolError) { return try Answer(reply: payload) } catch { throw .broken(error) }
}
