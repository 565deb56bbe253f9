// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraProtocol

extension AgentError {
  /// What went wrong, for people.
  var message: String {
    switch self {
    case .system(let call, let code): "\(call): \(Self.text(code))"
    case .directoryUnsafe(let path):
      "\(path) must be a directory of yours that nobody else can enter (0700, no symbolic link)"
    case .alreadyRunning: "another agent is running"
    case .noDirectory: "neither HOME nor XDG_STATE_HOME is set to an absolute path"
    case .notText(let name): "the variable \(name) is not UTF-8 text"
    case .memoryNotLocked: "guarded memory cannot be kept out of swap (see ulimit -l)"
    case .outOfMemory: "out of memory"
    }
  }

  /// What the program ends with.
  var exitStatus: ExitStatus {
    switch self {
    case .system(_, let code): code == ENOSPC || code == EACCES ? .inputOutput : .failure
    case .directoryUnsafe, .memoryNotLocked: .denied
    case .alreadyRunning: .busy
    case .noDirectory, .notText, .outOfMemory: .failure
    }
  }

  private static func text(_ code: Int32) -> String {
    guard let text = unsafe strerror(code) else { return "error \(code)" }
    return unsafe String(cString: text)
  }
}

extension ProgramOptions.Problem {
  /// What is wrong with the arguments, for people.
  var message: String {
    switch self {
    case .unknown(let argument): "unknown argument '\(argument)'"
    case .descriptor(let value): "'\(value)' is no descriptor"
    case .valueMissing(let option): "\(option) needs a value"
    }
  }
}
