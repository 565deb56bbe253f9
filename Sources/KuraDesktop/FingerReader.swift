// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraHardware
internal import KuraTerms

/// Speaks to fprintd, and to nobody else: to the connection that root's bus says root has.
final class FingerReader {
  private static let name = "net.reactivated.Fprint"
  private static let manager = "/net/reactivated/Fprint/Manager"

  let bus: Bus
  private var hearing: FingerHearing

  /// Finds a reader that knows a finger of this user, the first of several.
  init() throws(FingerFault) {
    do throws(BusError) { bus = try Bus(.system) } catch { throw .noDaemon }
    var (user, process): (UInt32, Int32) = (.max, 0)
    // A bus of somebody else's could say of anybody what it likes; this is who listens at its socket.
    guard unsafe kura_server_adopt(bus.descriptor, &user, &process) >= 0, user == 0 else {
      throw .untrusted
    }
    let daemon = try Self.daemon(on: bus)
    hearing = FingerHearing(daemon: daemon, device: try Self.device(of: daemon, on: bus))
  }

  private static func daemon(on bus: Bus) throws(FingerFault) -> String {
    do throws(BusError) {
      var found = try bus.owner(of: name)
      if found == nil {
        _ = try bus.call(
          Hearing.bus, "/org/freedesktop/DBus", Hearing.bus, "StartServiceByName",
          [.text(name), .number(0)])
        found = try bus.owner(of: name)
      }
      guard let owner = found else { throw BusError(0) }
      let user = try bus.call(
        Hearing.bus, "/org/freedesktop/DBus", Hearing.bus, "GetConnectionUnixUser", [.text(owner)])
      if user.unsigned() == 0 { return owner }
    } catch { throw .noDaemon }
    throw .untrusted
  }

  private static func device(of daemon: String, on bus: Bus) throws(FingerFault) -> String {
    let devices: [String]
    do throws(BusError) {
      devices = try bus.call(daemon, manager, name + ".Manager", "GetDevices").texts()
    } catch { throw fault(error) }
    guard !devices.isEmpty else { throw .noReader }
    var reason = FingerFault.noFinger
    for device in devices {
      do throws(BusError) {
        let fingers = try bus.call(
          daemon, device, name + ".Device", "ListEnrolledFingers", [.text("")])
        if !fingers.texts().isEmpty { return device }
      } catch {
        if fault(error) == .denied { reason = .denied }
      }
    }
    throw reason
  }

  /// What an error of fprintd's means.
  private static func fault(_ error: BusError) -> FingerFault {
    switch error.name {
    case name + ".Error.PermissionDenied", "org.freedesktop.DBus.Error.AccessDenied": .denied
    case name + ".Error.AlreadyInUse": .busy
    case name + ".Error.NoSuchDevice": .noReader
    case name + ".Error.NoEnrolledPrints": .noFinger
    default: .failed
    }
  }
}

// MARK: - A finger

extension FingerReader {
  private func call(_ member: String, _ arguments: [BusArgument] = []) throws(FingerFault)
    -> BusMessage
  {
    do throws(BusError) {
      return try bus.call(
        hearing.daemon, hearing.device, Self.name + ".Device", member, arguments)
    } catch { throw Self.fault(error) }
  }

  /// Has the reader wait for a finger of this user. ``end()`` is due, whatever comes of it.
  func begin() throws(FingerFault) {
    do throws(BusError) {
      try bus.listen(
        "sender='\(hearing.daemon)',path='\(hearing.device)',interface='\(Self.name).Device',"
          + "member='VerifyStatus'")
      try bus.listen(
        "sender='\(Hearing.bus)',interface='\(Hearing.bus)',member='NameOwnerChanged',"
          + "arg0='\(hearing.daemon)'")
    } catch { throw .failed }
    _ = try call("Claim", [.text("")])
    hearing.started = try call("VerifyStart", [.text("any")]).serial
  }

  /// What the bus has said since.
  func answer() -> FingerAnswer? {
    guard let signals = try? bus.process() else { return .fault(.failed) }
    for signal in signals {
      if let answer = hearing.answer(in: signal) { return answer }
    }
    return nil
  }

  /// Lets go of the reader.
  ///
  /// - Returns: Whether it is there to be let go of.
  @discardableResult
  func end() -> Bool {
    _ = try? call("VerifyStop")
    return (try? call("Release")) != nil
  }
}
