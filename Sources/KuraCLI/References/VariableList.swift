// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Gathers the variables that a program gets beside those that are there: the last word on a name
/// counts.
struct VariableList: ~Copyable {
  /// The most there may be.
  static let limit = 4_096
  /// What execve(2) takes of one variable, name and NUL included: 32 pages.
  static let lengthLimit = 131_072

  /// Says where a value comes from.
  enum Source: Equatable, Sendable {
    /// Text, as it was given, with values filled in.
    case text([Piece])
    /// It is the path of a file that holds a value: in memory, or under a name of its own.
    case file(PlacedReference, name: String?)
  }

  /// Holds a variable's name, and where its value comes from.
  struct Entry: Equatable, Sendable {
    let name: [UInt8]
    var source: Source
  }

  private(set) var entries: [Entry] = []
  private var literals: SecretBuffer
  private let dialect: ReferenceDialect

  private init(_ literals: consuming SecretBuffer, _ dialect: ReferenceDialect) {
    self.literals = literals
    self.dialect = dialect
  }

  /// An empty list.
  static func make(_ dialect: ReferenceDialect = .plain) throws(CommandError) -> VariableList {
    let literals = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    return VariableList(literals, dialect)
  }

  /// Reads the environment, then what stands below prefixes, then files, then options: later ones replace
  /// earlier ones.
  static func read(
    _ invocation: borrowing Invocation, _ inherited: InheritedVariables,
    _ dialect: ReferenceDialect
  ) throws(CommandError) -> VariableList {
    let arguments = invocation.arguments
    let bindings = try VariableBinding.all(arguments)
    let prefixes = try VariablePrefix.all(arguments)
    var list = try make(dialect)
    try list.add(inherited)
    for prefix in prefixes {
      for variable in try prefix.variables(invocation) {
        try list.set(variable.name, .text([.placeholder(variable.placeholder)]))
      }
    }
    for path in arguments.values(.environmentFile) {
      try list.add(file: try Invocation.text(path))
    }
    for binding in bindings { try list.add(binding) }
    return list
  }

  /// What the texts' pieces are parts of.
  var text: Span<UInt8> {
    @_lifetime(borrow self)
    borrowing get { literals.bytes }
  }
}

extension VariableList {
  /// Reads the text once more, in a process that does not have it.
  mutating func refill(from channel: Int32) throws(FileError) {
    try literals.refill(from: channel)
  }
}

// MARK: - Filling

extension VariableList {
  /// Sets a variable; what was set before under that name is forgotten.
  private mutating func set(_ name: [UInt8], _ source: Source) throws(CommandError) {
    if let known = entries.firstIndex(where: { $0.name == name }) {
      entries[known].source = source
    } else {
      guard entries.count < Self.limit else { throw .syntax(.tooMany(Self.limit)) }
      entries.append(Entry(name: name, source: source))
    }
  }

  /// Takes variables of the environment: those that are references, and with a list of what is kept the
  /// others that it names.
  private mutating func add(_ inherited: InheritedVariables) throws(CommandError) {
    let matches = inherited.matches { [dialect] in dialect.begins($0, at: 0) }
    for match in matches {
      let source: Source
      if dialect.begins(match.value.span, at: 0) {
        let reference = try dialect.read(match.value, at: .variable(match.name))
        source = .text([.placeholder(Placeholder(reference))])
      } else {
        source = .text([.text(try append(match.value.span))])
      }
      try set(match.name, source)
    }
  }

  /// Reads `REFERENCE` or `REFERENCE:NAME`.
  private static func file(
    _ text: [UInt8], _ dialect: ReferenceDialect, _ place: Place
  ) throws(CommandError) -> Source {
    let colon = text.lastIndex(of: UInt8(ascii: ":")) ?? 0
    guard colon >= ItemReference.scheme.utf8.count, !text[colon...].contains(UInt8(ascii: "/"))
    else { return .file(try dialect.read(text, at: place), name: nil) }
    guard let name = String(validating: text[(colon + 1)...], as: UTF8.self), isFileName(name)
    else {
      throw .placed(
        place,
        .usage(
          "what stands behind the : cannot be the name of a file",
          hint: "a : in the name of an item is written %3A"))
    }
    return .file(try dialect.read(Array(text[..<colon]), at: place), name: name)
  }

  /// Whether a text is one part of a path.
  private static func isFileName(_ name: String) -> Bool {
    let bytes = Array(name.utf8)
    let isPlace = bytes == [UInt8(ascii: ".")] || bytes == Array("..".utf8)
    return (1...255).contains(bytes.count) && !isPlace && !bytes.contains(0)
  }

  private mutating func append(_ text: Span<UInt8>) throws(CommandError) -> Range<Int> {
    let start = literals.count
    do throws(SecureMemoryError) { try literals.append(text) } catch { throw .outOfMemory }
    return start..<literals.count
  }

  /// Takes what an option gives.
  private mutating func add(_ binding: VariableBinding) throws(CommandError) {
    let place = Place.option(binding.option, binding.name)
    guard binding.option != .file else {
      return try set(binding.name, try Self.file(binding.value, dialect, place))
    }
    let range = try append(binding.value.span)
    let source = try source(range, place)
    guard case .text(let pieces) = source, pieces.contains(where: { $0.placeholder != nil }) else {
      throw .placed(place, .usage(.notAReference(.scheme)))
    }
    try set(binding.name, source)
  }

  /// Takes the variables of a file.
  mutating func add(file path: String) throws(CommandError) {
    let text: SecretBuffer
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      text = try Descriptor.readAll(descriptor, limit: EnvironmentFile.limit)
    } catch {
      guard error.errno != FileError.tooLarge else {
        throw .failure(
          "cannot read " + Diagnostic.shown(path) + ": it has more than 1 MiB",
          hint: "--env-file can be given several times", .inputOutput)
      }
      throw .file(.read, path: path, errno: error.errno)
    }
    try add(text, of: path)
  }

  mutating func add(_ text: consuming SecretBuffer, of path: String) throws(CommandError) {
    var file = EnvironmentFile(text, expands: dialect.expands)
    var line = 1
    do throws(CommandError) {
      while true {
        let start = literals.count
        let name = try file.next(into: &literals, startingAt: &line)
        guard let name else { return }
        let source = try source(start..<literals.count, .line(line, of: path))
        if file.hasExpansion { try checkExpansions(source) }
        try set(name, source)
      }
    } catch {
      guard case .syntax(let flaw) = error else { throw error }
      let place = flaw == .openQuote ? line : max(line, file.line)
      throw .placed(.line(place, of: path), error)
    }
  }

  /// What a value stands for: a reference, or text with placeholders.
  private mutating func source(
    _ value: Range<Int>, _ place: Place
  ) throws(CommandError) -> Source {
    guard dialect.begins(literals.bytes, at: value.lowerBound) else {
      return .text(
        try PlaceholderScanner.pieces(of: literals.bytes, in: value, .value(place), dialect))
    }
    let bytes = Array(copying: literals.bytes.extracting(value))
    literals.removeLast(value.count)
    return .text([.placeholder(Placeholder(try dialect.read(bytes, at: place)))])
  }

  /// Only references may have variables in them.
  private borrowing func checkExpansions(_ source: Source) throws(CommandError) {
    guard case .text(let pieces) = source else { return }
    for case .text(let range) in pieces {
      let bytes = literals.bytes.extracting(range)
      for index in bytes.indices.dropLast()
      where bytes[index] == UInt8(ascii: "$") && bytes[index + 1] == UInt8(ascii: "{") {
        throw .syntax(.substitution)
      }
    }
  }
}

/// Reads `VAR=VALUE`, as `--env` and `--file` take it.
struct VariableBinding {
  let option: OptionName
  let name: [UInt8]
  let value: [UInt8]

  private init(_ text: [UInt8], _ option: OptionName) throws(CommandError) {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      throw .usage(.notABinding(option, name: "VAR"))
    }
    name = Array(text[..<equals])
    guard VariableName.isValid(name) else {
      throw .usage(
        option.spelling + ": no variable can be called " + Diagnostic.quoted(name),
        hint: "a name has letters, digits and _, and begins with no digit")
    }
    self.option = option
    value = Array(text[(equals + 1)...])
  }

  /// All that the options give; a name stands in one of them.
  static func all(_ arguments: Arguments) throws(CommandError) -> [VariableBinding] {
    var bindings: [VariableBinding] = []
    for option in [OptionName.environment, .file] {
      for text in arguments.values(option) {
        let binding = try VariableBinding(text, option)
        if bindings.contains(where: { $0.name == binding.name }) {
          throw .usage(
            "the variable " + Diagnostic.shown(binding.name) + " is given twice",
            hint: "give it once")
        }
        bindings.append(binding)
      }
    }
    return bindings
  }
}
