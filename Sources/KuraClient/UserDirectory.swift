// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// The directories of the XDG Base Directory Specification that Kura keeps its files in.
public enum UserDirectory {
  /// Where vaults stand: `$XDG_DATA_HOME/kura`.
  public static func data() throws(PathError) -> String {
    try home("XDG_DATA_HOME", fallback: "/.local/share") + "/kura"
  }

  /// What this machine remembers: `$XDG_STATE_HOME/kura`.
  public static func state() throws(PathError) -> String {
    try home("XDG_STATE_HOME", fallback: "/.local/state") + "/kura"
  }

  /// Where the agent's socket stands: `$XDG_RUNTIME_DIR/kura`, else `$XDG_STATE_HOME/kura/run`.
  public static func runtime() throws(PathError) -> String {
    if let directory = absolute("XDG_RUNTIME_DIR") { return directory + "/kura" }
    return try state() + "/run"
  }

  private static func home(_ variable: String, fallback: String) throws(PathError) -> String {
    if let directory = absolute(variable) { return directory }
    guard let home = absolute("HOME") else { throw .homeUnknown }
    return home + fallback
  }

  /// A variable's value; one that is relative counts as unset, as the specification has it.
  private static func absolute(_ variable: String) -> String? {
    guard let value = Environment.value(variable), value.utf8.first == UInt8(ascii: "/") else {
      return nil
    }
    return value
  }
}

/// The environment, one variable at a time: no dictionary is built.
public enum Environment {
  /// A variable's value, or nil where it is unset or empty.
  public static func value(_ variable: String) -> String? {
    guard let value = unsafe kura_environment(variable), unsafe value.pointee != 0 else {
      return nil
    }
    return unsafe String(cString: value)
  }
}
