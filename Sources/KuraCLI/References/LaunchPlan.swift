// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Plans what the program that `run` becomes is given, and where that comes from.
struct LaunchPlan: ~Copyable {
  /// Says where a value goes.
  private enum Target {
    /// Into the environment; its bytes stand there in ``values``.
    case variable(Range<Int>)
    /// Into a file in memory.
    case file(Int32)
  }

  /// Holds a file in memory that is handed on under a number.
  private struct Passed {
    let descriptor: Int32
    let number: Int32
  }

  private let variables: VariableList
  private let inherits: Bool
  private var references: [PlacedReference] = []
  private var targets: [Target] = []
  private var passed: [Passed] = []
  private var values: SecretBuffer

  private init(
    _ variables: consuming VariableList, inherits: Bool, values: consuming SecretBuffer
  ) {
    self.variables = variables
    self.inherits = inherits
    self.values = values
  }

  /// Reads options, files and the environment; no vault is asked yet.
  static func make(_ arguments: Arguments) throws(CommandError) -> LaunchPlan {
    let descriptors = try DescriptorBinding.all(arguments)
    let variables = try VariableList.read(arguments)
    let values = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    var plan = LaunchPlan(variables, inherits: !arguments.has(.only), values: values)
    try plan.plan(descriptors)
    return plan
  }

  private mutating func plan(_ descriptors: [DescriptorBinding]) throws(CommandError) {
    let taken = descriptors.map { $0.number }
    for entry in variables.entries {
      switch entry.source {
      case .literal: continue
      case .reference(let reference):
        references.append(reference)
        targets.append(.variable(0..<0))
      case .file(let reference):
        let file = try addFile(reference, besides: taken)
        passed.append(Passed(descriptor: file, number: file))
      }
    }
    for binding in descriptors {
      let file = try addFile(binding.reference, besides: taken)
      passed.append(Passed(descriptor: file, number: binding.number))
    }
  }

  private mutating func addFile(
    _ reference: PlacedReference, besides taken: [Int32]
  ) throws(CommandError) -> Int32 {
    let file: Int32
    do throws(FileError) { file = try MemoryFile.create(besides: taken) } catch {
      throw .placed(reference.place, .client(.system(error.errno)))
    }
    references.append(reference)
    targets.append(.file(file))
    return file
  }
}

/// Reads `N=REFERENCE`, as `--fd` takes it, or the reference of `--stdin`.
struct DescriptorBinding {
  let number: Int32
  let reference: PlacedReference

  private init(_ text: [UInt8]) throws(CommandError) {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")) else {
      throw .usage(.notABinding(.fileDescriptor, name: "N"))
    }
    let digits = text[..<equals]
    guard let wide = Decimal.parse(digits), let number = Int32(exactly: wide), number > 2 else {
      throw .usage(
        OptionName.fileDescriptor.spelling + " takes a descriptor from 3 on, not "
          + Diagnostic.quoted(Array(digits)), hint: "--stdin is for 0")
    }
    self.number = number
    let place = Place.option(.fileDescriptor, Array(digits))
    reference = try PlacedReference(Array(text[(equals + 1)...]), at: place)
  }

  private init(stdin text: [UInt8]) throws(CommandError) {
    number = 0
    reference = try PlacedReference(text, at: .option(.stdin, []))
  }

  /// All that the options give; a number stands in one of them.
  static func all(_ arguments: Arguments) throws(CommandError) -> [DescriptorBinding] {
    var bindings: [DescriptorBinding] = []
    for text in arguments.values(.stdin) { bindings.append(try DescriptorBinding(stdin: text)) }
    for text in arguments.values(.fileDescriptor) { bindings.append(try DescriptorBinding(text)) }
    for (index, binding) in bindings.enumerated()
    where bindings[..<index].contains(where: { $0.number == binding.number }) {
      throw .usage("descriptor \(binding.number) is given twice", hint: "give it once")
    }
    return bindings
  }
}

// MARK: - Values

extension LaunchPlan {
  /// Reads every value: into the files in memory, or to stand in the environment.
  mutating func read(_ invocation: borrowing Invocation) throws(CommandError) {
    let reader = try ReferenceReader(references, for: .run, invocation)
    var unfit: (index: Int, why: CommandError)?
    do throws(CommandError) {
      try reader.read(
        begin: { index throws(ClientError) in try begin(index) },
        into: { index, part throws(ClientError) in
          if let why = try take(part, index) {
            unfit = (index, why)
            throw .stopped
          }
        })
    } catch {
      guard let unfit else { throw error }
      throw .placed(references[unfit.index].place, unfit.why)
    }
    for case .file(let descriptor) in targets {
      do throws(FileError) { try MemoryFile.seal(descriptor) } catch {
        throw .client(.system(error.errno))
      }
    }
  }

  private mutating func begin(_ index: Int) throws(ClientError) {
    switch targets[index] {
    case .variable: targets[index] = .variable(values.count..<values.count)
    case .file(let descriptor):
      do throws(FileError) { try MemoryFile.empty(descriptor) } catch {
        throw .system(error.errno)
      }
    }
  }

  private static var tooLong: CommandError {
    .failure("the value is longer than a variable can be", hint: "--file takes any length")
  }

  /// Puts a part of a value where it belongs.
  ///
  /// - Returns: Why it cannot stand there.
  private mutating func take(_ part: Span<UInt8>, _ index: Int) throws(ClientError) -> CommandError?
  {
    switch targets[index] {
    case .variable(let range):
      if part.indices.contains(where: { part[$0] == 0 }) {
        return .failure(
          "the value has a NUL byte, which no variable can hold", hint: "--file takes any bytes")
      }
      if range.count + part.count >= VariableList.lengthLimit { return Self.tooLong }
      do throws(SecureMemoryError) { try values.append(part) } catch { throw .outOfMemory }
      targets[index] = .variable(range.lowerBound..<values.count)
    case .file(let descriptor):
      do throws(FileError) { try Descriptor.write(part, to: descriptor) } catch {
        throw .system(error.errno)
      }
    }
    return nil
  }
}

// MARK: - The program

extension LaunchPlan {
  /// Becomes the program.
  ///
  /// - Returns: Only when that fails: why.
  consuming func launch(_ arguments: Arguments) -> CommandError {
    do throws(CommandError) { return try begin(arguments) } catch { return error }
  }

  private borrowing func begin(_ arguments: Arguments) throws(CommandError) -> CommandError {
    let block = try environment()
    try arrangeDescriptors(arguments)
    let first = Int(kura_argument_count()) - arguments.operands.count
    let failure = Successor.begin(from: first, variables: block, inherits: inherits)
    return .launch(arguments.operands[0], failure)
  }

  /// `NAME=VALUE` for each variable, a NUL behind it.
  borrowing func environment() throws(CommandError) -> SecretBuffer {
    var block = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: values.count + 1_024)
    }
    var next = 0
    for entry in variables.entries {
      let start = block.count
      var place: Place?
      do throws(SecureMemoryError) {
        try block.append(entry.name.span)
        try block.append(UInt8(ascii: "="))
        switch entry.source {
        case .literal(let range): try block.append(variables.bytes(range))
        case .reference(let reference), .file(let reference):
          place = reference.place
          try append(targets[next], to: &block)
          next += 1
        }
        try block.append(UInt8(0))
      } catch { throw .outOfMemory }
      if block.count - start > VariableList.lengthLimit {
        throw .placed(place ?? .variable(entry.name), Self.tooLong)
      }
    }
    return block
  }

  private borrowing func append(
    _ target: Target, to block: inout SecretBuffer
  ) throws(SecureMemoryError) {
    switch target {
    case .variable(let range): try block.append(values.bytes.extracting(range))
    case .file(let descriptor):
      let path = Array(MemoryFile.path(descriptor).utf8)
      try block.append(path.span)
    }
  }

  /// Hands on what was asked for, and nothing that a passcode came from.
  private borrowing func arrangeDescriptors(_ arguments: Arguments) throws(CommandError) {
    Successor.closeFilled()
    let passcode = try parsing { () throws(UsageError) -> Int32? in
      try arguments.number(.passcodeFD)
    }
    do throws(FileError) {
      if let passcode, !(1...2).contains(passcode) { try Successor.withhold(passcode) }
      for file in passed { try Successor.pass(file.descriptor, as: file.number) }
    } catch {
      throw .failure(
        "the descriptor cannot be used: " + SystemMessage.text(error.errno), .inputOutput)
    }
  }
}
