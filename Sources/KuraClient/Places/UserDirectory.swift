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

  /// Where an agent that is started listens: `$XDG_RUNTIME_DIR/kura`, or where that is not set the same
  /// directory of the login's, else ``fallbackRuntime()``.
  public static func runtime() throws(PathError) -> String {
    guard let directory = absolute("XDG_RUNTIME_DIR") ?? session() else {
      return try fallbackRuntime()
    }
    return directory + "/kura"
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
    if let directory = absolute(variable) { return directory }
    guard let home = absolute("HOME") ?? passwdHome() else { throw .homeUnknown }
    return home + fallback
  }

  /// The home directory by passwd(5): a service of the system's may have no HOME.
  private static func passwdHome() -> String? {
    guard let home = try? System.passwdHome(), !home.isEmpty else { return nil }
    return String(repairing: home.span)
  }

  /// `/run/user/UID`, which commands without the variable (of cron, of su) have, too.
  private static func session() -> String? {
    guard let home = absolute("HOME"),
      let directory = try? System.sessionDirectory(home: home), !directory.isEmpty
    else { return nil }
    return String(repairing: directory.span)
  }

  /// A variable's value; one that is relative counts as unset, as the specification has it.
  private static func absolute(_ variable: String) -> String? {
    guard let value = Environment.value(variable), value.utf8.first == UInt8(ascii: "/") else {
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
}
