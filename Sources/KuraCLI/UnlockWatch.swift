// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Watches for an unlock by somebody else while a question stands, so that one answer serves all
/// who ask.
struct UnlockWatch: ~Copyable {
  private var connection: Connection?

  /// What to poll; -1 where nothing is watched.
  private(set) var descriptor: Int32 = -1

  /// Begins to watch a vault; without an agent that stays there is nothing to be seen.
  init(_ access: VaultAccess?) {
    connection = nil
    guard let access, !access.isPrivate else { return }
    guard var connection = try? access.connectRunning(), Self.begin(&connection) else { return }
    descriptor = connection.watched
    self.connection = consume connection
  }

  /// Whether the vault has been unlocked, asked when ``descriptor`` has something to read. If not,
  /// nothing is watched any more.
  mutating func hasSeenUnlock() -> Bool {
    descriptor = -1
    guard var connection = connection.take() else { return false }
    do throws(ClientError) { try connection.endWait() } catch { return false }
    return true
  }

  private static func begin(_ connection: inout Connection) -> Bool {
    do throws(ClientError) {
      _ = try connection.status()
      try connection.beginWait(milliseconds: UInt64(Int32.max))
    } catch { return false }
    return true
  }
}
