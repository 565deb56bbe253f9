// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Plans what the program that `run` becomes is given, and where that comes from.
struct LaunchPlan: ~Copyable {
  /// Says where a value goes.
  private enum Target {
    /// Into the environment; until then it is kept.
    case variable
    /// Into a file, which is open: under a name, or in no directory.
    case file(Int32, name: String?)
  }

  /// Holds a file in memory that is handed on under a number.
  private struct Passed {
    let descriptor: Int32
    let number: Int32
  }

  private var variables: VariableList
  private let inherits: Bool
  /// Whether values are kept to be found in what the program writes, those of files, too.
  private let isMasked: Bool
  /// Whether the program is in a room, where it sees nothing of ours: what it gets is put there.
  private let isInRoom: Bool
  private var placeholders: [Placeholder] = []
  private var targets: [Target] = []
  private var passed: [Passed] = []
  /// What holds the files that have names; nil: there are none.
  private var folder: CommandFolder?
  private var folderPath = ""

  private init(
    _ variables: consuming VariableList, inherits: Bool, isMasked: Bool, isInRoom: Bool
  ) {
    self.variables = variables
    self.inherits = inherits
    self.isMasked = isMasked
    self.isInRoom = isInRoom
  }

  /// Reads options, files and the environment; a vault is asked for no more than names.
  static func make(
    _ invocation: borrowing Invocation, isInRoom: Bool
  ) throws(CommandError) -> LaunchPlan {
    let dialect = try ReferenceDialect(invocation)
    let descriptors = try DescriptorBinding.all(invocation.arguments, dialect)
    let inherited = try InheritedVariables(invocation.arguments, isInRoom: isInRoom)
    let variables = try VariableList.read(invocation, inherited, dialect)
    var plan = LaunchPlan(
      variables, inherits: inherited.isWhole, isMasked: invocation.arguments.has(.mask),
      isInRoom: isInRoom)
    try plan.plan(descriptors)
    return plan
  }

  private mutating func plan(_ descriptors: [DescriptorBinding]) throws(CommandError) {
    let taken = descriptors.map { $0.number }
    for entry in variables.entries {
      switch entry.source {
      case .text(let pieces):
        for piece in pieces {
          guard let placeholder = piece.placeholder else { continue }
          placeholders.append(placeholder)
          targets.append(.variable)
        }
      case .file(let reference, let name?) where !isInRoom: try addNamedFile(reference, name)
      case .file(let reference, let name):
        let file = try addFile(reference, besides: taken, name: name)
        if !isInRoom { passed.append(Passed(descriptor: file, number: file)) }
      }
    }
    for binding in descriptors {
      let file = try addFile(binding.reference, besides: taken)
      passed.append(Passed(descriptor: file, number: binding.number))
    }
  }

  private mutating func addFile(
    _ reference: PlacedReference, besides taken: [Int32], name: String? = nil
  ) throws(CommandError) -> Int32 {
    let file: Int32
    do throws(FileError) { file = try MemoryFile.create(besides: taken) } catch {
      throw .placed(reference.place, .client(.system(error.errno)))
    }
    placeholders.append(Placeholder(reference))
    targets.append(.file(file, name: name))
    return file
  }

  private mutating func addNamedFile(
    _ reference: PlacedReference, _ name: String
  ) throws(CommandError) {
    if folderPath.isEmpty {
      let made = try Self.makeFolder(reference.place)
      folderPath = made.path
      folder = consume made
    }
    placeholders.append(Placeholder(reference))
    do throws(FileError) {
      guard let file = try folder?.add(name) else { return }
      targets.append(.file(file, name: name))
    } catch {
      guard error.errno != EEXIST else {
        throw .placed(
          reference.place,
          .usage("the file " + Diagnostic.shown(name) + " is given twice", hint: "give it once"))
      }
      throw .placed(reference.place, .file(.write, path: name, errno: error.errno))
    }
  }

  private static func makeFolder(_ place: Place) throws(CommandError) -> CommandFolder {
    let directory: String
    do throws(PathError) { directory = try UserDirectory.runtime() } catch {
      throw .placed(place, .path(error))
    }
    do throws(Draft.Refusal) { return try CommandFolder.make(in: directory) } catch {
      switch error {
      case .onDisk:
        throw .placed(
          place,
          .failure(
            "a file with a name cannot be kept in memory: this is on a disk: "
              + Diagnostic.shown(directory),
            hint: "set XDG_RUNTIME_DIR to a directory on a tmpfs, or leave out the name"))
      case .system(let number):
        throw .placed(place, .file(.write, path: directory, errno: number))
      }
    }
  }
}

// MARK: - Values

extension LaunchPlan {
  /// Reads every value: into the files in memory, or to stand in the environment.
  ///
  /// - Returns: Those of variables, for ``environment(_:of:)``.
  borrowing func read(
    _ invocation: borrowing Invocation
  ) throws(CommandError) -> PlaceholderValues {
    let reader = try ReferenceReader(placeholders, for: .run, invocation)
    var values = try PlaceholderValues.make(count: placeholders.count)
    var long: Int?
    do throws(CommandError) {
      try reader.read(
        begin: { index throws(ClientError) in try begin(index, &values) },
        missing: { values.drop($0) },
        into: { index, part throws(ClientError) in
          if try !take(part, index, &values) {
            long = index
            throw .stopped
          }
        })
    } catch {
      guard let long else { throw error }
      throw .placed(placeholders[long].source.place, Self.tooLong)
    }
    for case .file(let descriptor, let name) in targets where name == nil || isInRoom {
      do throws(FileError) { try MemoryFile.seal(descriptor) } catch {
        throw .client(.system(error.errno))
      }
    }
    return values
  }

  private borrowing func begin(
    _ index: Int, _ values: inout PlaceholderValues
  ) throws(ClientError) {
    values.begin(index)
    switch targets[index] {
    case .variable: break
    case .file(let descriptor, _):
      do throws(FileError) { try MemoryFile.empty(descriptor) } catch {
        throw .system(error.errno)
      }
    }
  }

  private static var tooLong: CommandError {
    .failure("the value is longer than a variable can be", hint: "--file takes any length")
  }

  private static var hasNUL: CommandError {
    .failure(
      "the value has a NUL byte, which no variable can hold", hint: "--file takes any bytes")
  }

  /// Puts a part of a value where it belongs.
  ///
  /// - Returns: Whether it can stand there: false where it is too long.
  private borrowing func take(
    _ part: Span<UInt8>, _ index: Int, _ values: inout PlaceholderValues
  ) throws(ClientError) -> Bool {
    switch targets[index] {
    case .variable:
      guard values.count(of: index) + part.count < VariableList.lengthLimit else { return false }
      do throws(SecureMemoryError) { try values.append(part, to: index) } catch {
        throw .outOfMemory
      }
    case .file(let descriptor, _):
      do throws(FileError) { try Descriptor.write(part, to: descriptor) } catch {
        throw .system(error.errno)
      }
      guard isMasked, values.count(of: index) <= NeedleSet.longestValue else { return true }
      do throws(SecureMemoryError) { try values.append(part, to: index) } catch {
        throw .outOfMemory
      }
    }
    return true
  }

  /// The variables, `NAME=VALUE` for each, a NUL behind it.
  ///
  /// - Parameter process: The program's id, through which it finds its files.
  borrowing func environment(
    _ values: borrowing PlaceholderValues, of process: Int32
  ) throws(CommandError) -> SecretBuffer {
    var block = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: values.count + 1_024)
    }
    var next = 0
    for entry in variables.entries {
      let start = block.count
      let first = next
      try Self.append(entry.name.span, to: &block)
      try Self.append("=".utf8.span, to: &block)
      switch entry.source {
      case .text(let pieces):
        try values.write(pieces, of: variables.text, from: &next, to: &block)
      case .file:
        try Self.append(path(of: next, process).utf8.span, to: &block)
        next += 1
      }
      let place = first < next ? placeholders[first].source.place : .variable(entry.name)
      let hasNUL = (start..<block.count).contains { block.bytes[$0] == 0 }
      if hasNUL { throw .placed(place, Self.hasNUL) }
      try Self.append("\0".utf8.span, to: &block)
      if block.count - start > VariableList.lengthLimit { throw .placed(place, Self.tooLong) }
    }
    return block
  }

  /// The path of a file.
  private borrowing func path(of index: Int, _ process: Int32) -> String {
    switch targets[index] {
    case .variable: ""
    case .file(let descriptor, let name) where isInRoom:
      RoomPlace.files + "/\(descriptor)/" + (name ?? "value")
    case .file(let descriptor, nil): MemoryFile.path(descriptor, of: process)
    case .file(_, let name?): folderPath + "/" + name
    }
  }

  private static func append(
    _ bytes: Span<UInt8>, to block: inout SecretBuffer
  ) throws(CommandError) {
    do throws(SecureMemoryError) { try block.append(bytes) } catch { throw .outOfMemory }
  }
}

// MARK: - Masking

extension LaunchPlan {
  /// Gives the values, and the texts that they stand in, to a process that has this plan without its secrets.
  borrowing func send(
    _ values: borrowing PlaceholderValues, to channel: Int32
  ) throws(CommandError) {
    do throws(FileError) {
      try Descriptor.write(variables.text, to: channel)
      try Descriptor.write(values.text, to: channel)
    } catch { throw .client(.system(error.errno)) }
  }

  /// Ends as the program does, which another process starts by this plan; its files are there until then.
  borrowing func standIn(_ reader: Int32, _ channel: Int32) -> ExitStatus {
    kura_relay_stand_in(reader, channel)
  }

  /// Takes them there.
  mutating func receive(
    _ values: inout PlaceholderValues, from channel: Int32
  ) throws(CommandError) {
    do throws(FileError) {
      try variables.refill(from: channel)
      try values.refill(from: channel)
    } catch { throw .client(.system(error.errno)) }
  }

  /// What is to be masked in what the program writes: every value that it gets.
  borrowing func needles(
    _ values: borrowing PlaceholderValues, _ messages: Messages
  ) throws(CommandError) -> NeedleSet {
    var reading = NeedleReading(
      set: try allocating { () throws(SecureMemoryError) in try NeedleSet() })
    guard isMasked else { return try reading.finish(messages) }
    for (index, placeholder) in placeholders.enumerated() {
      guard let range = values.range(of: index) else { continue }
      let name = Array(Diagnostic.shown(placeholder.source.reference.words).utf8)
      try reading.add(values.text.extracting(range), name.span)
    }
    return try reading.finish(messages)
  }
}

// MARK: - The program

extension LaunchPlan {
  /// Becomes the program.
  ///
  /// - Parameter block: Its variables, as ``environment(_:of:)`` gives them.
  /// - Returns: Only when that fails: why.
  borrowing func launch(
    _ arguments: Arguments, _ block: borrowing SecretBuffer
  ) throws(CommandError) -> CommandError {
    try arrangeDescriptors(arguments)
    let failure = Successor.begin(from: first(arguments), variables: block, inherits: inherits)
    return .launch(arguments.operands[0], failure)
  }

  /// Becomes what makes the room that starts the program.
  ///
  /// - Parameter isApart: Whether the room gets nothing of a terminal.
  borrowing func launch(
    _ arguments: Arguments, _ block: borrowing SecretBuffer, through door: RoomDoor,
    isApart: Bool
  ) throws(CommandError) -> CommandError {
    try arrangeDescriptors(arguments)
    var files: [RoomDoor.File] = []
    for (index, target) in targets.enumerated() {
      guard case .file(let descriptor, _) = target,
        !passed.contains(where: { $0.descriptor == descriptor })
      else { continue }
      files.append(RoomDoor.File(descriptor: descriptor, path: path(of: index, 0)))
    }
    return door.enter(
      first(arguments), block, files: files, passing: passed.map { $0.number }, isApart: isApart)
  }

  /// Which argument of this process names the program.
  private borrowing func first(_ arguments: Arguments) -> Int {
    Int(kura_argument_count()) - arguments.operands.count
  }

  /// The numbers of descriptors that the program gets.
  var taken: [Int32] { passed.map { $0.number } }

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
