// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Reads an item from a line of JSON, as `get --json` writes it, so that nothing of an item is lost
/// on the way through JSON; all of it in guarded memory.
struct ItemLine: ~Copyable {
  var name: SecretBuffer
  var value: SecretBuffer
  /// As a request holds them.
  var attributes: SecretBuffer
  private(set) var attributeCount = 0
  /// The same of those that are to be as secret as the value.
  var secrets: SecretBuffer
  private(set) var secretCount = 0
  private(set) var isProtected = false
  /// What the item is.
  private(set) var kind = ItemKind.value
  /// Whether the next line goes on with its value.
  private(set) var goesOn = false
  /// Whether it says nothing that the rest of a value does not.
  private(set) var isPiece = true
  private var created: UInt64?
  private var modified: UInt64?
  /// A text on its way to where it belongs.
  private var held: SecretBuffer
  /// What is kept from line to line is its room.
  private var scanner = JSONScanner()

  private init(
    name: consuming SecretBuffer, value: consuming SecretBuffer,
    attributes: consuming SecretBuffer, secrets: consuming SecretBuffer,
    held: consuming SecretBuffer
  ) {
    self.name = name
    self.value = value
    self.attributes = attributes
    self.secrets = secrets
    self.held = held
  }

  /// Room for one line after another.
  static func make() throws(CommandError) -> ItemLine {
    ItemLine(
      name: try room(), value: try room(), attributes: try room(), secrets: try room(),
      held: try room())
  }

  private static func room() throws(CommandError) -> SecretBuffer {
    try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
  }

  private mutating func removeAll() {
    name.removeAll()
    value.removeAll()
    attributes.removeAll()
    secrets.removeAll()
    (attributeCount, secretCount) = (0, 0)
    (isProtected, kind, created, modified) = (false, .value, nil, nil)
    (goesOn, isPiece) = (false, true)
  }

  /// Reads a line.
  ///
  /// - Returns: Whether there is anything but blanks on it.
  mutating func read(_ text: Span<UInt8>) throws(CommandError) -> Bool {
    guard !Self.isBlank(text) else { return false }
    do throws(JSONFlaw) { try scanner.scan(text) } catch {
      throw .usage(error.kind.words + " (byte \(error.offset + 1))")
    }
    let nodes = scanner.nodes
    guard nodes[0].kind == .object else { throw .usage("it is no JSON object") }
    removeAll()
    var (hasName, hasValue) = (false, false)
    for index in nodes.indices where nodes[index].parent == 0 {
      let member = try Member(text, nodes[index].key)
      isPiece = isPiece && member.isOfPiece
      switch member {
      case .name:
        try Self.require(nodes[index], .string, "its name is no string")
        try Self.copy(nodes[index], of: text, into: &name)
        hasName = true
      case .value:
        try readValue(nodes, index, text)
        hasValue = true
      case .attributes:
        attributeCount += try Self.readAttributes(nodes, index, text, &held, into: &attributes)
      case .secrets:
        secretCount += try Self.readAttributes(nodes, index, text, &held, into: &secrets)
      case .protect:
        let isTrue = try Self.truth(nodes[index], text, "protect")
        isProtected = isProtected || isTrue
      case .more: goesOn = try Self.truth(nodes[index], text, "more")
      case .protection:
        let words = ["standard", "protected"]
        let isSecond =
          try Self.choice(
            nodes[index], text, of: words, else: "its class is neither standard nor protected") == 1
        isProtected = isProtected || isSecond
      case .kind: kind = try Self.kind(nodes[index], text)
      case .created: created = try Self.moment(nodes[index], text)
      case .modified: modified = try Self.moment(nodes[index], text)
      case .schema:
        let range = nodes[index].range
        guard range.count == 1, text[range.lowerBound] == UInt8(ascii: "1") else {
          throw .usage("it is of another schema than 1")
        }
      case .told: break
      }
    }
    guard hasName else { throw .usage("it has no name") }
    try check(hasValue: hasValue)
    return true
  }

  /// When it was made and changed, where that is not now: the line tells all of a revision then.
  var times: ItemTimes? {
    modified.map { ItemTimes(created: created ?? $0, modified: $0) }
  }

  private func check(hasValue: Bool) throws(CommandError) {
    if created != nil, modified == nil { throw .usage("it has created, and no modified") }
    guard kind == .deleted else {
      if hasValue { return }
      throw .usage("it has no value")
    }
    if modified == nil { throw .usage("it is deleted, and has no modified") }
    if secretCount > 0 { throw .usage("it is deleted, and has secret attributes") }
    if goesOn || !value.bytes.isEmpty { throw .usage("it is deleted, and has a value") }
  }

  private static func isBlank(_ text: Span<UInt8>) -> Bool {
    for index in text.indices {
      switch text[index] {
      case 0x20, 0x09, 0x0D: continue
      default: return false
      }
    }
    return true
  }
}

// MARK: - Members

extension ItemLine {
  /// Names what a line may say.
  private enum Member {
    case name, value, more, attributes, secrets, protect, protection, kind, created, modified,
      schema
    /// What `get --json` tells beside that, and a line need not.
    case told

    private static let names: [(String, Member)] = [
      ("name", .name), ("value", .value), ("more", .more), ("attributes", .attributes),
      ("secret-attributes", .secrets), ("protect", .protect),
      ("class", .protection), ("kind", .kind), ("created", .created), ("modified", .modified),
      ("schema", .schema), ("revision", .told), ("size", .told),
    ]

    /// Whether a line that goes on with a value may say it.
    var isOfPiece: Bool {
      switch self {
      case .name, .value, .more, .schema: true
      case .attributes, .secrets, .protect, .protection, .kind, .created, .modified, .told: false
      }
    }

    init(_ text: Span<UInt8>, _ key: Range<Int>) throws(CommandError) {
      for (name, member) in Self.names where JSONScanner.isString(text, key, name) {
        self = member
        return
      }
      throw .usage(
        "it has a member of another name",
        hint:
          "there can be name, value, more, attributes, secret-attributes, class, kind, created, "
          + "modified and protect")
    }
  }

  private mutating func readValue(
    _ nodes: [JSONDocument.Node], _ index: Int, _ text: Span<UInt8>
  ) throws(CommandError) {
    if nodes[index].kind == .string { return try Self.copy(nodes[index], of: text, into: &value) }
    var members = 0
    var inside = index
    for candidate in nodes.indices where nodes[candidate].parent == index {
      members += 1
      inside = candidate
    }
    guard nodes[index].kind == .object, members == 1, nodes[inside].kind == .string,
      JSONScanner.isString(text, nodes[inside].key, "base64")
    else { throw .usage("its value is neither a string nor {\"base64\": \"...\"}") }
    try Self.copy(nodes[inside], of: text, into: &held)
    try Self.decode(held, into: &value)
  }

  private static let attributesFlaw = "its attributes are no object of strings"

  /// - Returns: How many.
  private static func readAttributes(
    _ nodes: [JSONDocument.Node], _ index: Int, _ text: Span<UInt8>, _ held: inout SecretBuffer,
    into list: inout SecretBuffer
  ) throws(CommandError) -> Int {
    var count = 0
    try require(nodes[index], .object, attributesFlaw)
    for inside in nodes.indices where nodes[inside].parent == index {
      try require(nodes[inside], .string, attributesFlaw)
      try copy(nodes[inside], of: text, into: &held)
      try put(JSONScanner.array(text, nodes[inside].key), held, into: &list)
      count += 1
    }
    return count
  }

  private static func decode(
    _ text: borrowing SecretBuffer, into value: inout SecretBuffer
  ) throws(CommandError) {
    let isBase64: Bool
    do throws(SecureMemoryError) {
      isBase64 = try EncodedBytes.decode(text.bytes, into: &value)
    } catch { throw .outOfMemory }
    guard isBase64 else { throw .usage("its value is not base64") }
  }

  private static func put(
    _ key: [UInt8], _ value: borrowing SecretBuffer, into attributes: inout SecretBuffer
  ) throws(CommandError) {
    do throws(ProtocolError) { try attributes.putPair(key: key.span, value: value.bytes) } catch {
      throw .client(error == .outOfMemory ? .outOfMemory : .tooLong(limit: Int(UInt16.max)))
    }
  }

  private static func require(
    _ node: JSONDocument.Node, _ kind: JSONDocument.Kind, _ flaw: String
  ) throws(CommandError) {
    guard node.kind == kind else { throw .usage(flaw) }
  }

  private static func kind(
    _ node: JSONDocument.Node, _ text: Span<UInt8>
  ) throws(CommandError) -> ItemKind {
    let kinds: [ItemKind] = [.value, .otp, .deleted]
    return kinds[
      try choice(
        node, text, of: kinds.map { $0.name },
        else: "its kind is neither value nor otp nor deleted")]
  }

  private static func moment(
    _ node: JSONDocument.Node, _ text: Span<UInt8>
  ) throws(CommandError) -> UInt64 {
    let flaw = "its times are not as in 2026-11-21T14:02:10.250Z"
    try require(node, .string, flaw)
    guard let moment = Moment.milliseconds(rfc3339: text.extracting(node.range)) else {
      throw .usage(flaw)
    }
    return moment
  }

  private static func truth(
    _ node: JSONDocument.Node, _ text: Span<UInt8>, _ member: String
  ) throws(CommandError) -> Bool {
    let flaw = "its " + member + " is neither true nor false"
    try require(node, .literal, flaw)
    switch text[node.range.lowerBound] {
    case UInt8(ascii: "t"): return true
    case UInt8(ascii: "f"): return false
    default: throw .usage(flaw)
    }
  }

  /// Which of some words a member is.
  private static func choice(
    _ node: JSONDocument.Node, _ text: Span<UInt8>, of words: [String], else flaw: String
  ) throws(CommandError) -> Int {
    try require(node, .string, flaw)
    for (index, word) in words.enumerated() where JSONScanner.isString(text, node.range, word) {
      return index
    }
    throw .usage(flaw)
  }

  /// Copies what a string stands for.
  private static func copy(
    _ node: JSONDocument.Node, of text: Span<UInt8>, into secret: inout SecretBuffer
  ) throws(CommandError) {
    secret.removeAll()
    do throws(SecureMemoryError) {
      guard JSONScanner.hasEscapes(text, node.range) else {
        return try secret.append(text.extracting(node.range))
      }
      try secret.reserve(node.range.count)
      try JSONScanner.decode(text, node.range) { byte throws(SecureMemoryError) in
        try secret.append(byte)
      }
    } catch { throw .outOfMemory }
  }
}

// MARK: - By itself

extension ItemLine {
  /// How a batch has it.
  var flags: BatchItem.Flags {
    var flags: BatchItem.Flags = isProtected ? .protect : []
    if times != nil { flags.insert(.replaceAttributes) }
    switch kind {
    case .value, .purged: break
    case .otp: flags.insert(.otp)
    case .deleted: flags.insert(.delete)
    }
    return flags
  }

  /// The same for a request of its own: a value that no batch holds.
  func order(_ flags: PutRequest.Flags) throws(CommandError) -> PutOrder {
    var pairs: [Attribute] = []
    let bytes = attributes.bytes
    var offset = 0
    for _ in 0..<attributeCount {
      let key = Self.field(bytes, offset, width: 2)
      let value = Self.field(bytes, key.upperBound, width: 4)
      pairs.append(
        Attribute(
          key: try Invocation.text(Array(copying: bytes.extracting(key))),
          value: Array(copying: bytes.extracting(value))))
      offset = value.upperBound
    }
    var flags = flags
    if isProtected { flags.insert(.protect) }
    if kind == .otp { flags.insert(.otp) }
    if times != nil { flags.insert(.replaceAttributes) }
    return PutOrder(
      name: try Invocation.text(Array(copying: name.bytes)), flags: flags, attributes: pairs,
      times: times)
  }

  /// Those that are to be as secret as the value.
  var secretFields: AttributeFields {
    @_lifetime(borrow self) borrowing get { AttributeFields(secrets.bytes, count: secretCount) }
  }

  private static func field(_ bytes: Span<UInt8>, _ offset: Int, width: Int) -> Range<Int> {
    var length = 0
    for index in 0..<width { length |= Int(bytes[offset + index]) << (8 * index) }
    return (offset + width)..<(offset + width + length)
  }
}
