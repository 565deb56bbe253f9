// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Says what a person is asked for, and when.
struct Question {
  var label: String
  /// The same for a program that gets it as its argument, which every user of the machine can read: no item's
  /// name.
  let openLabel: String
  /// Says what an answer is tried as: a code that is tried as a passcode would use up a try of it.
  var kind: Credential
  /// For how long nothing that is typed could be tried, in ms.
  var wait: UInt64 = 0
  /// What the program that asks says it is for, in its own words: shown to a person, on a line of its own.
  var remark: String?
  /// Whether there is a recovery key, which never waits.
  var hasRecoveryKey = false
  /// What is said of Enter alone, where that is an answer, too.
  var enterRemark: String?
  /// At how many characters the answer is sent without Enter; 0 for not at all.
  var submitLength = 0
  /// The question for the passcode that Tab leads to, which waits for Enter.
  var otherLabel = ""

  /// What Enter alone leads to, and back from there; nil where it leads nowhere.
  var swap: Swap?

  /// Names another question.
  struct Swap {
    let label: String
    let kind: Credential
    /// For how long nothing that is typed there could be tried, in ms.
    let wait: UInt64
  }

  /// What is said of that.
  static let swapRemark =
    "Enter alone asks for the code of this machine's TPM, and again for the passcode"

  /// Asks the other question.
  mutating func turnOver() {
    guard let other = swap else { return }
    swap = Swap(label: label, kind: kind, wait: wait)
    (label, kind, wait) = (other.label, other.kind, other.wait)
  }

  /// Tells a question for the code of this machine alone, whose answer opens nothing elsewhere.
  var isCode: Bool { kind == .local }
}

/// Says what a passcode is for, to who is asked for it.
struct Purpose: Equatable, Sendable {
  private let action: String
  private let item: String?

  /// - Parameters:
  ///   - action: As in `rename`, to which a name may be added.
  ///   - item: The item's name as people are shown it.
  init(_ action: String, _ item: String? = nil) {
    self.action = action
    self.item = item
  }

  /// For the person.
  var text: String { action + (item.map { " " + $0 } ?? "") }

  /// For everybody.
  var openText: String { action + (item == nil ? "" : " an item") }
}

extension VaultAccess {
  /// The question for a credential.
  func question(_ kind: Credential, to purpose: Purpose?) -> Question {
    var question = Question(
      label: label(kind, purpose?.text), openLabel: label(kind, purpose?.openText), kind: kind)
    question.remark = Claim.remark(asking.reason)
    if kind == .fido2 { question.remark = "After the PIN, " + KeyTouch.sentence + "." }
    return question
  }

  private func label(_ kind: Credential, _ purpose: String?) -> String {
    let words =
      switch kind {
      case .recoveryKey: "recovery key of "
      case .local: "code of this machine for "
      case .tpm: "code of this machine's TPM for "
      case .fido2: "PIN of the security key for "
      case .passcode, .keyFile: "passcode for "
      }
    return words + title + (purpose.map { ", to " + $0 } ?? "") + ": "
  }
}
