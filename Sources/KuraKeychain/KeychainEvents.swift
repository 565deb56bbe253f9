// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraClient
internal import KuraProtocol

extension Keychain {
  /// Tells what became of the vault.
  public enum State: Equatable, Sendable {
    case unlocked
    /// Why, in the words of `kura status`; nil: it is not known, or it was not unlocked yet.
    case locked(because: String?)
  }

  /// The vault's state, now and whenever it changes: what a published property is to an app.
  ///
  /// It costs a connection and a thread that waits; both end with the loop over it, or its task. An agent that ended
  /// is looked for twice a second.
  public func observe() -> AsyncStream<State> {
    let (stream, continuation) = AsyncStream.makeStream(of: State.self)
    var pair: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard unsafe socketpair(AF_UNIX, kind, 0, &pair) == 0 else {
      continuation.finish()
      return stream
    }
    let (end, held) = (pair[0], pair[1])
    continuation.onTermination = { _ in close(held) }
    let observer = Observer(keychain: self, continuation: continuation, end: end)
    if !Aside.begin({ observer.run() }) {
      close(end)
      continuation.finish()
    }
    return stream
  }
}

/// Waits for locks and unlocks until nobody listens any more.
private struct Observer {
  let keychain: Keychain
  let continuation: AsyncStream<Keychain.State>.Continuation
  /// Hung up when nobody listens.
  let end: Int32

  func run() {
    var told: Keychain.State?
    while !isOver(after: 0) {
      do throws(ClientError) {
        var connection = try keychain.connection()
        while !isOver(after: 0) {
          let report = try connection.status()
          let isUnlocked = report.state == .unlocked
          let state =
            isUnlocked ? .unlocked : Keychain.State.locked(because: report.lockReason?.text)
          tell(state, &told)
          guard try awaitChange(isUnlocked, &connection) else { break }
        }
      } catch {
        // Who held the key is gone.
        if told == .unlocked || told == nil { tell(.locked(because: nil), &told) }
        _ = isOver(after: 500)
      }
    }
    close(end)
  }

  private func tell(_ state: Keychain.State, _ told: inout Keychain.State?) {
    if state != told { continuation.yield(state) }
    told = state
  }

  /// Whether it may be otherwise; false: nobody listens any more.
  private func awaitChange(
    _ isUnlocked: Bool, _ connection: inout Connection
  ) throws(ClientError) -> Bool {
    do throws(ClientError) {
      if isUnlocked {
        try connection.beginWatch()
      } else {
        try connection.beginWait(milliseconds: 86_400_000)
      }
      return try isToGoOn(isUnlocked, &connection)
    } catch {
      guard KeychainError(error) == .locked, error != .noAgent else { throw error }
      return true
    }
  }

  private func isToGoOn(
    _ isUnlocked: Bool, _ connection: inout Connection
  ) throws(ClientError) -> Bool {
    var descriptors = [
      pollfd(fd: connection.watched, events: Int16(POLLIN), revents: 0),
      pollfd(fd: end, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&descriptors, 2, -1) < 0 {}
    guard descriptors[1].revents == 0 else { return false }
    if isUnlocked { try connection.endWatch() } else { try connection.endWait() }
    return true
  }

  private func isOver(after milliseconds: Int32) -> Bool {
    var descriptor = pollfd(fd: end, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&descriptor, 1, milliseconds) > 0
  }
}
