// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Runs a command for an MCP client: in a room, masked, with nothing of a terminal; and keeps the beginning of what it says.
struct MCPRun: ~Copyable {
  /// The most that is kept of it.
  static let longest = 65_536

  private let child: kura_child
  private(set) var said: [UInt8] = []
  /// How many bytes were not kept.
  private(set) var dropped = 0
  private var status: Int32?

  /// Starts it.
  ///
  /// - Parameter words: What stands behind `kura`.
  init(_ words: [String]) throws(CommandError) {
    guard let path = try? System.programPath(), let own = String(validating: path, as: UTF8.self),
      let child = System.startHeard(own, ["kura"] + words)
    else {
      throw .failure(
        "the command could not be started", hint: "see whether 'kura run -- true' starts",
        .inputOutput)
    }
    self.child = child
  }

  deinit {
    kura_socket_close(child.descriptor)
    if status == nil { kura_end_asked(child.process) }
  }

  /// Says what came next.
  enum Step {
    case said, ended
    /// The client has something to say.
    case client
  }

  /// Waits for it, or for the client.
  mutating func step() -> Step {
    var bytes: [4_096 of UInt8] = .init(repeating: 0)
    var room = bytes.mutableSpan
    let count = System.readAsked(child.descriptor, into: &room, patience: -1, other: 0)
    guard count != Int(KURA_ASKED_OTHER) else { return .client }
    guard count > 0 else { return .ended }
    let kept = min(count, Self.longest - said.count)
    for index in 0..<kept { said.append(room[index]) }
    dropped += count - kept
    return .said
  }

  /// Waits for its end, which has begun.
  mutating func end() -> Int32 {
    let status = kura_child_wait(child.process, Int32.max)
    self.status = status
    return status
  }
}
