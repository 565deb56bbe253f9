// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Decides what a signal means, and whether it counts at all: a value without buses.
///
/// A message that is sent to this program alone passes every filter of the bus, whoever sent it. So a signal
/// counts only when the connection that sent it owns the name that may say such a thing, on this bus, now.
/// Nothing that is heard unlocks anything, and no end of a screen lock is listened to.
struct Hearing: Sendable {
  /// Says what to do about a signal.
  enum Meaning: Equatable, Sendable {
    /// A name has another owner, or none.
    case owner(of: String, String?)
    /// The machine goes to sleep or down: it waits for the inhibitor.
    case leaving(LockReason)
    /// It came back, or stayed.
    case back
    /// The screen of this session was locked.
    case screenLocked
    case sessionBegan
    /// A session ended: its object's path.
    case sessionEnded(String)
  }

  /// The login manager's name on the system bus.
  static let loginManager = "org.freedesktop.login1"
  /// Those who lock the screen, by their names on the session bus, which are their interfaces, too.
  static let screenSavers = ["org.freedesktop.ScreenSaver", "org.gnome.ScreenSaver"]
  /// The bus itself, which nobody else can be.
  static let bus = "org.freedesktop.DBus"

  /// Whom to listen to on this bus.
  let names: [String]
  /// The object of the session that this program watches.
  var session: String?
  private var owners: [String: String] = [:]

  init(names: [String]) { self.names = names }

  /// Notes who owns a name; nil for nobody.
  mutating func note(owner: String?, of name: String) { owners[name] = owner }

  /// Whether somebody owns a name.
  func hasOwner(_ name: String) -> Bool { owners[name] != nil }

  /// What a signal means; nil for nothing.
  func meaning(of signal: Signal) -> Meaning? {
    if signal.interface == Self.bus { return ownership(signal) }
    let name = Self.screenSavers.contains(signal.interface) ? signal.interface : Self.loginManager
    guard names.contains(name), owners[name] == signal.sender else { return nil }
    return name == Self.loginManager ? login(signal) : screen(signal)
  }

  private func ownership(_ signal: Signal) -> Meaning? {
    guard signal.sender == Self.bus, signal.member == "NameOwnerChanged",
      case .texts(let texts) = signal.content, texts.count == 3, names.contains(texts[0])
    else { return nil }
    return .owner(of: texts[0], texts[2].isEmpty ? nil : texts[2])
  }

  private func screen(_ signal: Signal) -> Meaning? {
    guard signal.member == "ActiveChanged", signal.content == .flag(true) else { return nil }
    return .screenLocked
  }

  private func login(_ signal: Signal) -> Meaning? {
    switch (signal.interface, signal.member, signal.content) {
    case ("org.freedesktop.login1.Manager", "PrepareForSleep", .flag(let isStart)):
      return isStart ? .leaving(.suspend) : .back
    case ("org.freedesktop.login1.Manager", "PrepareForShutdown", .flag(let isStart)):
      return isStart ? .leaving(.logout) : .back
    case ("org.freedesktop.login1.Manager", "SessionNew", _): return .sessionBegan
    case ("org.freedesktop.login1.Manager", "SessionRemoved", .texts(let texts)):
      return texts.last.map { .sessionEnded($0) }
    case ("org.freedesktop.login1.Session", "Lock", _),
      ("org.freedesktop.DBus.Properties", "PropertiesChanged", .lockedHint(true)):
      return signal.path == session ? .screenLocked : nil
    default: return nil
    }
  }
}
