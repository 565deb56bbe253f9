// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Hears of the lock of a vault, to cover what came from it.
struct LockWatch: ~Copyable {
  /// nil: nobody tells.
  private var connection: Connection?

  /// Begins to listen. A private engine locks at the command's end: nobody tells of that.
  ///
  /// - Throws: Where nobody would tell of a lock, so that nothing may be shown; where it is locked.
  static func begin(_ access: VaultAccess) throws(CommandError) -> LockWatch {
    guard !access.isPrivate else { return LockWatch(nil) }
    var connection = try access.connect()
    do throws(ClientError) { try connection.beginWatch() } catch { throw words(.client(error)) }
    return LockWatch(connection)
  }

  /// The same, after an unlock where it is locked.
  static func beginUnlocked(_ access: VaultAccess) throws(CommandError) -> LockWatch {
    guard !access.isPrivate else { return LockWatch(nil) }
    var held = Held()
    do throws(CommandError) {
      try access.unlocked(holding: &held) { connection throws(ClientError) in
        try connection.beginWatch()
      }
    } catch { throw words(error) }
    return LockWatch(held.connection.take())
  }

  private static func words(_ error: CommandError) -> CommandError {
    let isBusy = error == .client(.refused(.tooBusy)) || error == .client(.refused(.busy))
    return isBusy ? unheard : error
  }

  /// Why nothing is shown where too many wait for a lock.
  static var unheard: CommandError {
    .failure(
      "nobody can tell of a lock just now, and so nothing is shown",
      hint:
        "too many programs wait for one: end some of those that run 'kura watch', then try again",
      .busy)
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
