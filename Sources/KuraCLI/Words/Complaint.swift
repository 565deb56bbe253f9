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
    guard case .refused(let refused) = error else { return nil }
    let failure = refused.failure
    if failure == .wrongPasscode {
      let what = isCode ? "Wrong code" : "Wrong passcode"
      wait = refused.detail2
      text =
        refused.isUntakenCode
        ? what + ", and a code changes no slot; try again."
        : what + (wait > 0 ? "." : ", try again.")
    } else if failure == .wrongKey {
      text = "Wrong recovery key, try again."
    } else if failure == .recoveryKeyTypo {
      text = Self.typoText(refused)
    } else {
      return nil
    }
  }

  private static func typoText(_ refused: Refused) -> String {
    if refused.detail2 > 0 {
      let count = refused.detail2
      return "It has \(count) character" + (count == 1 ? "" : "s")
        + ", a recovery key has 36; try again."
    }
    if refused.detail > 0 {
      return "There is a typing error in group \(refused.detail), try again."
    }
    return "There is a typing error, try again."
  }

  /// The same for who is shown no count-down.
  var textWithWait: String {
    wait == 0 ? text : text + " The next try is possible in " + Diagnostic.wait(wait) + "."
  }
}

extension ClientError {
  /// For how long nothing may be tried, in ms, where that is why it was refused; nil for anything else.
  var wait: UInt64? {
    guard case .refused(let refused) = self, refused.failure == .throttled,
      refused.detail < TryReport.untilPasscode
    else { return nil }
    return refused.detail
  }
}
