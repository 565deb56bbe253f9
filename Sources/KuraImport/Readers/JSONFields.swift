// SPDX-License-Identifier: MIT

/// Takes the members of an object as fields of an entry, under their names.
enum JSONFields {
  /// Takes all that are texts or numbers, and not empty.
  ///
  /// - Parameters:
  ///   - main: The member that is what the entry is about.
  ///   - secret: Those that are hidden.
  ///   - other: Those that are taken elsewhere.
  static func take(
    _ object: JSONValue?, value main: String?, secret: Set<String>, besides other: Set<String> = [],
    into entry: inout SourceEntry
  ) {
    for (key, value) in object?.members ?? [] {
      let name = String(decoding: key, as: UTF8.self)
      guard let text = text(value), !text.isEmpty, !other.contains(name) else { continue }
      if name == main {
        entry.value = text
      } else {
        entry.fields.append(.init(key: key, value: text, isSecret: secret.contains(name)))
      }
    }
  }

  private static func text(_ value: JSONValue) -> [UInt8]? {
    switch value {
    case .string(let text), .number(let text): text
    case .null, .boolean, .array, .object: nil
    }
  }
}
