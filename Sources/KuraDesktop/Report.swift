// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraProtocol

/// Tells who reads the journal what happens, a line each.
enum Report {
  static func say(_ text: String) {
    write("kura-desktop: " + text + "\n", to: 2)
  }

  static func write(_ text: String, to descriptor: Int32) {
    var rest = text
    rest.withUTF8 { bytes in
      guard let start = bytes.baseAddress else { return }
      _ = unsafe Glibc.write(descriptor, start, bytes.count)
    }
  }

  /// What a system call's number means, for people.
  static func words(_ number: Int32) -> String {
    guard let text = unsafe strerror(number) else { return "error \(number)" }
    return unsafe String(cString: text)
  }
}

extension Locker.Outcome {
  /// What came of a lock, for people.
  var words: String {
    switch self {
    case .locked: "locked"
    case .lockedOnly: "locked, but a vault's file is not whole yet: 'kura lock' tells why"
    case .noAgent: "no agent is running, so nothing is unlocked"
    case .unanswered: "the agent does not answer"
    case .failed(let status):
      "the agent could not be asked (\(status)): 'kura agent status' tells why"
    }
  }
}
