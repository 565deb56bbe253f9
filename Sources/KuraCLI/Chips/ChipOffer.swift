// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Offers a code for this machine's TPM beside the passcode of a new vault.
enum ChipOffer {
  /// Asks a person at a terminal whether he wants one, and for it.
  ///
  /// - Returns: The code; nil where there is nobody, no TPM, or it is not wanted.
  static func code(
    _ isOffered: Bool, _ access: VaultAccess, _ questioner: inout Questioner
  ) throws(CommandError) -> SecretBytes? {
    guard isOffered, questioner.hasTerminal, !access.asking.isGiven,
      let facts = facts(access), facts.isLimited, facts.mayTry
    else { return nil }
    for line in words(facts) { questioner.prompt?.say(line) }
    let isWanted =
      try prompting { () throws(PromptError) in
        try questioner.prompt?.confirms("have a short code for this machine?")
      } ?? false
    guard isWanted else { return nil }
    let code = try SlotAdding.newCode(
      given: nil, orNeeds: .newPasscode, &questioner, isOfChip: true)
    questioner.prompt?.say("Now the passcode, which opens the vault everywhere.")
    return code
  }

  /// How the TPM holds; nil where there is none that may be used, which is not worth a word here.
  private static func facts(_ access: VaultAccess) -> ChipFacts? {
    do throws(CommandError) {
      var connection = try access.connectRunningOrOwn()
      return try running { () throws(ClientError) in try connection.chip() }
    } catch { return nil }
  }

  private static func words(_ facts: ChipFacts) -> [String] {
    [
      "This machine has a TPM, which counts wrong codes: a short one can open the vault here,",
      "beside the passcode, which you choose after that for other machines, and in case the TPM",
      "is gone.",
    ] + Diagnostic.thiefWords(facts, takesCode: true).map { "- " + $0 }
  }

  /// Adds the slot. The vault is there, whatever comes of this.
  static func add(
    _ code: borrowing SecretBytes, _ order: SlotOrder, beside passcode: borrowing SecretBytes,
    _ access: VaultAccess, _ messages: Messages
  ) {
    do throws(CommandError) {
      var connection = try access.connectRunningOrOwn()
      let number = try running { () throws(ClientError) in
        try connection.addSlot(.passcode, current: passcode, order, secret: code) { _ in true }
      }
      messages.note("the code is slot \(number): tpm; 'kura unlock' asks for it at Enter alone")
    } catch {
      messages.warn("the code was not added: " + Diagnostic(error).message)
      messages.suggest("'kura slot add tpm' adds one")
    }
  }
}
