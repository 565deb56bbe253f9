// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Has a new passcode chosen. One rule holds wherever one is set: what a thief with the vault's file would
/// guess within a day is taken only from somebody who says so.
struct NewPasscode {
  let remark: StrengthRemark
  /// Whether `--weak-passcode` takes what is too weak.
  let takesWeak: Bool
  /// What becomes of a code for this machine, where one is offered in the place of a weak passcode.
  var codeOffer: [String] = []
  /// How it could be taken where nobody can be asked.
  let remedy: WeakPasscodeRemedy

  /// Holds what was chosen.
  struct Choice: ~Copyable {
    var secret: SecretBytes
    /// Whether it is to be a code for this machine.
    var isCode = false
  }

  /// Takes what a script hands over, or asks for one.
  ///
  /// - Parameter need: What is missing where nobody can be asked.
  func take(
    given: consuming SecretBytes?, orNeeds need: Need, _ questioner: inout Questioner,
    _ messages: Messages
  ) throws(CommandError) -> Choice {
    guard let passcode = given.take() else {
      guard questioner.canAsk else { throw .noInteraction(need) }
      guard questioner.hasTerminal else { return try askProgram(&questioner) }
      return try ask(&questioner)
    }
    try judge(passcode, messages)
    return Choice(secret: passcode)
  }

  private func judge(
    _ passcode: borrowing SecretBytes, _ messages: Messages
  ) throws(CommandError) {
    guard passcode.count > 0 else { throw .usage(.passcodeEmpty) }
    // What can be no passcode at all is refused by the agent, which says why.
    guard passcode.isTyped else { return }
    let strength = remark.strength(of: passcode)
    guard takesWeak || !strength.isTooWeak else {
      throw .weakPasscode(passcode.mayBeCode ? remedy : .another, lasts: strength.lasts)
    }
    guard !strength.text.utf8.isEmpty else { return }
    if strength.isWeak { messages.warn(strength.text) } else { messages.note(strength.text) }
  }

  /// A program has no room for a conversation.
  private func askProgram(_ questioner: inout Questioner) throws(CommandError) -> Choice {
    let passcode = try questioner.twice("new passcode: ", .passcode) { _ in "" }
    let strength = remark.strength(of: passcode)
    guard takesWeak || !strength.isTooWeak else {
      throw .weakPasscode(passcode.mayBeCode ? remedy : .another, lasts: strength.lasts)
    }
    return Choice(secret: passcode)
  }
}

// MARK: - At a terminal

extension NewPasscode {
  /// Asks until there is one: another try is always to be had.
  private func ask(_ questioner: inout Questioner) throws(CommandError) -> Choice {
    var mistakes = 0
    while true {
      let first = try answer(
        "new passcode (Enter alone makes up five random words): ", &questioner, allowsEmpty: true)
      guard first.count > 0 else {
        guard let words = try randomWords(&questioner) else { continue }
        return Choice(secret: words)
      }
      guard let isCode = try accepts(first, &questioner) else { continue }
      let second = try answer("again: ", &questioner)
      if first.isEqual(to: second) { return Choice(secret: first, isCode: isCode) }
      mistakes += 1
      guard mistakes < 3 else { throw .mismatch(.passcode) }
      questioner.prompt?.say("They differ, try again.")
    }
  }

  /// Tells how strong it is, and asks where it is too weak.
  ///
  /// - Returns: Whether it is to be a code; nil where it is not to be taken.
  private func accepts(
    _ passcode: borrowing SecretBytes, _ questioner: inout Questioner
  ) throws(CommandError) -> Bool? {
    let strength = remark.strength(of: passcode)
    if !strength.text.utf8.isEmpty {
      questioner.prompt?.say("A" + strength.text.dropFirst() + ".")
    } else if strength.isTooWeak {
      questioner.prompt?.say("A passcode this short is soon guessed by a thief with the file.")
    }
    guard strength.isTooWeak, !takesWeak else { return false }
    if !codeOffer.isEmpty, passcode.mayBeCode {
      for line in codeOffer { questioner.prompt?.say(line) }
      if try confirms("make it a code for this machine?", &questioner) { return true }
    }
    return try confirms("take it as the passcode all the same?", &questioner) ? false : nil
  }

  /// Shows five words, which are typed back; nil for others.
  private func randomWords(
    _ questioner: inout Questioner
  ) throws(CommandError) -> SecretBytes? {
    let words = try Recipe.words(5).make()
    questioner.prompt?.beginPassage()
    questioner.prompt?.say("\nYour new passcode, five words made up by chance:\n")
    questioner.prompt?.say(secret: words.bytes)
    questioner.prompt?.say("\nWrite it down until you know it by heart, dashes and all.")
    for _ in 0..<3 {
      let typed = try answer(
        "type it once, to show that you have it (Enter alone: another way): ", &questioner,
        allowsEmpty: true)
      guard typed.count > 0 else { break }
      if typed.isEqual(to: words) {
        questioner.prompt?.erasePassage()
        return typed
      }
      questioner.prompt?.say("That is not what stands above, look again.")
    }
    questioner.prompt?.erasePassage()
    return nil
  }

  private func answer(
    _ label: String, _ questioner: inout Questioner, allowsEmpty: Bool = false
  ) throws(CommandError) -> SecretBytes {
    var nobody = NobodyElse()
    let answer = try prompting { () throws(PromptError) in
      try questioner.prompt?.line(label, allowsEmpty: allowsEmpty, watch: &nobody)
    }
    questioner.endLine()
    guard let answer else { throw .prompt(.failed) }
    return answer
  }

  private func confirms(
    _ question: String, _ questioner: inout Questioner
  ) throws(CommandError) -> Bool {
    try prompting { () throws(PromptError) in try questioner.prompt?.confirms(question) } ?? false
  }
}

extension SecretBytes {
  /// Whether a code for one machine can have that many characters.
  var mayBeCode: Bool {
    borrowing get {
      var count = 0
      for index in bytes.indices where bytes[index] & 0xC0 != 0x80 { count += 1 }
      return (4...16).contains(count)
    }
  }

  /// Whether it is text as one types it, without control characters.
  fileprivate var isTyped: Bool {
    borrowing get {
      for index in bytes.indices where bytes[index] < 0x20 || bytes[index] == 0x7F { return false }
      return UTF8Scanner.isText(bytes)
    }
  }
}
