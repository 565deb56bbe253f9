// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient

/// Asks the login manager for what its signals do not tell.
struct Logind {
  private static let path = "/org/freedesktop/login1"
  private static let manager = "org.freedesktop.login1.Manager"

  let bus: Bus
  /// The session that this program was started in, by its number; nil where it is watched over from outside
  /// of all sessions, as by systemd's user manager.
  let sessionID: String?

  /// The signals to listen for.
  static let rules: [String] = {
    let sender = "sender='\(Hearing.loginManager)',"
    let manager = ["PrepareForSleep", "PrepareForShutdown", "SessionNew", "SessionRemoved"].map {
      sender + "interface='\(Self.manager)',member='\($0)'"
    }
    return manager + [
      sender + "interface='org.freedesktop.login1.Session',member='Lock'",
      sender + "interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',"
        + "arg0='org.freedesktop.login1.Session'",
    ]
  }()

  /// Has the machine wait before it sleeps or goes down: for as long as the descriptor is open, and at most as
  /// long as the login manager is willing to.
  func inhibit() throws(BusError) -> Inhibitor {
    let reply = try bus.call(
      Hearing.loginManager, Self.path, Self.manager, "Inhibit",
      [
        .text("shutdown:sleep"), .text("kura-desktop"), .text("Vaults are being locked"),
        .text("delay"),
      ])
    guard let descriptor = reply.descriptor() else { throw BusError(-EBADMSG) }
    return Inhibitor(descriptor: descriptor)
  }

  /// The object of the session to watch: the one that this program was started in, else the one that the
  /// login manager calls the user's display; nil for none.
  func session() -> String? {
    guard let sessionID else { return display() }
    let reply = try? bus.call(
      Hearing.loginManager, Self.path, Self.manager, "GetSession", [.text(sessionID)])
    return reply?.text()
  }

  private func display() -> String? {
    guard let user = try? user(),
      let reply = try? property(user, "Display"), reply.enter(), reply.enter(),
      let name = reply.text(), !name.isEmpty
    else { return nil }
    return reply.text()
  }

  /// Whether the user has no session left; false also where that cannot be told.
  func isLastSessionGone() -> Bool {
    do throws(BusError) {
      let reply = try property(try user(), "Sessions")
      guard reply.enter(), reply.enter() else { return false }
      return !reply.enter()
    } catch { return error.name == "org.freedesktop.login1.NoSuchUser" }
  }

  /// Whether the screen of a session is locked.
  func isLocked(_ session: String) -> Bool {
    let reply = try? bus.property(
      Hearing.loginManager, session, "org.freedesktop.login1.Session", "LockedHint")
    guard let reply, reply.enter() else { return false }
    return reply.flag() ?? false
  }

  private func user() throws(BusError) -> String {
    let reply = try bus.call(
      Hearing.loginManager, Self.path, Self.manager, "GetUser", [.number(kura_user())])
    guard let path = reply.text() else { throw BusError(-EBADMSG) }
    return path
  }

  private func property(_ user: String, _ name: String) throws(BusError) -> BusMessage {
    try bus.property(Hearing.loginManager, user, "org.freedesktop.login1.User", name)
  }
}

/// Keeps the machine awake while it is there: its end closes the descriptor.
final class Inhibitor {
  private let descriptor: Int32

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit { kura_socket_close(descriptor) }
}
