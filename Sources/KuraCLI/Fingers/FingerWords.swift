// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Puts into words why no finger does.
enum FingerWords {
  /// Why none was taken; nil for an error that says something else.
  static func fault(_ error: ClientError) -> FingerFault? {
    guard case .refused(.fingerUnfit(let fault)) = error else { return nil }
    return fault
  }

  /// What a person hears at the question when a finger does not match.
  static func wrong(left: UInt32) -> String {
    left == 0
      ? "That finger does not match: only the passcode counts now."
      : "That finger does not match; \(left) more may be tried."
  }

  /// The same where no finger is waited for any more.
  static func noMore(_ reason: String) -> String { "No finger is taken any more: " + reason + "." }
}

extension Diagnostic {
  static let fingerWrongWords: Words = (
    "the finger does not match", "try again, or give the passcode: 'kura authenticate'"
  )

  static func fingerUnfitWords(_ fault: FingerFault) -> Words {
    ("no finger is taken: " + fault.text, fingerHint(fault))
  }

  private static func fingerHint(_ fault: FingerFault) -> String {
    switch fault {
    case .off: "'kura config fingerprint on' switches it on"
    case .noProgram: "install kura-desktop, and end the agent by 'kura agent stop'"
    case .noDaemon: "install fprintd; until then give the passcode"
    case .noFinger: "'fprintd-enroll' makes one known; until then give the passcode"
    case .spent, .programFailed, .untrusted, .noReader, .denied, .busy, .unplugged, .timedOut,
      .failed:
      "give the passcode: 'kura authenticate'"
    }
  }
}
