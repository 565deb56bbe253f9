// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Reads what a person answers to a question that yes or no answers.
enum YesOrNo: Equatable {
  case yes, no

  /// Takes `y`, `yes`, `n` and `no`, small or capital; nothing at all is no. Nil for anything else: who
  /// typed a passcode by mistake has not said no to something.
  init?(_ answer: borrowing SecretBytes) {
    switch answer.count {
    case 0: self = .no
    case _ where Self.reads(answer, "y") || Self.reads(answer, "yes"): self = .yes
    case _ where Self.reads(answer, "n") || Self.reads(answer, "no"): self = .no
    default: return nil
    }
  }

  private static func reads(_ answer: borrowing SecretBytes, _ word: String) -> Bool {
    guard answer.count == word.utf8.count else { return false }
    let bytes = answer.bytes
    for (index, letter) in word.utf8.enumerated() where bytes[index] | 0x20 != letter {
      return false
    }
    return true
  }
}
