// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura vaults`: lists the vaults that have a name, and what is known of each without asking
/// anybody.
enum Vaults {
  static let command = Command(
    "vaults", abstract: "list the vaults there are, by name",
    options: [Option(.long, letter: "l", help: "with state and path"), Option.json], run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      try arguments.refuse(.json, with: .long)
    }
    let vaults = try find()
    if invocation.arguments.has(.json) || invocation.arguments.has(.long) {
      try write(try looked(at: vaults, invocation), &invocation)
    } else {
      for vault in vaults { try write(name: vault, "\n", &invocation.output) }
    }
    try invocation.output.flush()
    Reset.note(
      try reading { directory throws(FileError) in
        try VaultDirectory.drafts(in: directory)
      }, invocation.messages)
    return .ok
  }

  private static func find() throws(CommandError) -> [VaultPath] {
    try reading { directory throws(FileError) in try VaultDirectory.vaults(in: directory) }
  }

  private static func reading<Value>(
    _ body: (String) throws(FileError) -> Value
  ) throws(CommandError) -> Value {
    let directory: String
    do throws(PathError) { directory = try UserDirectory.data() } catch { throw .path(error) }
    do throws(FileError) { return try body(directory) } catch {
      throw .file(.read, path: directory, errno: error.errno)
    }
  }
}

// MARK: - States

extension Vaults {
  /// Says what is known of a vault.
  private enum State: String {
    case unlocked, locked, unreadable
  }

  /// Holds a vault and what is known of it.
  private struct Found {
    let vault: VaultPath
    let state: State
  }

  /// What was there a moment ago and is no more is left out.
  private static func looked(
    at vaults: [VaultPath], _ invocation: borrowing Invocation
  ) throws(CommandError) -> [Found] {
    var found: [Found] = []
    for vault in vaults {
      guard let state = try state(try invocation.access(vault: vault.path)) else { continue }
      found.append(Found(vault: vault, state: state))
    }
    return found
  }

  private static func state(_ access: VaultAccess) throws(CommandError) -> State? {
    var connection = try access.connectRunningOrOwn()
    do throws(ClientError) {
      return try connection.status().state == .unlocked ? .unlocked : .locked
    } catch {
      guard case .refused(let refused) = error, refused.failure.isOfVault else {
        throw .client(error)
      }
      return refused.failure == .noVault ? nil : .unreadable
    }
  }
}

// MARK: - Writing

extension Vaults {
  private static func write(
    _ found: [Found], _ invocation: inout Invocation
  ) throws(CommandError) {
    guard invocation.arguments.has(.json) else {
      for one in found { try write(one, &invocation.output) }
      return
    }
    try invocation.output.openDocument()
    try invocation.output.key("vaults")
    try invocation.output.openArray()
    for one in found { try writeJSON(one, &invocation.output) }
    try invocation.output.closeArray()
    try invocation.output.closeDocument()
  }

  private static func write(_ found: Found, _ output: inout Output) throws(CommandError) {
    try output.write(HelpText.pad(found.state.rawValue, 12))
    try write(name: found.vault, "  ", &output)
    try output.write(escaped: found.vault.path)
    try output.write("\n")
  }

  private static func write(
    name vault: VaultPath, _ end: String, _ output: inout Output
  ) throws(CommandError) {
    try output.write(line: vault.name ?? vault.path)
    try output.write(end)
  }

  private static func writeJSON(_ found: Found, _ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.member("name", found.vault.name ?? "")
    try output.member("path", found.vault.path)
    try output.member("state", found.state.rawValue)
    try output.closeObject()
  }
}

extension Failure {
  /// Whether it tells of the vault's file, and not of a credential, an item or the agent.
  var isOfVault: Bool { (16..<32).contains(rawValue) }
}
