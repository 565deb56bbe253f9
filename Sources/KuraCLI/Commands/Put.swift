// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura put`: stores exactly the bytes that come in.
enum Put {
  static let command = Command(
    "put", [.init("NAME", .optional)],
    abstract: "store a value: from stdin, a file, typed twice, or made",
    options: [
      Option(.file, .required("FILE"), help: "store what FILE holds"),
      Option(.fileDescriptor, .required("N"), help: "store what descriptor N gives"),
      Option(
        .generate, .optional("SPEC"),
        help: "store a new random value: 24,digits or words:5"),
      Option(.otp, help: "the value is an otpauth URI, or its secret"),
      Option(.attribute, .required("KEY=VALUE"), help: "set an attribute, too; may be repeated"),
      Option(.replace, help: "store over a value that is there"),
      Option.ifRevision,
      Option(.protect, help: "ask for the passcode at each read of it"),
      Option(.trim, help: "drop one newline at the end"),
      Option(.empty, help: "allow an empty value"),
      Option(.batch, help: "store many, each a line of JSON"),
      Option.json,
    ],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in try checkDescriptors(arguments) }
    if arguments.has(.batch) { return try storeMany(invocation) }
    guard !arguments.operands.isEmpty else {
      throw .usage(.operandMissing("NAME", verb: command.verb))
    }
    let order = try order(invocation)
    let access = try invocation.access()
    let reply: PutReply
    switch try source(invocation) {
    case .generated(let recipe):
      reply = try storeMade(order, access, recipe, invocation.messages)
    case .terminal:
      reply = try storeTyped(order, access, allowsEmpty: invocation.arguments.has(.empty))
    case .descriptor(let descriptor, let closes):
      defer { if closes { Descriptor.close(descriptor) } }
      reply = try store(order, access, from: descriptor, invocation)
    }
    if invocation.arguments.has(.json) { try write(reply, of: order.name, &invocation.output) }
    return .ok
  }

  private static func write(
    _ reply: PutReply, of name: String, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("name", name)
    try output.member("revision", reply.revision)
    if reply.replaced > 0 { try output.member("replaced", reply.replaced) }
    try output.closeDocument()
  }
}

// MARK: - What is wanted

extension Put {
  /// Says where the value comes from.
  private enum Source {
    case terminal
    case generated(Recipe)
    case descriptor(Int32, closes: Bool)
  }

  /// One stream cannot give both the passcode and the value: what is read first would be taken for
  /// the other. Two descriptors may well be one stream.
  static func checkDescriptors(_ arguments: Arguments) throws(UsageError) {
    guard let number = try sharedDescriptor(arguments) else { return }
    throw UsageError(
      "the passcode and the value cannot both come from descriptor \(number)",
      hint: "give the passcode with --passcode-file, or the value with --file")
  }

  private static func sharedDescriptor(_ arguments: Arguments) throws(UsageError) -> Int32? {
    let value = try arguments.number(.fileDescriptor, as: Int32.self) ?? 0
    if let passcode = try arguments.number(.passcodeFD, as: Int32.self) {
      if let path = arguments.value(.file) { return isStream(path, passcode) ? passcode : nil }
      return passcode == value || kura_is_same_file(passcode, value) ? value : nil
    }
    guard let path = arguments.value(.passcodeFile), !arguments.has(.file) else { return nil }
    return isStream(path, value) ? value : nil
  }

  private static func isStream(_ path: [UInt8], _ descriptor: Int32) -> Bool {
    guard let path = String(validating: path, as: UTF8.self) else { return false }
    return System.isSameStream(path, descriptor)
  }

  private static func source(_ invocation: borrowing Invocation) throws(CommandError) -> Source {
    let arguments = invocation.arguments
    let number = try parsing { () throws(UsageError) -> Int32? in
      try arguments.refuse(.file, with: .fileDescriptor)
      try arguments.refuse(.generate, with: .file, .fileDescriptor, .trim, .empty, .otp)
      try arguments.refuse(.otp, with: .empty)
      return try arguments.number(.fileDescriptor)
    }
    if arguments.has(.generate) {
      return .generated(
        try parsing { () throws(UsageError) in
          try arguments.value(.generate).map { text throws(UsageError) in try Recipe(text) }
            ?? .standard
        })
    }
    if let number { return .descriptor(number, closes: false) }
    if let path = try invocation.text(.file) {
      do throws(FileError) {
        return .descriptor(try Descriptor.open(path: path), closes: true)
      } catch { throw .file(.read, path: path, errno: error.errno) }
    }
    return kura_is_terminal(0) ? .terminal : .descriptor(0, closes: false)
  }

  private static func order(_ invocation: borrowing Invocation) throws(CommandError) -> PutOrder {
    let arguments = invocation.arguments
    var flags: PutRequest.Flags = []
    if arguments.has(.replace) { flags.insert(.replace) }
    if arguments.has(.empty) { flags.insert(.allowEmpty) }
    if arguments.has(.otp) { flags.insert(.otp) }
    let (revision, pairs) = try parsing { () throws(UsageError) in
      try arguments.refuse(.replace, with: .ifRevision)
      return (
        try arguments.number(.ifRevision, as: UInt64.self), try arguments.attributes(.attribute)
      )
    }
    if arguments.has(.protect) { flags.insert(.protect) }
    if revision != nil { flags.insert(.ifRevision) }
    var attributes: [Attribute] = []
    for pair in pairs { attributes.append(try pair.attribute()) }
    return PutOrder(
      name: try invocation.operand(0), flags: flags, revision: revision ?? 0,
      attributes: attributes)
  }
}

// MARK: - Many

extension Put {
  private static func storeMany(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in
      try arguments.refuse(
        .batch, with: .generate, .otp, .attribute, .ifRevision, .trim, .json)
      guard arguments.operands.isEmpty else {
        throw .operandUnexpected(arguments.operands[0], verb: command.verb + " --batch")
      }
    }
    guard case .descriptor(let descriptor, let closes) = try source(invocation) else {
      throw .usage(
        "many items are not typed", hint: "give their lines with --file, or on a pipe")
    }
    defer { if closes { Descriptor.close(descriptor) } }
    try BatchOfLines.store(from: descriptor, try invocation.access(), invocation)
    return .ok
  }
}

// MARK: - From a descriptor

extension Put {
  private static func store(
    _ order: PutOrder, _ access: VaultAccess, from descriptor: Int32,
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> PutReply {
    if order.flags.contains(.otp) { return try storeSeed(order, access, from: descriptor) }
    let trims = invocation.arguments.has(.trim)
    var input = ValueInput(descriptor: descriptor, trimsNewline: trims)
    let reply: PutReply
    do throws(CommandError) {
      reply = try store(order, access, &input, invocation.messages)
    } catch {
      guard let revision = existingRevision(error), !input.isSpent else { throw error }
      guard try confirms(order.name, access, error) else { throw .prompt(.cancelled) }
      reply = try store(order.replacing(revision), access, &input, invocation.messages)
    }
    if input.endedInNewline, !trims {
      invocation.messages.note("the value ends in a newline (--trim drops one)")
    }
    return reply
  }

  private static func store(
    _ order: PutOrder, _ access: VaultAccess, _ input: inout ValueInput, _ messages: Messages
  ) throws(CommandError) -> PutReply {
    var late: ClientError?
    var bar = ProgressBar("storing, MiB:", messages)
    defer { bar.clear() }
    do throws(CommandError) {
      return try access.unlocked { connection throws(ClientError) in
        do throws(ClientError) {
          return try connection.put(order, from: &input) { count in
            bar.show(ProgressReport(done: count >> 20, total: 0))
          }
        } catch {
          // A value of which a part is gone cannot be sent again after an unlock.
          guard input.isSpent else { throw error }
          late = error
          throw .stopped
        }
      }
    } catch {
      guard let late else { throw error }
      throw .client(late)
    }
  }

  /// The revision that is in the way; nil when another thing is.
  private static func existingRevision(_ error: CommandError) -> UInt64? {
    guard case .client(.refused(.exists(let revision, _))) = error else { return nil }
    return revision
  }

  private static func confirms(
    _ name: String, _ access: VaultAccess, _ error: CommandError
  ) throws(CommandError) -> Bool {
    var questioner = try access.asking.questioner()
    let question = Diagnostic.shown(name) + " exists; replace it?"
    let answer = try prompting { () throws(PromptError) in
      try questioner.prompt?.confirms(question)
    }
    guard let answer else { throw error }
    return answer
  }
}

// MARK: - Made

extension Put {
  /// Nothing is said of the value but how hard it is to guess.
  private static func storeMade(
    _ order: PutOrder, _ access: VaultAccess, _ recipe: Recipe, _ messages: Messages
  ) throws(CommandError) -> PutReply {
    let reply = try store(order, access, try recipe.make())
    messages.note(recipe.entropyWords)
    return reply
  }

  private static func store(
    _ order: PutOrder, _ access: VaultAccess, _ value: borrowing SecretBytes
  ) throws(CommandError) -> PutReply {
    do throws(CommandError) {
      return try access.unlocked { connection throws(ClientError) in
        try connection.put(order, value: value.bytes)
      }
    } catch {
      guard let revision = existingRevision(error) else { throw error }
      guard try confirms(order.name, access, error) else { throw .prompt(.cancelled) }
      return try access.unlocked { connection throws(ClientError) in
        try connection.put(order.replacing(revision), value: value.bytes)
      }
    }
  }

  /// Stores what makes one-time codes. A URI never ends in a newline, what prints one does.
  private static func storeSeed(
    _ order: PutOrder, _ access: VaultAccess, from descriptor: Int32
  ) throws(CommandError) -> PutReply {
    var text: SecretBuffer
    do throws(FileError) {
      text = try Descriptor.readAll(descriptor, limit: 1 << 20)
    } catch { throw .client(.input(error.errno)) }
    let count = text.count
    if count > 0, text.bytes[count - 1] == UInt8(ascii: "\n") { text.removeLast(1) }
    return try store(order, access, try seed(text.finish(), order.name))
  }

  /// The URI of a secret that is given bare.
  private static func seed(
    _ text: consuming SecretBytes, _ name: String
  ) throws(CommandError) -> SecretBytes {
    let uri: SecretBytes?
    do throws(SecureMemoryError) { uri = try BareSeed.uri(text.bytes, named: name) } catch {
      throw .outOfMemory
    }
    if let uri { return uri }
    return text
  }
}

// MARK: - Typed

extension Put {
  private static func storeTyped(
    _ order: PutOrder, _ access: VaultAccess, allowsEmpty: Bool
  ) throws(CommandError) -> PutReply {
    var order = order
    var held = Held()
    let isConditional = !order.flags.isDisjoint(with: [.replace, .ifRevision])
    if !isConditional, let revision = try revision(of: order.name, access, &held) {
      order = order.replacing(revision)
    }
    let name = Diagnostic.shown(order.name)
    var questioner = try access.asking.questioner()
    let typed: SecretBytes?
    if order.flags.contains(.otp), questioner.hasTerminal {
      // It is pasted, and checked by the agent: once is enough.
      let text = try questioner.ask("otpauth URI or secret for " + name + ": ", isHidden: true)
      questioner.endLine()
      typed = try seed(text, order.name)
    } else {
      typed = try questioner.prompt?.twice(
        "value for " + name + ": ", .value, allowsEmpty: allowsEmpty)
    }
    guard let value = typed else { throw .noInteraction(.value) }
    // The terminal is given back before anything else asks.
    questioner.prompt = nil
    return try access.unlocked(holding: &held) { connection throws(ClientError) in
      try connection.put(order, value: value.bytes)
    }
  }

  /// The revision to be replaced, after the person agreed; nil when there is no such item.
  private static func revision(
    of name: String, _ access: VaultAccess, _ held: inout Held
  ) throws(CommandError) -> UInt64? {
    let revision = try access.unlocked(holding: &held) {
      connection throws(ClientError) -> UInt64? in
      do throws(ClientError) { return try connection.show(name).item.facts.revision } catch {
        guard case .refused(.notFound) = error else { throw error }
        return nil
      }
    }
    guard let revision else { return nil }
    guard try confirms(name, access, .noInteraction(.value)) else { throw .prompt(.cancelled) }
    return revision
  }
}

extension PutOrder {
  /// The same, in the place of a revision that the person saw.
  fileprivate func replacing(_ revision: UInt64) -> PutOrder {
    var order = self
    order.flags.insert(.ifRevision)
    order.revision = revision
    return order
  }
}
