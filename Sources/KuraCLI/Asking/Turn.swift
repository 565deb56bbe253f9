// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Plays a command's part in the prompt for its vault: it asks, or waits for the one who does. Its
/// end gives the turn away.
struct Turn: ~Copyable, PromptWatch {
  /// Keys are reported at most that often, in ms.
  private static let touchInterval: UInt64 = 5_000

  private var connection: Connection
  /// Whether the agent keeps turns; an older one does not, nor one where too many wait.
  private let isKept: Bool
  private(set) var state: PromptTurn
  /// What ended the conversation while the command was being continued.
  private var failure: ClientError?
  /// Whether the newest is known, though nobody has asked for it.
  private var isUpdated = false
  private var nextTouch: UInt64 = 0

  private init(_ connection: consuming Connection, isKept: Bool, _ state: PromptTurn) {
    self.connection = connection
    self.isKept = isKept
    self.state = state
  }

  /// Asks the agent for the turn.
  static func begin(
    _ connection: consuming Connection, at place: String, seesKeys: Bool
  ) throws(CommandError) -> Turn {
    do throws(ClientError) {
      let state = try connection.beginPrompt(at: place, seesKeys: seesKeys)
      return Turn(connection, isKept: true, state)
    } catch {
      // Many who wait keep nobody from a prompt who sits at a terminal.
      guard case .refused(let refused) = error,
        refused.failure == .unsupported
          || seesKeys && (refused == .tooBusy || refused == .busy)
      else { throw .client(error) }
    }
    return Turn(connection, isKept: false, .ours)
  }

  /// Asks the agent something in this command's turn, which may be found to be over meanwhile.
  mutating func conversing<Value, Failure: Error>(
    _ body: (inout Connection) throws(Failure) -> Value
  ) throws(Failure) -> Value {
    defer {
      if connection.hasTurnNews { note() }
    }
    return try body(&connection)
  }

  private mutating func note() {
    do throws(ClientError) { state = try connection.nextTurn() } catch { failure = error }
    isUpdated = true
  }

  /// Gives the connection back when the vault is unlocked.
  consuming func finish() -> Connection { connection }
}

// MARK: - News

extension Turn {
  var descriptor: Int32 { isKept ? connection.watched : -1 }

  var isOver: Bool { isUpdated && state != .ours }

  /// Whether there are news to be read by ``update()``.
  var hasNews: Bool { kura_terminal_await(descriptor, 0) }

  /// Waits until there are news.
  func awaitNews() { while !kura_terminal_await(descriptor, Int32.max) {} }

  /// Reads whose turn it is now.
  mutating func update() throws(CommandError) {
    if let failure { throw .client(failure) }
    if isUpdated {
      isUpdated = false
      return
    }
    state = try running { () throws(ClientError) in try connection.nextTurn() }
  }
}

// MARK: - Words

extension Turn {
  /// Wants to be asked here.
  mutating func take() { say(.take) }

  /// Answers all who wait, when this command's person has cancelled.
  mutating func end(with error: CommandError) {
    if case .askpass = error { return say(.cancel) }
    if error == .prompt(.interrupted) || error == .prompt(.cancelled) { say(.cancel) }
  }

  mutating func noteKey() {
    let now = Clock.boot()
    guard now >= nextTouch else { return }
    nextTouch = now + Self.touchInterval
    say(.touched)
  }

  mutating func stepAside() { say(.aside) }

  mutating func comeBack() -> Bool {
    guard isKept else { return true }
    say(.take)
    do throws(ClientError) {
      repeat { state = try connection.nextTurn() } while state != .ours && state != .unlocked
    } catch { failure = error }
    isUpdated = failure != nil || state != .ours
    return !isUpdated
  }

  /// An agent that is gone is found out when its news are read.
  private mutating func say(_ word: PromptWord) {
    guard isKept else { return }
    do throws(ClientError) { try connection.say(word) } catch {}
  }
}
