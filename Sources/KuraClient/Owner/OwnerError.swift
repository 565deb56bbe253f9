// SPDX-License-Identifier: MIT

public import KuraProtocol

/// Tells why the owner's word was not had, so that nothing was done.
public enum OwnerError: Error, Equatable, Sendable {
  /// What was typed was wrong, three times.
  case wrong
  /// The person gave up.
  case cancelled
  /// Too many were wrong before: nobody is asked until some time is over.
  case mustWait
  /// Nobody can be asked: there is neither a terminal nor a program that asks.
  case nobody
  /// The agent refused, or the conversation with it or with `kura` failed.
  case client(ClientError)
  /// `kura` ended for another reason, in a sentence of its own; empty where it said none.
  case failed(ExitStatus, String)

  /// The status that `kura` ends with in such a case.
  public var exitStatus: ExitStatus {
    switch self {
    case .wrong: .wrongPasscode
    case .cancelled: .cancelled
    case .mustWait: .throttled
    case .nobody: .needsInteraction
    case .client(let error): error.exitStatus
    case .failed(let status, _): status
    }
  }

  /// What the end of a `kura` that was to ask means.
  ///
  /// - Parameters:
  ///   - status: Not 0: an exit status, 128 and a signal, or a negated errno where it is not known.
  ///   - messages: What it wrote to stderr.
  init(status: Int32, messages: String) {
    guard status > 0 else {
      self = .client(.system(-status))
      return
    }
    switch UInt8(exactly: status).flatMap(ExitStatus.init) {
    case .wrongPasscode: self = .wrong
    case .cancelled, .interrupted: self = .cancelled
    case .throttled: self = .mustWait
    case .needsInteraction: self = .nobody
    case let other: self = .failed(other ?? .failure, Self.sentence(messages))
    }
  }

  /// The first error of those messages.
  private static func sentence(_ messages: String) -> String {
    let mark = "kura: error: ".utf8
    for line in messages.utf8.split(separator: UInt8(ascii: "\n")) where line.starts(with: mark) {
      return String(Substring(line.dropFirst(mark.count)))
    }
    return ""
  }
}
