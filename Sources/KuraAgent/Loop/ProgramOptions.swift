// SPDX-License-Identifier: MIT

/// Says what `kura-agent` is asked to do.
public struct ProgramOptions: Equatable, Sendable {
  /// Says how the agent lives.
  public enum Mode: Equatable, Sendable {
    /// In the background, with a process session of its own.
    case daemon
    /// Where it was started.
    case foreground
    /// For one client, over the socket on descriptor 0.
    case stdio
    /// Not at all: prints its usage.
    case help
    /// Not at all: prints its release.
    case version
  }

  /// Names what is wrong with the arguments.
  public enum Problem: Error, Equatable, Sendable {
    case unknown(String)
    case descriptor(String)
    case valueMissing(String)
  }

  /// What it was started to be.
  public var mode = Mode.daemon
  /// Told when the socket listens: one byte, `R`.
  public var readyDescriptor: Int32?
  /// Whether it neither knows nor keeps what this machine has noted of vaults: for a copy that is looked at.
  public var isAside = false
  /// Whether it ends where guarded memory cannot be locked.
  public var requiresLockedMemory = false

  /// Reads the arguments after the program's name.
  public init(_ arguments: [String]) throws(Problem) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--foreground", "-f": mode = .foreground
      case "--stdio": mode = .stdio
      case "--aside": isAside = true
      case "--require-mlock": requiresLockedMemory = true
      case "--help", "-h": mode = .help
      case "--version", "-V": mode = .version
      case "--ready-fd":
        guard let value = rest.popFirst() else { throw .valueMissing(argument) }
        readyDescriptor = try Self.descriptor(value)
      default: readyDescriptor = try Self.joined(argument)
      }
      if mode == .help || mode == .version { return }
    }
  }

  private static func joined(_ argument: String) throws(Problem) -> Int32 {
    let option = "--ready-fd="
    guard argument.hasPrefix(option) else { throw .unknown(argument) }
    return try descriptor(String(argument.dropFirst(option.count)))
  }

  private static func descriptor(_ value: String) throws(Problem) -> Int32 {
    guard let number = Int32(value), number >= 0 else { throw .descriptor(value) }
    return number
  }

  /// What `--help` prints.
  public static let usage = """
    usage: kura-agent [--foreground | --stdio [--aside]] [--ready-fd N]
                      [--require-mlock]

    Holds the keys of unlocked vaults for kura(1), which starts it when it is needed.

      -f, --foreground     stay attached; without it, run in the background
          --stdio          serve one client over the socket on standard input
          --aside          neither know nor note anything of this machine's
          --ready-fd N     write the byte R to descriptor N once clients can connect
          --require-mlock  unlock nothing while secrets could reach swap
      -h, --help           print this
      -V, --version        print the release

    """
}
