// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import SecureMemory

/// Runs the `kura-agent` program.
public enum Program {
  /// Runs the program to its end.
  ///
  /// - Parameter arguments: Those after the program's name.
  /// - Returns: The exit status.
  public static func run(_ arguments: [String]) -> Int32 {
    ProcessHardening.apply()
    let options: ProgramOptions
    do throws(ProgramOptions.Problem) { options = try ProgramOptions(arguments) } catch {
      report(error.message + "\nkura-agent: hint: see kura-agent --help")
      return Int32(ExitStatus.usage.rawValue)
    }
    switch options.mode {
    case .help:
      write(ProgramOptions.usage, to: 1)
    case .version:
      write("kura-agent \(Release.version)\n", to: 1)
    case .daemon, .foreground, .stdio: return serve(options)
    }
    return Int32(ExitStatus.ok.rawValue)
  }

  private static func serve(_ options: ProgramOptions) -> Int32 {
    kura_memory_settle()
    kura_server_keep_standard()
    kura_server_reset_signals()
    kura_server_raise_descriptors(1_024)
    var ready = ReadyNotice(descriptor: options.readyDescriptor)
    do throws(AgentError) {
      let agent = try start(options, &ready)
      ready.tell()
      try agent.run()
      return Int32(ExitStatus.ok.rawValue)
    } catch {
      report(error.message)
      ready.tell(failure: error.message)
      return Int32(error.exitStatus.rawValue)
    }
  }

  private static func start(
    _ options: ProgramOptions, _ ready: inout ReadyNotice
  ) throws(AgentError) -> Agent {
    let places = try Places.standard()
    let socket = try activatedSocket()
    let isDaemon = options.mode == .daemon && socket == nil
    if isDaemon { try ready.detach() }
    HardwareProgram.prepare()
    // A private engine is its client's, who may debug it.
    if options.mode != .stdio { Confinement.apply() }
    let isAside = options.isAside && options.mode == .stdio
    var configuration = AgentConfiguration(stateDirectory: isAside ? nowhere : places.state)
    configuration.requiresLockedMemory = options.requiresLockedMemory
    configuration.endsAtSignals = true
    let agent = try Agent(configuration)
    if options.requiresLockedMemory { try checkMemory() }
    if options.mode == .stdio {
      try agent.serve(socket: 0)
    } else if let socket {
      try agent.listen(socket: socket)
    } else {
      try listen(agent, at: places)
    }
    if isDaemon { try check("dup2", kura_server_silence()) }
    return agent
  }

  /// A directory that is not there, and that nobody can make.
  private static let nowhere = "/dev/null/kura"

  /// Listens, unless another agent does. One that is just coming up is waited for, so that who
  /// started this one can connect to that one.
  private static func listen(_ agent: Agent, at places: Places) throws(AgentError) {
    for _ in 0..<500 {
      do throws(AgentError) {
        return try agent.listen(in: places.socket, unlessAt: places.others, of: places.state)
      } catch {
        guard error == .alreadyRunning else { throw error }
      }
      let noted = SocketNote.place(in: places.state).map { [$0] } ?? []
      if ([places.socket] + places.others + noted).contains(where: SocketDirectory.isServed) {
        break
      }
      usleep(10_000)
    }
    throw .alreadyRunning
  }

  private static func checkMemory() throws(AgentError) {
    guard (try? SecretBytes(count: 1)) != nil else { throw .outOfMemory }
    if LockedMemory.status.unlockedByteCount > 0 { throw .memoryNotLocked }
  }

  /// The socket that systemd hands over (sd_listen_fds(3)), if it is meant for this process.
  private static func activatedSocket() throws(AgentError) -> Int32? {
    func number(_ name: String) -> Int32? {
      unsafe getenv(name).flatMap { value in unsafe Int32(String(cString: value)) }
    }
    guard number("LISTEN_PID") == getpid(), let count = number("LISTEN_FDS"), count >= 1 else {
      return nil
    }
    // Looked at before anything else can get the number.
    try check("LISTEN_FDS", kura_server_inherit(3, 1))
    return 3
  }

  private static func report(_ message: String) {
    write("kura-agent: error: \(message)\n", to: 2)
  }
}
