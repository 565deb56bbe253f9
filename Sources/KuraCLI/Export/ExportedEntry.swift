// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Gathers an item and those that stand below its name, as one entry of a password manager: what
/// kura-import(1) makes of an entry, the other way round.
struct ExportedEntry: ~Copyable {
  /// Says what of the entry an item is.
  enum Role: Equatable {
    case password, code, notes, field, attachment
  }

  /// Holds the value of one of the items.
  struct Part {
    let role: Role
    /// What it is called within the entry.
    let label: String
    let isProtected: Bool
    fileprivate let range: Range<Int>
  }

  /// The longest value that an entry holds.
  static let longest = 1 << 20

  /// The entry's own item, without its value.
  let item: Item
  private(set) var parts: [Part] = []
  private var text: SecretBuffer

  private init(_ item: Item, _ text: consuming SecretBuffer) {
    self.item = item
    self.text = text
  }

  /// Reads an entry.
  ///
  /// - Parameters:
  ///   - names: Its own, and those below it.
  ///   - flaw: Is told of what cannot be a part of any entry.
  /// - Returns: nil where it is gone by now, or too long.
  static func read(
    _ names: [String], _ items: inout ExportedItems,
    flaw: (String, String) -> Void
  ) throws(CommandError) -> ExportedEntry? {
    let own = names[0]
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    var text = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    var read: Item?
    var parts: [Part] = []
    for name in names {
      let item = try items.read(name, revision: 0, into: &value, limit: longest)
      if name == own {
        read = item
        try append(try items.secrets(of: item, name), of: item, to: &text, &parts)
      }
      guard item.facts.size <= UInt64(longest) else {
        flaw(name, "its value has \(item.facts.size) bytes, and an entry takes \(longest)")
        continue
      }
      let label = String(decoding: name.utf8.dropFirst(own.utf8.count + 1), as: UTF8.self)
      let role = free(role(of: item, label), parts)
      guard role == .attachment || UTF8Scanner.isText(value.bytes) else {
        flaw(name, "its value is no UTF-8 text")
        continue
      }
      let start = text.count
      do throws(SecureMemoryError) { try text.append(value.bytes) } catch { throw .outOfMemory }
      parts.append(
        Part(
          role: role, label: label.replacingPrefix("attachments/"),
          isProtected: item.facts.protection == .protected, range: start..<text.count))
    }
    guard let read else { return nil }
    var entry = ExportedEntry(read, text)
    entry.parts = parts
    return entry
  }

  /// Adds what stands beside the value.
  private static func append(
    _ secrets: borrowing MemberPairs, of item: Item, to text: inout SecretBuffer,
    _ parts: inout [Part]
  ) throws(CommandError) {
    let isProtected = item.facts.protection == .protected
    try secrets.forEach { key, value throws(CommandError) in
      let start = text.count
      do throws(SecureMemoryError) { try text.append(value) } catch { throw .outOfMemory }
      parts.append(
        Part(
          role: free(role(of: key, value), parts), label: key, isProtected: isProtected,
          range: start..<text.count))
    }
  }

  /// What a part of a role is where the entry has one of that already: a field.
  private static func free(_ role: Role, _ parts: [Part]) -> Role {
    switch role {
    case .password, .code, .notes: parts.contains { $0.role == role } ? .field : role
    case .field, .attachment: role
    }
  }

  private static func role(of key: String, _ value: Span<UInt8>) -> Role {
    if key.utf8.elementsEqual("notes".utf8) { return .notes }
    let scheme = Array("otpauth://".utf8)
    guard key.utf8.elementsEqual("otp".utf8), value.count > scheme.count else { return .field }
    return scheme.indices.allSatisfy { scheme[$0] == value[$0] } ? .code : .field
  }

  private static func role(of item: Item, _ label: String) -> Role {
    if item.facts.kind == .otp, label.isEmpty || label.utf8.elementsEqual("otp".utf8) {
      return .code
    }
    if label.isEmpty { return .password }
    if label.utf8.elementsEqual("notes".utf8) { return .notes }
    return label.utf8.starts(with: "attachments/".utf8) ? .attachment : .field
  }
}

extension ExportedEntry {
  /// The bytes of a part.
  @_lifetime(borrow self)
  borrowing func bytes(_ part: Part) -> Span<UInt8> { text.bytes.extracting(part.range) }

  /// The first part of a role.
  func first(_ role: Role) -> Part? {
    for part in parts where part.role == role { return part }
    return nil
  }

  /// An attribute as text; empty where there is none.
  func attribute(_ key: String) -> [UInt8] {
    for attribute in item.attributes where attribute.key.utf8.elementsEqual(key.utf8) {
      return attribute.value
    }
    return []
  }

  /// The attributes that no column of its own is for.
  func otherAttributes(than keys: [String]) -> [Attribute] {
    item.attributes.filter { attribute in
      !keys.contains { $0.utf8.elementsEqual(attribute.key.utf8) }
    }
  }

  /// All of its attributes.
  var attributes: [Attribute] { item.attributes }

  /// The names of the folders that it stands in, from the outermost.
  var folders: [String] { Self.split(item.name).folders }

  /// What the entry is called.
  var title: String { Self.split(item.name).title }

  private static func split(_ name: String) -> (folders: [String], title: String) {
    var parts: [String] = []
    for part in name.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
      parts.append(String(decoding: part, as: UTF8.self))
    }
    let title = parts.removeLast()
    return (parts, title)
  }
}

extension Attribute {
  /// Whether it is `url`, or `url-2` and so on, as kura-import(1) names more than one, and text.
  var isURL: Bool {
    let bytes = key.utf8
    guard bytes.starts(with: "url".utf8), UTF8Scanner.isText(value.span) else { return false }
    let rest = bytes.dropFirst(3)
    return rest.isEmpty
      || rest.first == UInt8(ascii: "-") && rest.count > 1
        && rest.dropFirst().allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
  }
}

extension String {
  fileprivate func replacingPrefix(_ prefix: String) -> String {
    guard utf8.starts(with: prefix.utf8) else { return self }
    return String(decoding: utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
  }
}
