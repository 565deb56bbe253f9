// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Sends a reply slice by slice.
protocol Stream: AnyObject {
  /// The vault it reads; its lock ends the stream.
  var session: Session { get }

  /// Whether it serves a value, and so counts as use for the idle clock.
  var isUse: Bool { get }

  /// Whether it changes the vault.
  var isChange: Bool { get }

  /// Whether one large value is on its way.
  var isLongValue: Bool { get }

  /// When it goes on, on the monotonic clock; 0: at once.
  var due: UInt64 { get }

  /// Writes or sends the next frames, at most some 512 KiB and some milliseconds of them.
  ///
  /// Called when the client has taken all that was written before, so that a slow client costs no
  /// memory.
  ///
  /// - Returns: Whether there is more; the end frame is written when there is not.
  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool

  /// Takes note of the end that was told.
  func end(in agent: Agent, for client: Connection)
}

extension Stream {
  var isChange: Bool { false }
  var isLongValue: Bool { false }
  var due: UInt64 { 0 }
  func end(in agent: Agent, for client: Connection) {}
}

/// Writes a message as part of work on a vault; what can fail is memory.
func write<Result: ~Copyable>(
  _ body: () throws(ProtocolError) -> Result
) throws(VaultError) -> Result {
  do throws(ProtocolError) { return try body() } catch {
    throw error == .outOfMemory ? .outOfMemory : .tooLarge
  }
}

/// Reads or writes a message as part of serving a request.
func wire<Result: ~Copyable>(
  _ body: () throws(ProtocolError) -> Result
) throws(Refusal) -> Result {
  do throws(ProtocolError) { return try body() } catch { throw Refusal(message: error) }
}
