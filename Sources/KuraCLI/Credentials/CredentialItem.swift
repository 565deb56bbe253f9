// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Bounds what is read of a request and handed out of a value.
enum CredentialLimit {
  static let bytes = 65_536
}

/// Carries a secret on its way to another program.
struct CredentialValue: ~Copyable {
  private(set) var buffer: SecretBuffer
  /// Whether there was more than ``CredentialLimit/bytes``.
  private(set) var isTooLong = false
  /// The revision that it is of; 0 before it was read.
  fileprivate(set) var revision: UInt64 = 0

  init() throws(CommandError) {
    buffer = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
  }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { buffer.bytes }
  }

  /// Gives up the secret.
  consuming func finish() -> SecretBuffer { buffer }

  mutating func removeAll() {
    buffer.removeAll()
    isTooLong = false
  }

  /// Takes a part; what is too much is dropped.
  mutating func take(_ part: Span<UInt8>) throws(ClientError) {
    guard part.count <= CredentialLimit.bytes - buffer.count else {
      isTooLong = true
      return
    }
    do throws(SecureMemoryError) { try buffer.append(part) } catch { throw .outOfMemory }
  }

  /// Makes sure that a protocol of lines can carry it.
  ///
  /// - Parameter name: The item it came from.
  func checkLine(_ name: String) throws(CommandError) {
    if isTooLong { throw .valueTooLong(name) }
    guard let end = bytes.indices.first(where: { Self.endsLine(bytes[$0]) }) else { return }
    let isTrimmable = end == bytes.count - 1 && bytes[end] == UInt8(ascii: "\n")
    throw .failure(
      "the value of " + Diagnostic.shown(name) + " is not one line, so it is not handed out",
      hint: isTrimmable
        ? "'kura put --trim --replace NAME' stores it without the newline at its end"
        : "'kura put --replace NAME' stores another in its place; 'kura get NAME' prints it")
  }

  /// Makes sure that a protocol of JSON can carry it.
  func checkText(_ name: String) throws(CommandError) {
    if isTooLong { throw .valueTooLong(name) }
    guard UTF8Scanner.isText(bytes) else {
      throw .failure("the value of " + Diagnostic.shown(name) + " is not UTF-8 text")
    }
  }

  /// Whether a reader of lines may take it for more than a byte of one. Some end a line at a lone
  /// carriage return (CVE-2024-50338), C programs end a text at a NUL.
  static func endsLine(_ byte: UInt8) -> Bool { byte == 0x0A || byte == 0x0D || byte == 0 }
}

extension CredentialValue {
  /// Reads it as the JSON that it begins as.
  ///
  /// - Parameter name: The item it came from.
  consuming func document(_ name: String) throws(CommandError) -> JSONDocument {
    do throws(JSONFlaw) { return try JSONDocument(finish(), of: name) } catch {
      throw .notAValue(name, error)
    }
  }
}

extension Invocation {
  /// The one item that the operand behind a program's name means, and its value, which is a text.
  ///
  /// - Parameter verb: What is said of where there is none, or more than one.
  func itemToHandOut(
    by verb: String, into value: inout CredentialValue
  ) throws(CommandError) -> (name: String, item: Item) {
    guard arguments.operands.count == 2 else {
      throw .usage(.operandMissing("the NAME of one item", verb: verb))
    }
    let (name, access) = try itemMeant()
    let item = try access.reading(name).unlocked(authorizing: true) {
      connection throws(ClientError) in
      let item = try connection.show(name).item
      value.removeAll()
      try connection.get(name, for: .helper) { part throws(ClientError) in try value.take(part) }
      return item
    }
    try value.checkText(name)
    return (name, item)
  }

  /// The operand may be a reference, as in other configurations.
  private func itemMeant() throws(CommandError) -> (name: String, VaultAccess) {
    let text = try operand(1)
    guard ItemReference.begins(text.utf8.span, at: 0) else { return (text, try access()) }
    let reference: ItemReference
    do throws(ItemReference.Flaw) { reference = try ItemReference(text) } catch {
      throw .usage(.notAReference(error))
    }
    guard reference.part == .value else {
      throw .usage(
        "a whole item is wanted here, and the reference means a part of one",
        hint: "write kura://NAME or kura://@VAULT/NAME, and nothing behind it")
    }
    return (reference.name, try access(of: reference))
  }
}

extension CommandError {
  fileprivate static func valueTooLong(_ name: String) -> CommandError {
    .failure(
      "the value of " + Diagnostic.shown(name) + " has more than \(CredentialLimit.bytes) bytes")
  }

  /// An item lacks what its program is to be told.
  static func attributeMissing(_ name: String, key: String) -> CommandError {
    .failure(
      Diagnostic.shown(name) + " has no attribute " + key,
      hint: "'kura attr NAME " + key + "=...' sets it")
  }
}

// MARK: - Items that may not be there

extension Connection {
  /// An item but for its value; nil where there is none.
  mutating func found(_ name: String) throws(ClientError) -> Item? {
    do throws(ClientError) { return try show(name).item } catch {
      guard error.isNotFound else { throw error }
      return nil
    }
  }

  /// Reads a value; false where there is no such item.
  mutating func read(
    _ name: String, into value: inout CredentialValue
  ) throws(ClientError) -> Bool {
    value.removeAll()
    do throws(ClientError) {
      let facts = try get(name, for: .helper) { part throws(ClientError) in try value.take(part) }
      value.revision = facts.revision
      return true
    } catch {
      guard error.isNotFound else { throw error }
      return false
    }
  }

  /// Stores a value with attributes of the program's beside those that the item has; nothing is
  /// written where all of it is stored already, since programs say what they know again and again.
  ///
  /// - Parameter dropping: Keys of attributes that the item must not keep.
  mutating func keep(
    _ secret: Span<UInt8>, as name: String, _ attributes: [Attribute], dropping: [String] = []
  ) throws(ClientError) {
    let item = try found(name)
    let old = item?.attributes ?? []
    let kept = old.filter { one in
      !dropping.contains(one.key) && !attributes.contains { $0.key == one.key }
    }
    let new = (kept + attributes).sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
    if item != nil, old == new, try holds(name, secret) { return }
    _ = try put(
      PutOrder(
        name: name, flags: [.replace, .allowEmpty, .replaceAttributes], attributes: new),
      value: secret)
  }

  /// Whether an item's value is a secret; not where it takes a person to read it.
  mutating func holds(_ name: String, _ secret: Span<UInt8>) throws(ClientError) -> Bool {
    var value: CredentialValue
    do throws(CommandError) { value = try CredentialValue() } catch { throw .outOfMemory }
    do throws(ClientError) {
      guard try read(name, into: &value) else { return false }
    } catch {
      guard case .refused(let refused) = error, refused.failure == .protected else { throw error }
      return false
    }
    guard !value.isTooLong else { return false }
    let held = value.finish().finish()
    return held.isEqual(to: secret)
  }

  /// Removes an item, if it is still as it was seen; one that is gone is as good as removed.
  mutating func drop(_ name: String, ifRevision: UInt64 = 0) throws(ClientError) {
    do throws(ClientError) { try remove(name, ifRevision: ifRevision) } catch {
      guard case .refused(let refused) = error,
        refused.failure == .notFound || refused.failure == .revisionConflict
      else { throw error }
    }
  }
}

extension ClientError {
  fileprivate var isNotFound: Bool {
    guard case .refused(let refused) = self else { return false }
    return refused.failure == .notFound
  }
}
