// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Writes all that the desktop's keeper of secrets has, and says why where it cannot.
enum Secrets {
  /// The longest that the keeper is waited for, in µs: the bus may have to start it.
  private static let patience: UInt64 = 120_000_000

  /// Writes all of it.
  static func write(to descriptor: Int32) -> ExitStatus {
    guard !kura_is_terminal(descriptor) else {
      Report.say(
        "secrets are not written to a terminal\nkura-desktop: hint: 'kura import secret-service' takes them in"
      )
      return .usage
    }
    let bus: Bus
    do throws(BusError) { bus = try Bus(.session, patience: patience) } catch {
      Report.say("the session bus cannot be reached: \(Report.words(error.number))")
      return .inputOutput
    }
    do throws(Trouble) {
      let keeper = try keeper(on: bus)
      var stream = try writing { () throws(FileError) in try SecretStream(to: descriptor) }
      try write(keeper, to: &stream)
      try writing { () throws(FileError) in try stream.end() }
      return .ok
    } catch {
      switch error {
      case .nobody:
        Report.say("nobody on the session bus keeps secrets")
        return .notFound
      case .bus(let error):
        Report.say("the keeper of secrets breaks off: \(Report.words(error.number))")
      case .output(let error):
        Report.say("the output cannot be written: \(SystemMessage.text(error.errno))")
      }
      return .inputOutput
    }
  }

  /// Says why not all is written.
  private enum Trouble: Error {
    case nobody
    case bus(BusError)
    case output(FileError)
  }

  private static func write(_ keeper: SecretKeeper, to stream: inout SecretStream) throws(Trouble) {
    for collection in try asking({ () throws(BusError) in try keeper.collections() }) {
      guard !collection.isLocked else {
        try writing { () throws(FileError) in try stream.put(locked: collection.label) }
        continue
      }
      for path in collection.items {
        var secret = try writing { () throws(FileError) in try SecretStream.buffer() }
        guard let item = try asking({ () throws(BusError) in try keeper.item(path, &secret) })
        else {
          continue
        }
        try writing { () throws(FileError) in try stream.put(item, secret, in: collection.label) }
      }
    }
  }

  private static func keeper(on bus: Bus) throws(Trouble) -> SecretKeeper {
    do throws(BusError) { return try SecretKeeper(bus) } catch {
      throw SecretKeeper.isNobody(error) ? .nobody : .bus(error)
    }
  }

  private static func asking<Value>(
    _ body: () throws(BusError) -> Value
  ) throws(Trouble) -> Value {
    do throws(BusError) { return try body() } catch { throw .bus(error) }
  }

  private static func writing<Value: ~Copyable>(
    _ body: () throws(FileError) -> Value
  ) throws(Trouble) -> Value {
    do throws(FileError) { return try body() } catch { throw .output(error) }
  }
}
