// SPDX-License-Identifier: MIT

/// Finds the directories of the XDG Base Directory Specification that Kura keeps its files in.
public enum UserDirectory {
  /// Where vaults stand: `$XDG_DATA_HOME/kura`.
  public static func data() throws(PathError) -> String {
    try home("XDG_DATA_HOME", fallback: "/.local/share") + "/kura"
  }

  /// What this machine remembers: `$XDG_STATE_HOME/kura`.
  public static func state() throws(PathError) -> String {
    try home("XDG_STATE_HOME", fallback: "/.local/state") + "/kura"
  }

  /// Where this machine keeps what is its own of a vault: `$XDG_STATE_HOME/kura/device`.
  public static func device() throws(PathError) -> String { try state() + "/device" }

  /// Where an agent that is started listens: `$XDG_RUNTIME_DIR/kura`, or where that is not set the same
  /// directory of the login's, else ``fallbackRuntime()``.
  public static func runtime() throws(PathError) -> String {
    if let directory = try absolute("XDG_RUNTIME_DIR") { return directory + "/kura" }
    if let directory = try session() { return directory + "/kura" }
    return try fallbackRuntime()
  }

  /// Where an agent listens whose starter knew nothing of the session: `$XDG_STATE_HOME/kura/run`.
  public static func fallbackRuntime() throws(PathError) -> String { try state() + "/run" }

  /// Where the agent of the state directory listens by its own note; nil where none is.
  public static func notedRuntime() -> String? {
    guard let state = try? state(), let target = try? System.linkTarget(state + "/agent"),
      target.first == UInt8(ascii: "/")
    else { return nil }
    return String(repairing: target.span)
  }

  private static func home(_ variable: String, fallback: String) throws(PathError) -> String {
    if let directory = try absolute(variable) { return directory }
    if let home = try absolute("HOME") { return home + fallback }
    guard let home = try passwdHome() else { throw .homeUnknown }
    return home + fallback
  }

  /// The home directory by passwd(5): a service of the system's may have no HOME.
  private static func passwdHome() throws(PathError) -> String? {
    guard let home = try? System.passwdHome(), !home.isEmpty else { return nil }
    return try PathText.checked(home, "the home directory in /etc/passwd")
  }

  /// `/run/user/UID`, which commands without the variable (of cron, of su) have, too.
  private static func session() throws(PathError) -> String? {
    guard let home = try absolute("HOME"),
      let directory = try? System.sessionDirectory(home: home), !directory.isEmpty
    else { return nil }
    return String(repairing: directory.span)
  }

  /// A variable's value; one that is relative counts as unset, as the specification has it.
  private static func absolute(_ variable: String) throws(PathError) -> String? {
    guard let value = try Environment.name(variable), value.utf8.first == UInt8(ascii: "/") else {
      return nil
    }
    return value
  }
}

/// Reads the environment, one variable at a time: no dictionary is built.
public enum Environment {
  /// A variable's value, or nil where it is unset or empty.
  public static func value(_ variable: String) -> String? {
    System.environment(variable)
  }

  /// The same of a variable that names a place or an item. Made UTF-8 by force, one that is not would name
  /// something else, and two would name the same.
  public static func name(_ variable: String) throws(PathError) -> String? {
    guard let value = value(variable) else { return nil }
    guard System.isText(variable) else { throw .notText("the variable " + variable) }
    return value
  }
}

/// Sees to it that what the system says of a place is that place as text, too.
enum PathText {
  /// - Parameter what: Stands in the error.
  static func checked(_ bytes: [UInt8], _ what: String) throws(PathError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else { throw .notText(what) }
    return text
  }
}
