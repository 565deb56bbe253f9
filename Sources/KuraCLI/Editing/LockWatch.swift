// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Hears of the lock of a vault, to cover what came from it.
struct LockWatch: ~Copyable {
  /// nil: nobody tells.
  private var connection: Connection?

  /// Begins to listen. A private engine locks at the command's end; an agent that cannot tell is not waited for.
  static func begin(_ access: VaultAccess) -> LockWatch {
    guard !access.isPrivate else { return LockWatch(nil) }
    // Where none is running, no key is held: what is heard first is that.
    guard let connection = try? listening(access) else { return LockWatch(nil) }
    return LockWatch(connection)
  }

  private static func listening(_ access: VaultAccess) throws(CommandError) -> Connection {
    var connection = try access.connect()
    try running { () throws(ClientError) in
      _ = try connection.agentStatus()
      try connection.beginWatch()
    }
    return connection
  }

  /// Has something to read when ``isLocked()`` knows more; -1: never.
  private(set) var descriptor: Int32 = -1

  private init(_ connection: consuming Connection?) {
    if let connection = consume connection {
      descriptor = connection.watched
      self.connection = consume connection
    } else {
      self.connection = nil
    }
  }

  /// Whether what is to be read is that the vault was locked: an agent that is gone has its keys no more.
  mutating func isLocked() -> Bool {
    descriptor = -1
    guard var connection = connection.take() else { return false }
    do throws(ClientError) { try connection.endWatch() } catch {
      if case .refused(let refused) = error { return refused.failure == .locked }
      return error == .noAgent || error == .hungUp
    }
    return false
  }
}
