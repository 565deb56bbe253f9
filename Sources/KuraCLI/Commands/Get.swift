// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura get`: writes the value to stdout, exactly.
enum Get {
  static let command = Command(
    "get", [.init("NAME")], abstract: "write an item's value, exactly as it was stored",
    options: [
      Option(
        .output, letter: "o", .required("FILE"), help: "write it to FILE (0600), whole or not"),
      Option(.attribute, .required("KEY"), help: "an attribute in place of the value"),
      Option(.revision, .required("N"), help: "an earlier revision"),
      Option(.newline, letter: "n", help: "end with a newline where it has none"),
      Option(.raw, help: "no escapes on a terminal"),
      Option(.show, .required("TIME"), help: "show it for TIME, then take it off the terminal"),
      Option.json,
    ] + Option.recoveryKeys,
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let wanted = try Wanted(invocation)
    let access = try wanted.access(invocation)
    if invocation.arguments.has(.show) {
      try Revealing(invocation).show(wanted, access)
    } else if let file = try invocation.text(.output) {
      try write(wanted, access, toFile: file)
    } else if invocation.arguments.has(.json) {
      try writeJSON(wanted, access, &invocation.output)
    } else {
      try write(wanted, access, &invocation)
    }
    return .ok
  }
}

// MARK: - What is wanted

extension Get {
  /// Names an item's value, one of its attributes or the one-time code that it gives.
  struct Wanted {
    let name: String
    private let reference: ItemReference?
    let part: ItemReference.Part
    let revision: UInt64

    init(_ invocation: borrowing Invocation) throws(CommandError) {
      let arguments = invocation.arguments
      let text = try invocation.operand(0)
      let attribute = try invocation.text(.attribute)
      revision = try parsing { () throws(UsageError) in
        try arguments.refuse(.attribute, with: .revision)
        try arguments.refuse(.output, with: .json, .raw)
        try arguments.refuse(.json, with: .raw)
        try arguments.refuse(.show, with: .output, .json, .raw, .newline)
        try arguments.refuse(.newline, with: .json, .output)
        return try arguments.number(.revision, atLeast: 1) ?? 0
      }
      reference = try Self.reference(text)
      name = reference?.name ?? text
      part = try Self.part(reference?.part ?? .value, attribute)
      if part != .value, revision != 0 {
        throw .usage(
          "only a value has earlier revisions",
          hint: "leave out --revision, or what stands behind ?")
      }
    }

    private static func part(
      _ inside: ItemReference.Part, _ attribute: String?
    ) throws(CommandError) -> ItemReference.Part {
      guard let attribute else { return inside }
      guard inside == .value else {
        throw .usage(
          "the reference says which part of the item is meant, and so does --attr",
          hint: "give one of them")
      }
      return .attribute(attribute)
    }

    /// Whether it is neither the value nor made of it.
    var isAttribute: Bool {
      switch part {
      case .value, .code: false
      case .attribute: true
      }
    }

    private static func reference(_ text: String) throws(CommandError) -> ItemReference? {
      guard ItemReference.begins(text.utf8.span, at: 0) else { return nil }
      do throws(ItemReference.Flaw) { return try ItemReference(text) } catch {
        throw .usage(.notAReference(error))
      }
    }

    /// The vault it is in.
    func access(_ invocation: borrowing Invocation) throws(CommandError) -> VaultAccess {
      let access =
        if let reference { try invocation.access(of: reference) } else {
          try invocation.access()
        }
      return access.reading(.items([name], revision: revision))
    }

    /// Fetches it, part by part.
    func fetch(
      _ connection: inout Connection, revision: UInt64, for purpose: ReadPurpose = .get,
      into sink: (Span<UInt8>) throws(ClientError) -> Void
    ) throws(ClientError) {
      try connection.read(name, part, revision: revision, for: purpose, into: sink)
    }

    /// Fetches it with all that belongs to it, which is nothing for a part of it.
    fileprivate func fetchWhole(
      _ connection: inout Connection, into sink: (Span<UInt8>) throws(ClientError) -> Void
    ) throws(ClientError) -> Item? {
      guard part == .value else {
        try fetch(&connection, revision: 0, into: sink)
        return nil
      }
      return try connection.getWhole(name, revision: revision, into: sink)
    }
  }
}

// MARK: - Where it goes

extension Get {
  /// Whether a value goes out as it is: on a terminal its control bytes are obeyed.
  static func isPlain(isTerminal: Bool, _ arguments: Arguments) -> Bool {
    !isTerminal || arguments.has(.raw)
  }

  private static func write(
    _ wanted: Wanted, _ access: VaultAccess, _ invocation: inout Invocation
  ) throws(CommandError) {
    let isPlain = Self.isPlain(isTerminal: invocation.output.isTerminal, invocation.arguments)
    var escaping = Escaping(.text)
    var last: UInt8?
    try access.unlocked(authorizing: true) { connection throws(ClientError) in
      try wanted.fetch(&connection, revision: wanted.revision) { part throws(ClientError) in
        if part.count > 0 { last = part[part.count - 1] }
        try writing { () throws(CommandError) in
          guard isPlain else { return try invocation.output.write(part, &escaping) }
          try invocation.output.send(part)
        }
      }
    }
    guard invocation.output.isTerminal || invocation.arguments.has(.newline) else { return }
    try invocation.output.finish(&escaping)
    if last != UInt8(ascii: "\n") { try invocation.output.write("\n") }
  }

  private static func write(
    _ wanted: Wanted, _ access: VaultAccess, toFile path: String
  ) throws(CommandError) {
    var file = try writing(path) { () throws(FileError) in try OutputFile.begin(at: path) }
    do throws(CommandError) {
      try access.unlocked(authorizing: true) { connection throws(ClientError) in
        try wanted.fetch(&connection, revision: wanted.revision) { part throws(ClientError) in
          do throws(FileError) { try file.write(part) } catch { throw .output(error.errno) }
        }
      }
    } catch {
      guard case .client(.output(let number)) = error else { throw error }
      throw .file(.write, path: path, errno: number)
    }
    do throws(FileError) { try file.commit() } catch {
      throw .file(.write, path: path, errno: error.errno)
    }
  }
}

// MARK: - As JSON

extension Get {
  /// Notes of a value before it is written whether it is text, which only its end tells, and all of
  /// it when it is short.
  private struct Scan: ~Copyable {
    static let limit = 65_536

    var scanner = UTF8Scanner()
    var isText = true
    var isWhole = true
    var held: SecretBuffer

    mutating func take(_ part: Span<UInt8>) throws(SecureMemoryError) {
      for index in part.indices where isText {
        switch scanner.take(part[index]) {
        case .pending, .character: continue
        case .broken, .invalid: isText = false
        }
      }
      guard isWhole, held.count + part.count <= Self.limit else {
        isWhole = false
        return held.removeAll()
      }
      try held.append(part)
    }
  }

  private static func writeJSON(
    _ wanted: Wanted, _ access: VaultAccess, _ output: inout Output
  ) throws(CommandError) {
    var scan: Scan
    do throws(SecureMemoryError) { scan = Scan(held: try SecretBuffer(capacity: 256)) } catch {
      throw .outOfMemory
    }
    try access.unlocked(authorizing: true) { connection throws(ClientError) in
      let item = try wanted.fetchWhole(&connection) { part throws(ClientError) in
        do throws(SecureMemoryError) { try scan.take(part) } catch { throw .outOfMemory }
      }
      if scan.scanner.count > 0 { scan.isText = false }
      var secrets = try MemberPairs()
      if let item {
        try secrets.read(of: item, wanted.name, revision: wanted.revision, &connection)
      }
      try writing { () throws(CommandError) in try open(wanted, item, secrets, &output) }
      // A long value is fetched again: memory does not grow with it.
      var value = ValueMember(isText: scan.isText)
      try writing { () throws(CommandError) in try value.open(&output) }
      if scan.isWhole {
        try writing { () throws(CommandError) in try value.append(scan.held.bytes, &output) }
      } else {
        try wanted.fetch(&connection, revision: item?.facts.revision ?? 0) {
          part throws(ClientError) in
          try writing { () throws(CommandError) in try value.append(part, &output) }
        }
      }
      try writing { () throws(CommandError) in try value.close(&output) }
    }
    try output.closeDocument()
  }

  private static func open(
    _ wanted: Wanted, _ item: Item?, _ secrets: borrowing MemberPairs, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("name", wanted.name)
    if case .attribute(let key) = wanted.part { try output.member("attribute", key) }
    if let item {
      try output.member("revision", item.facts.revision)
      try output.member("size", item.facts.size)
      try output.member("class", item.facts.protection.name)
      try output.member("kind", item.facts.kind.name)
      try output.attributes(of: item)
    }
    try secrets.write(&output)
    try output.key("value")
  }

  /// Writes a value part by part.
  private struct ValueMember {
    let isText: Bool
    private var base64 = Base64()
    private var scanner = UTF8Scanner()

    init(isText: Bool) { self.isText = isText }

    mutating func open(_ output: inout Output) throws(CommandError) {
      if !isText {
        try output.openObject()
        try output.key("base64")
      }
      try output.openString()
    }

    mutating func append(_ part: Span<UInt8>, _ output: inout Output) throws(CommandError) {
      if isText {
        try output.append(part, &scanner)
      } else {
        try output.append(part, &base64)
      }
    }

    mutating func close(_ output: inout Output) throws(CommandError) {
      try output.finish(&base64)
      try output.closeString()
      if !isText { try output.closeObject() }
    }
  }
}
