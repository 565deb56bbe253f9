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

  /// What Enter alone leads to, one after the other, and back from there.
  var swaps: [Swap] = []
  /// Whether nothing is typed for it: a security key is touched.
  var isTouched = false

  /// Names another question.
  struct Swap {
    let label: String
    let kind: Credential
    /// For how long nothing that is typed there could be tried, in ms.
    var wait: UInt64 = 0
    var isTouched = false

    /// What it asks for, in the words of ``Question/swapRemark``.
    fileprivate var words: String {
      if isTouched { return "a touch of the security key" }
      return kind == .fido2 ? "the PIN of the security key" : "the code of this machine's TPM"
    }
  }

  /// What is said of that; nil where Enter alone leads nowhere.
  var swapRemark: String? {
    guard let last = swaps.last else { return nil }
    let all = swaps.map { $0.words }.joined(separator: ", again for ")
    // Nothing is asked while a key blinks.
    return "Enter alone asks for " + all + (last.isTouched ? "" : ", and again for the passcode")
  }

  /// Asks the next question.
  mutating func turnOver() {
    guard !swaps.isEmpty else { return }
    let next = swaps.removeFirst()
    swaps.append(Swap(label: label, kind: kind, wait: wait, isTouched: isTouched))
    (label, kind, wait, isTouched) = (next.label, next.kind, next.wait, next.isTouched)
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
    if kind == .fido2 { question.remark = KeyTouch.remark(isAlone: false) }
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
