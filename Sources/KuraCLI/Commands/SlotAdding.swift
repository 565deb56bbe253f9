// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura slot add`: makes another way to unlock the vault.
struct SlotAdding: ~Copyable {
  private let order: SlotOrder
  private let secret: SecretBytes
  private var keeper: RecoveryKeeper

  static func run(
    _ kind: Credential, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    try check(invocation.arguments, for: kind)
    var questioner = try access.asking.questioner()
    let place = try place(for: kind, invocation)
    guard place != .terminal || questioner.hasTerminal else {
      throw .noInteraction(.newRecoveryKeyShown)
    }
    let keeper = try RecoveryKeeper(place, questioner)
    // What can be wrong with a file is found before anybody types a passcode.
    let keyFile = kind == .keyFile ? try access.asking.keyFile(isNew: true) : nil
    if invocation.arguments.has(.auto) { try checkPlace(of: keyFile, invocation) }
    var connection = try access.connectRunningOrOwn()
    let (chip, key) = try hardware(for: kind, &connection)
    let given =
      kind == .keyFile
      ? keyFile : try access.asking.secret(.newPasscodeFD, .newPasscodeFile)
    let asksMore = given == nil && questioner.canAsk
    let credential = try ProvedCredential.take(
      access, &questioner, &connection, as: access.asking.authority, provingGiven: asksMore)
    var order = try order(kind, invocation)
    let secret =
      if let key { try KeyTouch.newPIN(key, given: given, &questioner) } else {
        try secret(&order, given, &questioner, invocation)
      }
    if key != nil { invocation.messages.note(KeyTouch.sentence + ", and once more") }
    var adding = SlotAdding(order: order, secret: secret, keeper: keeper)
    let number = try adding.make(credential, &questioner, &connection)
    invocation.messages.note("this is slot \(number): \(order.kind.word)")
    if let key { for line in Diagnostic.thiefWords(key) { invocation.messages.note(line) } }
    guard let chip else { return }
    let takesCode = !invocation.arguments.has(.noCode)
    for line in Diagnostic.thiefWords(chip, takesCode: takesCode) { invocation.messages.note(line) }
  }

  /// What the slot is to be of, where that is no file and nothing that is typed.
  private static func hardware(
    for kind: Credential, _ connection: inout Connection
  ) throws(CommandError) -> (ChipFacts?, SecurityKeyFacts?) {
    do throws(ClientError) {
      return (
        kind == .tpm ? try connection.chip() : nil,
        kind == .fido2 ? try connection.securityKey(forNew: true) : nil
      )
    } catch { throw .adding(kind, error) }
  }

  private mutating func make(
    _ credential: borrowing ProvedCredential, _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> UInt8 {
    var failure: CommandError?
    do throws(ClientError) {
      return try connection.addSlot(
        credential.kind, current: credential.secret, order, secret: secret
      ) { key throws(ClientError) in keeper.keep(key, &questioner, &failure) }
    } catch { throw failure?.withoutChange ?? .adding(order.kind, error) }
  }
}

// MARK: - What is wanted

extension SlotAdding {
  /// Refuses options that say nothing about this kind of slot.
  private static func check(
    _ arguments: Arguments, for kind: Credential
  ) throws(CommandError) {
    let own: [OptionName] =
      switch kind {
      case .passcode: [.newPasscodeFD, .newPasscodeFile, .weakPasscode] + costs
      case .recoveryKey: [.newRecoveryKeyFile, .replace]
      case .keyFile: [.keyFile, .keyFileFD, .withProtected, .auto]
      case .local: [.newPasscodeFD, .newPasscodeFile, .withProtected, .submit] + costs
      case .tpm: [.newPasscodeFD, .newPasscodeFile, .withProtected, .noCode] + costs
      case .fido2: [.newPasscodeFD, .newPasscodeFile, .withProtected]
      }
    let all: [OptionName] =
      [
        .newPasscodeFD, .newPasscodeFile, .newRecoveryKeyFile, .replace, .keyFile, .keyFileFD,
        .withProtected, .weakPasscode, .auto, .submit, .noCode,
      ] + costs
    for option in all where arguments.has(option) && !own.contains(option) {
      throw .usage(
        option.spelling + " says nothing about a slot of kind " + kind.word,
        hint: "'kura help slot' tells more")
    }
    if arguments.has(.noCode) {
      try parsing { () throws(UsageError) in
        try arguments.refuse(.noCode, with: .newPasscodeFD, .newPasscodeFile, .withProtected)
      }
    }
    guard kind == .keyFile else { return }
    guard arguments.has(.keyFile) || arguments.has(.keyFileFD) else {
      throw .usage(.keyFileMissing)
    }
    guard arguments.has(.keyFile) || !arguments.has(.auto) else {
      throw .usage(
        "--auto has to know where the key file stands", hint: "name it with --key-file")
    }
  }

  private static let costs: [OptionName] = [.kdfMemory, .kdfPasses, .weakKDF]

  private static func place(
    for kind: Credential, _ invocation: borrowing Invocation
  ) throws(CommandError) -> RecoveryKeeper.Place {
    guard kind == .recoveryKey else { return .nowhere }
    guard let path = try invocation.text(.newRecoveryKeyFile) else { return .terminal }
    return .file(path)
  }

  private static func order(
    _ kind: Credential, _ invocation: borrowing Invocation
  ) throws(CommandError) -> SlotOrder {
    let arguments = invocation.arguments
    var order = SlotOrder(kind)
    order.label = try invocation.text(.label) ?? ""
    order.cost = try parsing { () throws(UsageError) in try arguments.cost() }
    if let path = try invocation.text(.keyFile) { order.place = absolute(path) }
    if arguments.has(.replace) { order.flags.insert(.replace) }
    if arguments.has(.weakKDF) { order.flags.insert(.weakKDF) }
    if arguments.has(.withProtected) { order.flags.insert(.withProtected) }
    if arguments.has(.auto) { order.flags.insert(.tried) }
    if arguments.has(.submit) { order.flags.insert(.submitted) }
    return order
  }

  /// What is tried by itself later is found by its path then, and has to be so now.
  private static func checkPlace(
    of keyFile: borrowing SecretBytes?, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let size: Int
    switch keyFile {
    case .some(let file): size = file.count
    case .none: return
    }
    let path = absolute(try invocation.text(.keyFile) ?? "")
    guard path.utf8.count <= longestPlace else {
      throw .usage(
        "--auto remembers a path of \(longestPlace) bytes at most",
        hint: "lay the key file elsewhere")
    }
    do throws(FileError) {
      Descriptor.close(try Descriptor.open(path: path, size: UInt64(size)))
    } catch {
      throw .usage(
        "--auto finds no regular file there: " + Diagnostic.shown(path),
        hint: "name the key file itself, and no link to it")
    }
  }

  /// The longest path that a machine remembers, in bytes.
  private static let longestPlace = 1_024

  /// Where a key file stands; without a working directory that is not known.
  private static func absolute(_ path: String) -> String {
    do throws(PathError) { return try VaultPath(at: path).path } catch { return "" }
  }

  /// What is to open the slot. A passcode may turn out to be meant as a code.
  private static func secret(
    _ order: inout SlotOrder, _ given: consuming SecretBytes?, _ questioner: inout Questioner,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> SecretBytes {
    switch order.kind {
    case .passcode:
      let choice = try NewPasscode(
        remark: StrengthRemark(order.cost), takesWeak: invocation.arguments.has(.weakPasscode),
        codeOffer: codeOffer, remedy: .slot
      ).take(given: given, orNeeds: .newPasscode, &questioner, invocation.messages)
      if choice.isCode { order.kind = .local }
      return choice.secret
    case .local:
      let code = try newCode(given: given, orNeeds: .newPasscode, &questioner)
      if order.flags.contains(.submitted) { try checkKeys(of: code) }
      return code
    case .tpm where !invocation.arguments.has(.noCode):
      return try newCode(given: given, orNeeds: .newPasscode, &questioner, isOfChip: true)
    case .recoveryKey, .keyFile, .tpm, .fido2:
      if let given = given.take() { return given }
      return try allocating { () throws(SecureMemoryError) in try SecretBytes(count: 0) }
    }
  }

  /// A code that is sent at its last key has a key for each character.
  private static func checkKeys(of code: borrowing SecretBytes) throws(CommandError) {
    for index in code.bytes.indices where !(0x21...0x7E).contains(code.bytes[index]) {
      throw .usage(
        "a code that is sent by itself is made of digits, letters and signs of ASCII",
        hint: "without --submit it may have others")
    }
  }

  /// What is said of a code where a weak passcode was typed.
  static let codeOffer = [
    "As a code for this machine it would do: it opens the vault here alone, beside a",
    "secret that only this machine has, and the passcodes stay as they are.",
  ]

  /// Adds a code for this machine that was typed for a passcode.
  static func addCode(
    _ code: borrowing SecretBytes, _ credential: borrowing ProvedCredential, _ cost: KDFParameters,
    _ connection: inout Connection, _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    var order = SlotOrder(.local)
    order.cost = cost
    if invocation.arguments.has(.weakKDF) { order.flags.insert(.weakKDF) }
    let number = try running { () throws(ClientError) in
      try connection.addSlot(
        credential.kind, current: credential.secret, order, secret: code
      ) { _ in true }
    }
    invocation.messages.note("this is slot \(number): " + order.kind.word)
    return .ok
  }

  /// Takes the code that a script hands over, or asks for one twice. How long a thief with the file would
  /// need to guess it is not said: without this machine's secret nobody can begin.
  ///
  /// - Parameter need: What is missing where nobody can be asked.
  static func newCode(
    given: consuming SecretBytes?, orNeeds need: Need, _ questioner: inout Questioner,
    isOfChip: Bool = false
  ) throws(CommandError) -> SecretBytes {
    guard let code = given.take() else {
      guard questioner.canAsk else { throw .noInteraction(need) }
      let label = isOfChip ? "code for this machine's TPM: " : "code for this machine: "
      return try questioner.twice(label, .passcode) { _ in
        isOfChip
          ? "Without this machine's TPM, which counts the tries, nobody can try it."
          : "Without a secret in this machine's state directory nobody can try it."
      }
    }
    guard code.count > 0 else { throw .usage(.passcodeEmpty) }
    return code
  }
}
