// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Tells a person at a prompt why what was typed will not do, so that it can be typed again.
struct Complaint: Equatable {
  let text: String
  /// For how long nothing can be tried, in ms.
  private(set) var wait: UInt64 = 0

  init(_ text: String) { self.text = text }

  /// The sentence for a credential that was wrong; nil where another try is of no use.
  ///
  /// - Parameter isCode: Whether only a code was asked for.
  init?(_ error: ClientError, isCode: Bool) {
    if case .refused(.wrongPasscode(let wrong)) = error {
      let what = isCode ? "Wrong code" : "Wrong passcode"
      wait = wrong.wait
      text =
        wrong.isUntakenCode
        ? what + ", and a code changes no slot; try again."
        : what + (wait > 0 ? "." : ", try again.")
    } else if case .refused(.wrongPIN(let left)) = error, left > 1 {
      text = "Wrong PIN, try again; the key takes \(left) more."
    } else if case .refused(.wrongKey) = error {
      text = "Wrong recovery key, try again."
    } else if case .refused(.recoveryKeyTypo(let typo)) = error {
      text = Self.text(typo)
    } else {
      return nil
    }
  }

  private static func text(_ typo: RecoveryKeyTypo) -> String {
    switch typo {
    case .anywhere: "There is a typing error, try again."
    case .group(let group): "There is a typing error in group \(group), try again."
    case .length(let count):
      "I" + Diagnostic.lengthMessage(count).dropFirst() + "; try again."
    }
  }

  /// The same for who is shown no count-down.
  var textWithWait: String {
    wait == 0 ? text : text + " The next try is possible in " + Diagnostic.wait(wait) + "."
  }
}

extension ClientError {
  /// For how long nothing may be tried, in ms, where that is why it was refused; nil for anything else.
  var wait: UInt64? {
    guard case .refused(.throttled(let wait, _)) = self, wait < TryReport.untilPasscode else {
      return nil
    }
    return wait
  }
}
