// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Plans a room for a command: which directory is there, what it is served, and who makes it.
struct RoomPlan {
  /// Where bubblewrap is looked for: what stands first in somebody's PATH would get the values.
  private static let programs = [
    "/usr/bin/bwrap", "/usr/local/bin/bwrap", "/run/current-system/sw/bin/bwrap",
  ]

  /// bubblewrap.
  let program: String
  /// This program.
  let own: String
  /// The project: the directory that the command begins in.
  let directory: String
  let home: String
  /// Whether the command may write there.
  let isWritable: Bool
  /// What carries its network; nil: it has none.
  let network: RoomNetwork?
  /// The names of the items that it is served.
  let allowed: [String]
  /// The vault that they are in.
  let vault: String

  /// What the options ask for; nil where they ask for no room.
  static func make(_ invocation: borrowing Invocation) throws(CommandError) -> RoomPlan? {
    let arguments = invocation.arguments
    guard arguments.has(.sandbox) else {
      for option in [OptionName.allow, .network, .writable] where arguments.has(option) {
        throw .usage(
          option.spelling + " says something about a room", hint: "--sandbox makes one")
      }
      return nil
    }
    guard invocation.variables[RoomPlace.mark] == nil else {
      throw .failure(
        "this is a room already, and no room is made in a room",
        hint: "run the command as it is: 'kura run -- CMD'", .denied)
    }
    try parsing { () throws(UsageError) in try arguments.refuse(.noAgent, with: .allow) }
    let access = try invocation.access()
    return RoomPlan(
      program: try program(), own: try own(), directory: try RoomDirectory.project(access.vault),
      home: try RoomDirectory.home(), isWritable: arguments.has(.writable),
      network: try network(arguments),
      allowed: try allowed(arguments, access), vault: access.vault.path)
  }

  /// Where bubblewrap is; nil where it is not.
  static func findProgram() -> String? {
    programs.first { System.fileKind($0) == KURA_REGULAR && System.isExecutable($0) }
  }

  private static func program() throws(CommandError) -> String {
    guard let program = findProgram() else {
      throw .failure(
        "there is no bubblewrap, which makes a room; nothing weaker takes its place",
        hint: "install the package 'bubblewrap'", .inputOutput)
    }
    return program
  }

  private static func network(_ arguments: Arguments) throws(CommandError) -> RoomNetwork? {
    guard arguments.has(.network) else { return nil }
    if let (why, advice) = RoomNetwork.flaw {
      throw .failure(why, hint: advice + "; or leave out --network", .inputOutput)
    }
    return RoomNetwork.find()
  }

  private static func own() throws(CommandError) -> String {
    guard let path = try? System.programPath(), let text = String(validating: path, as: UTF8.self),
      System.isExecutable(text)
    else {
      throw .failure(
        "the file of this program is not found, which a room needs",
        hint: "start kura by a path where it still stands", .inputOutput)
    }
    return text
  }

  /// Each item must be there: what is misspelt would be missed by the command alone.
  private static func allowed(
    _ arguments: Arguments, _ access: VaultAccess
  ) throws(CommandError) -> [String] {
    var names: [String] = []
    var held = Held()
    for value in arguments.values(.allow) + arguments.values(.grant) {
      let name = try Invocation.text(value)
      try access.unlocked(holding: &held) { connection throws(ClientError) in
        _ = try connection.show(name)
      }
      names.append(name)
    }
    return names
  }
}
