// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// What a client has under way beyond a single request and its reply.
protocol Errand: AnyObject {
  /// The vault it is about, whose lock ends it; nil when it needs none of its keys.
  var session: Session? { get }
}

/// A reply that is sent slice by slice.
protocol Stream: AnyObject {
  /// The vault it reads; its lock ends the stream.
  var session: Session { get }

  /// Whether it serves a value, and so counts as use for the idle clock.
  var isUse: Bool { get }

  /// Whether it changes the vault.
  var isChange: Bool { get }

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
}

extension Stream {
  var isChange: Bool { false }
  var due: UInt64 { 0 }
}

/// Waits until the vault is unlocked by somebody else.
final class Wait: Errand {
  let session: Session? = nil
  /// When it is refused, on the monotonic clock.
  let deadline: UInt64

  init(deadline: UInt64) { self.deadline = deadline }
}

/// Waits until the vault is locked, which answers it.
final class Watch: Errand {
  let session: Session?

  init(_ session: Session) { self.session = session }
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
) throws(Denial) -> Result {
  do throws(ProtocolError) { return try body() } catch { throw Denial(message: error) }
}
