// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Hears from the agent of each value that a program below this process is handed, before it is.
struct NeedleSource: ~Copyable {
  /// How long to wait before an agent is looked for again, in ms.
  static let patience: Int32 = 100
  /// How long one that is there may take to answer then, in ms.
  private static let answer: Int32 = 500

  /// nil: nobody tells.
  private let access: VaultAccess?
  private var connection: Connection?
  private var short = 0
  private var long = 0

  private init(_ access: VaultAccess?, _ connection: consuming Connection?) {
    self.access = access
    self.connection = connection
  }

  /// Begins to listen.
  ///
  /// - Parameter access: Where the agent is; nil: nobody is to be told.
  static func begin(
    _ access: VaultAccess?, _ relay: inout kura_relay
  ) throws(CommandError) -> NeedleSource {
    // A private engine ends with its command, and hands nothing to others.
    guard let access, !access.isPrivate else { return NeedleSource(nil, nil) }
    guard var connection = try access.connectRunning() else { throw .client(.noAgent) }
    do throws(ClientError) { try connection.beginMask() } catch { throw words(error) }
    relay.agent = connection.watched
    return NeedleSource(access, connection)
  }

  private static func words(_ error: ClientError) -> CommandError {
    guard case .refused(let refused) = error else { return .client(error) }
    if refused.failure == .tooBusy {
      return .failure(
        "as many runs are masked already as can be", hint: "end one of them, then try again", .busy)
    }
    guard refused.failure == .unsupported else { return .client(error) }
    return .failure(
      "the agent does not tell this run of the values that its commands are handed",
      hint:
        "it is of an older release, or in another container: 'kura agent stop' ends an older one",
      .agent)
  }

  /// Whether an agent would tell, and none does.
  var isLost: Bool {
    guard access != nil else { return false }
    return connection == nil
  }

  /// Listens to the agent that has come after the one that ended, where there is one.
  mutating func comeBack(_ relay: inout kura_relay) {
    guard let access, var next = try? access.connectRunning() else { return }
    next.limit(milliseconds: Self.answer)
    guard (try? next.beginMask()) != nil else { return }
    relay.agent = next.watched
    connection = consume next
  }

  /// Takes all that is told of, and says of each whether it will be found.
  mutating func take(into set: inout NeedleSet, _ relay: inout kura_relay) {
    guard var connection = connection.take() else { return }
    var told: [NeedleWord] = []
    do throws(ClientError) {
      while connection.hasNeedle {
        var isTaken = false
        let number = try connection.nextNeedle { needle throws(ClientError) in
          isTaken = add(needle, to: &set)
        }
        told.append(NeedleWord(number, isTaken: isTaken))
      }
      set.finish()
      for word in told { try connection.say(word) }
    } catch {
      set.finish()
      relay.agent = -1
      return
    }
    self.connection = consume connection
  }

  private mutating func add(_ needle: borrowing Needle, to set: inout NeedleSet) -> Bool {
    if needle.size < UInt64(Needle.shortest) {
      short += 1
    } else if needle.size > UInt64(Needle.longest) {
      long += 1
    } else {
      return (try? set.add(needle.value.bytes, named: Self.name(of: needle).span)) != nil
    }
    return true
  }

  private static func name(of needle: borrowing Needle) -> [UInt8] {
    let name = Array(Diagnostic.shown([UInt8](copying: needle.name.bytes)).utf8)
    return switch needle.part {
    case .value: name
    case .attribute:
      name + Array("?attr=".utf8)
        + Array(Diagnostic.shown([UInt8](copying: needle.key.bytes)).utf8)
    case .code: name + Array("?otp".utf8)
    }
  }

  /// Whether values were handed out that are not looked for, which was not said yet.
  var hasLeftOut: Bool { short + long > 0 }

  /// Says how many they are.
  mutating func sayLeftOut(_ messages: Messages) {
    note(short, "of less than 6 bytes", messages)
    note(long, "of more than 65,536 bytes", messages)
    (short, long) = (0, 0)
  }

  private func note(_ count: Int, _ size: String, _ messages: Messages) {
    guard count > 0 else { return }
    let (values, were) = count == 1 ? (" value ", " was ") : (" values ", " were ")
    messages.note("\(count)" + values + size + were + "handed out in this run and not looked for")
  }
}
