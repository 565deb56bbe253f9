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
    /// From a file, as it stands there.
    case literal(Range<Int>)
    /// From a vault.
    case reference(PlacedReference)
    /// It is the path of a file in memory that holds what is referred to.
    case file(PlacedReference)
  }

  /// Holds a variable's name, and where its value comes from.
  struct Entry: Equatable, Sendable {
    let name: [UInt8]
    var source: Source
  }

  private(set) var entries: [Entry] = []
  private var literals: SecretBuffer

  private init(_ literals: consuming SecretBuffer) { self.literals = literals }

  /// An empty list.
  static func make() throws(CommandError) -> VariableList {
    let literals = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    return VariableList(literals)
  }

  /// Reads the environment, then files, then options: later ones replace earlier ones.
  static func read(_ arguments: Arguments) throws(CommandError) -> VariableList {
    let bindings = try VariableBinding.all(arguments)
    var list = try make()
    if !arguments.has(.only) { try list.addEnvironment() }
    for path in arguments.values(.environmentFile) {
      try list.add(file: try Invocation.text(path))
    }
    for binding in bindings { try list.set(binding.name, binding.source) }
    return list
  }

  /// The bytes of a literal.
  @_lifetime(borrow self)
  borrowing func bytes(_ literal: Range<Int>) -> Span<UInt8> {
    literals.bytes.extracting(literal)
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

  /// Takes the variables of the environment that are references.
  mutating func addEnvironment() throws(CommandError) {
    for match in Environment.variables(where: { ItemReference.begins($0, at: 0) }) {
      let reference = try PlacedReference(match.value, at: .variable(match.name))
      try set(match.name, .reference(reference))
    }
  }

  /// Takes the variables of a file.
  mutating func add(file path: String) throws(CommandError) {
    let text: SecretBuffer
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path)
      defer { Descriptor.close(descriptor) }
      text = try Descriptor.readAll(descriptor, limit: EnvironmentFile.limit)
    } catch { throw .file(.read, path: path, errno: error.errno) }
    try add(text, of: path)
  }

  mutating func add(_ text: consuming SecretBuffer, of path: String) throws(CommandError) {
    var file = EnvironmentFile(text)
    var line = 1
    do throws(CommandError) {
      while true {
        let start = literals.count
        let name = try file.next(into: &literals, startingAt: &line)
        guard let name else { return }
        try set(name, try source(start..<literals.count, .line(line, of: path)))
      }
    } catch {
      guard case .syntax(let flaw) = error else { throw error }
      let place = flaw == .openQuote ? line : max(line, file.line)
      throw .placed(.line(place, of: path), error)
    }
  }

  /// What a value that a file gives stands for.
  private mutating func source(
    _ value: Range<Int>, _ place: Place
  ) throws(CommandError) -> Source {
    if ItemReference.begins(bytes(value), at: 0) {
      let text = Array(copying: bytes(value))
      literals.removeLast(value.count)
      return .reference(try PlacedReference(text, at: place))
    }
    for index in value where ItemReference.begins(literals.bytes, at: index) {
      throw .syntax(.referenceInside)
    }
    return .literal(value)
  }
}

/// Reads `VAR=REFERENCE`, as `--env` and `--file` take it.
struct VariableBinding {
  let name: [UInt8]
  let source: VariableList.Source

  init(_ text: [UInt8], _ option: OptionName) throws(CommandError) {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      throw .usage(.notABinding(option, name: "VAR"))
    }
    name = Array(text[..<equals])
    guard VariableName.isValid(name) else {
      throw .usage(
        option.spelling + ": no variable can be called " + Diagnostic.quoted(name),
        hint: "a name has letters, digits and _, and begins with no digit")
    }
    let value = Array(text[(equals + 1)...])
    let reference = try PlacedReference(value, at: .option(option, name))
    source = option == .file ? .file(reference) : .reference(reference)
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
