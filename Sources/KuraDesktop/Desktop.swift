// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Runs the `kura-desktop` program.
public enum Desktop {
  private static let usage = """
    usage: kura-desktop [secrets | finger | --help | --version]

    Has kura-agent(1) lock all vaults when the screen is locked, the machine goes to sleep, or the
    session ends. It stays until a signal ends it.

      secrets              write what the desktop's keeper of secrets has, for kura-import(1), and end
      finger               have fprintd look at a finger, for kura-agent(1), and end
      -h, --help           print this
      -V, --version        print the release

    """

  /// Runs the program to its end.
  ///
  /// - Parameter arguments: Those after the program's name.
  /// - Returns: The exit status.
  public static func run(_ arguments: [String]) -> Int32 {
    ProcessHardening.apply()
    switch arguments {
    case []: return Int32(watch().rawValue)
    case ["finger"]: return Int32(FingerQuestion.answer(to: 0).rawValue)
    case ["secrets"]: return Int32(Secrets.write(to: 1).rawValue)
    case ["--help"], ["-h"]: Report.write(usage, to: 1)
    case ["--version"], ["-V"]: Report.write("kura-desktop \(Release.version)\n", to: 1)
    default:
      Report.say("it takes one argument at most\nkura-desktop: hint: see kura-desktop --help")
      return Int32(ExitStatus.usage.rawValue)
    }
    return Int32(ExitStatus.ok.rawValue)
  }

  private static func watch() -> ExitStatus {
    kura_server_keep_standard()
    kura_server_reset_signals()
    do throws(PathError) {
      let mark = DesktopMark.take(in: try UserDirectory.runtime())
      guard mark >= 0 else { return refuse(mark) }
      let locker = Locker(vault: try VaultPath.named(VaultPath.standardName))
      return watch(locker)
    } catch {
      Report.say("neither HOME nor XDG_STATE_HOME is set to an absolute path")
      return .failure
    }
  }

  private static func refuse(_ failure: Int32) -> ExitStatus {
    if failure == DesktopMark.isTaken {
      Report.say("another kura-desktop is running")
      return .busy
    }
    Report.say("the directory of the agent's socket cannot be used: \(Report.words(-failure))")
    return .inputOutput
  }

  private static func watch(_ locker: Locker) -> ExitStatus {
    do throws(BusError) {
      try Watch(locker, sessionID: Environment.value("XDG_SESSION_ID")).run()
      return .ok
    } catch {
      Report.say(Report.words(error.number))
      return .failure
    }
  }
}
