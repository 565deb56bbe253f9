// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension SlotFacts {
  /// What the slot gives a thief of the file or the disk, and who has more than that, a line each.
  ///
  /// - Parameter chip: How this machine's TPM holds; nil where that is not known.
  func thiefWords(_ chip: ChipFacts?) -> [String] {
    switch kind {
    case .passcode:
      [
        "who has the file, or a copy, can guess at the passcode: each guess costs "
          + sizeText(cost.memory) + " and \(cost.passes) passes"
      ]
    case .recoveryKey: ["who has the file, or a copy, has nothing to guess at"]
    case .keyFile:
      [
        "who has the file alone has nothing to guess at",
        "who has the key file, too, needs nothing else",
      ]
    case .local:
      [
        "who has the file alone has nothing to guess at",
        "who has the disk of the slot's machine, too, can guess at the code: each guess costs "
          + sizeText(cost.memory) + " and \(cost.passes) passes",
      ]
    case .tpm2: chipThiefWords(chip)
    case .fido2:
      [
        "a stolen disk holds nothing to guess at",
        "who has the security key, too, needs "
          + (isVerified
            ? "its PIN, or to be known to it" : "nothing else: it asks for a touch alone"),
      ]
    case .disabled: ["nobody opens it while it is disabled"]
    case .later: []
    }
  }

  private func chipThiefWords(_ chip: ChipFacts?) -> [String] {
    guard takesCode, chip == nil || availability != .here else {
      let none = ChipFacts(failures: 0, mostFailures: 0, interval: 0, hasLockoutPassword: false)
      return Diagnostic.thiefWords(chip ?? none, takesCode: takesCode)
    }
    return [
      "a stolen disk holds nothing to guess at",
      "who has the whole machine, too, can try as many codes as its TPM takes",
    ]
  }
}
