// SPDX-License-Identifier: MIT

/// Takes the members of an object as fields of an entry, under their names.
enum JSONFields {
  /// Takes all that are not empty; what is no text, number or Boolean is said.
  ///
  /// - Parameters:
  ///   - main: The member that is what the entry is about.
  ///   - open: Those that lists may show; nobody knows whether another one is secret.
  ///   - other: Those that are taken elsewhere.
  static func take(
    _ object: JSONValue?, value main: String?, open: Set<String>, besides other: Set<String> = [],
    into entry: inout SourceEntry
  ) {
    for (key, value) in object?.members ?? [] {
      let name = String(decoding: key, as: UTF8.self)
      guard !other.contains(name), let text = entry.taken(value, as: key), !text.isEmpty else {
        continue
      }
      if name == main {
        entry.value = text
      } else {
        entry.fields.append(.init(key: key, value: text, isSecret: !open.contains(name)))
      }
    }
  }
}

extension SourceEntry {
  /// The text of a member, empty where it is not there; of one that is none it is said that it is not taken.
  mutating func text(_ name: String, of object: JSONValue?) -> [UInt8] {
    object?[name].flatMap { taken($0, as: Array(name.utf8)) } ?? []
  }

  /// The elements of a member, likewise.
  mutating func elements(_ name: String, of object: JSONValue?) -> [JSONValue] {
    guard let member = object?[name], member != .null else { return [] }
    if let elements = member.elements { return elements }
    leave(name)
    return []
  }

  /// The texts of a member that is an array of them, likewise.
  mutating func texts(_ name: String, of object: JSONValue?) -> [[UInt8]] {
    var texts: [[UInt8]] = []
    for element in elements(name, of: object) {
      if let text = taken(element, as: Array(name.utf8)), !text.isEmpty { texts.append(text) }
    }
    return texts
  }

  /// An object that is a member, likewise.
  mutating func object(_ name: String, of object: JSONValue?) -> JSONValue? {
    guard let member = object?[name], member != .null else { return nil }
    if member.members != nil { return member }
    leave(name)
    return nil
  }

  /// Says of an object's members, but for some, that they are not taken, each once.
  mutating func leave(
    membersOf object: JSONValue, but known: Set<String>, _ reason: Remark.Reason = .unsupported
  ) {
    for (key, value) in object.members ?? []
    where !known.contains(String(decoding: key, as: UTF8.self)) && value.holdsAnything {
      let remark = Remark(reason: reason, field: key)
      if !left.contains(remark) { left.append(remark) }
    }
  }

  /// Says that the title of a section is not taken; its fields are.
  mutating func leave(sectionTitle title: JSONValue?) {
    guard let text = title?.text, !text.isEmpty else { return }
    left.append(Remark(reason: .unsupported, field: Array("title of the section ".utf8) + text))
  }

  /// Says that a field is not as it must be.
  mutating func leave(_ name: String) {
    left.append(Remark(reason: .invalid, field: Array(name.utf8)))
  }

  /// The text of what can be one; of all else that is not empty it is said that it is not taken.
  mutating func taken(_ value: JSONValue, as key: [UInt8]) -> [UInt8]? {
    switch value {
    case .string(let text), .number(let text): return text
    case .boolean(let flag): return Array((flag ? "true" : "false").utf8)
    case .null: return nil
    case .array, .object:
      if value.elements?.isEmpty != true, value.members?.isEmpty != true {
        left.append(Remark(reason: .invalid, field: key))
      }
      return nil
    }
  }
}
