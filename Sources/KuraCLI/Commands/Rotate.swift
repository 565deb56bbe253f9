// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura rotate`: seals everything in the vault again, under a new data key.
enum Rotate {
  static let command = Command(
    "rotate", abstract: "seal everything again under a new data key",
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let messages = invocation.messages
    let access = try invocation.access()
    var (isBegun, vault): (Bool, [UInt8]) = (false, [])
    do throws(CommandError) {
      try access.unlocked { connection throws(ClientError) in
        isBegun = true
        do throws(ClientError) { try rotate(&connection, messages) } catch {
          isBegun = LockFacts(error) == nil && error != .noAgent
          throw error
        }
        vault = (try? connection.status())?.vault ?? []
      }
    } catch {
      guard isBegun, case .client(let error) = error else { throw error }
      throw Lost.rotation.from(error)
    }
    messages.note(done)
    Sync.tellOfRotation(vault, messages)
    return .ok
  }

  /// The same after a change of the passcode. A vault that is locked stays so: an engine of this
  /// command's own unlocks it by the new passcode.
  static func run(
    after passcode: borrowing SecretBytes, _ access: VaultAccess,
    _ connection: consuming Connection, _ messages: Messages
  ) throws(CommandError) {
    var connection = connection
    do throws(ClientError) {
      if try connection.status().state != .unlocked {
        connection = try Connection.open(access.vault, engine: .own)
        _ = try connection.unlock(.passcode, secret: passcode)
      }
      try rotate(&connection, messages)
    } catch {
      messages.note("the passcode is changed; 'kura rotate' goes on from where this ends")
      throw Lost.rotation.from(error)
    }
    messages.note(done)
    Sync.tellOfRotation((try? connection.status())?.vault ?? [], messages)
  }

  private static let done = "everything is sealed under a new data key"

  private static func rotate(
    _ connection: inout Connection, _ messages: Messages
  ) throws(ClientError) {
    var bar = ProgressBar("rotating", messages)
    Lost.rotation.announceAtInterrupt(messages)
    defer {
      bar.clear()
      Lost.rotation.withdraw(messages)
    }
    try connection.rotate { bar.show($0) }
  }
}
