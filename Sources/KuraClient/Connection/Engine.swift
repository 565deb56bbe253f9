// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Says who shall answer.
public enum Engine: Sendable {
  /// An agent that is there already.
  case running
  /// An agent that is there, or one that is started now and stays.
  case started
  /// An engine of our own, for this connection only.
  case own
  /// The same, which neither knows nor notes what this machine has seen of the vault: for a copy that is only
  /// looked at.
  case aside
}

/// Finds the program `kura-agent`, and starts it.
enum AgentProgram {
  /// The path of `kura-agent`, beside the running program or where it is installed.
  ///
  /// Never by PATH: what stands there first would be asked for the passcode.
  static func find() throws(ClientError) -> String {
    let directory = try programDirectory()
    let candidates = [
      directory + "/kura-agent", parent(of: directory) + "/libexec/kura/kura-agent",
      // An app is no part of Kura's installation.
      "/usr/local/bin/kura-agent", "/usr/bin/kura-agent",
    ]
    for candidate in candidates where System.isExecutable(candidate) { return candidate }
    throw .agentMissing(directory: directory)
  }

  /// Starts an agent that stays, and waits until it listens.
  static func start() throws(ClientError) {
    try checkHome()
    var child = kura_child()
    let program = try find()
    let failed = System.startAgent(program, &child)
    guard failed == 0 else { throw .programUnstartable(path: program, errno: -failed) }
    defer { kura_file_close(child.descriptor) }
    let said = try listen(to: child.descriptor)
    let status = kura_child_wait(child.process, Patience.standard.process)
    if said.first == UInt8(ascii: "R") { return }
    // A line, and no more.
    let line = said.prefix { $0 != UInt8(ascii: "\n") }
    throw .agentFailed(status: status, text: String(repairing: Array(line).span))
  }

  /// Starts an engine that serves this process alone.
  ///
  /// - Parameter isAside: Whether it is to know nothing of this machine's notes.
  static func startOwn(isAside: Bool = false) throws(ClientError) -> Channel {
    try checkHome()
    var child = kura_child()
    let program = try find()
    let failed = System.startEngine(program, isAside: isAside, &child)
    guard failed == 0 else { throw .programUnstartable(path: program, errno: -failed) }
    return try Channel.make(descriptor: child.descriptor, process: child.process)
  }

  /// `R` from an agent that is ready; what it has to say, to its end, from one that is not.
  private static func listen(to descriptor: Int32) throws(ClientError) -> [UInt8] {
    var said: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 512)
    while said.first != UInt8(ascii: "R"), said.count < 4_096 {
      var room = part.mutableSpan
      let count = System.readPipe(descriptor, into: &room, patience: Patience.standard.process)
      if count == Int(-ETIMEDOUT) { throw .timedOut }
      guard count > 0 else { break }
      said.append(contentsOf: part[..<count])
    }
    return said
  }

  /// An engine that finds no place for its files says so to nobody.
  private static func checkHome() throws(ClientError) {
    do throws(PathError) { _ = try UserDirectory.state() } catch { throw .path(error) }
  }

  /// Where the running program stands.
  static func programDirectory() throws(ClientError) -> String {
    do throws(FileError) {
      let path = try System.programPath()
      return parent(of: String(repairing: path.span))
    } catch { throw .system(error.errno) }
  }

  private static func parent(of path: String) -> String {
    guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return "." }
    return String(path[..<slash])
  }
}
