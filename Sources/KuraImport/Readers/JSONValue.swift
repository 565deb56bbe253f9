// SPDX-License-Identifier: MIT

/// Holds a JSON text (RFC 8259) that was read.
indirect enum JSONValue: Equatable, Sendable {
  case null
  case boolean(Bool)
  /// As it is written.
  case number([UInt8])
  case string([UInt8])
  case array([JSONValue])
  case object([(key: [UInt8], value: JSONValue)])

  /// The last member of that name; nil where there is none, or this is no object.
  subscript(_ name: String) -> JSONValue? {
    guard case .object(let members) = self else { return nil }
    return members.last { $0.key.elementsEqual(name.utf8) }?.value
  }

  /// The text; nil where it is none.
  var text: [UInt8]? { if case .string(let text) = self { text } else { nil } }

  /// The elements; nil where it is no array.
  var elements: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }

  /// The members; nil where it is no object.
  var members: [(key: [UInt8], value: JSONValue)]? {
    if case .object(let members) = self { members } else { nil }
  }

  /// The number, where it is a whole one that is not negative.
  var whole: UInt64? {
    guard case .number(let digits) = self, digits.count <= 19 else { return nil }
    var number: UInt64 = 0
    for digit in digits {
      guard (0x30...0x39).contains(digit) else { return nil }
      number = number * 10 + UInt64(digit - 0x30)
    }
    return number
  }

  /// Whether there is something in it: no null, no false, nothing that is empty or has but such members.
  var holdsAnything: Bool {
    switch self {
    case .null, .boolean(false): false
    case .boolean(true), .number: true
    case .string(let text): !text.isEmpty
    case .array(let elements): elements.contains { $0.holdsAnything }
    case .object(let members): members.contains { $0.value.holdsAnything }
    }
  }

  /// Whether it is `true`.
  var isTrue: Bool { self == .boolean(true) }

  static func == (left: JSONValue, right: JSONValue) -> Bool {
    switch (left, right) {
    case (.null, .null): true
    case (.boolean(let left), .boolean(let right)): left == right
    case (.number(let left), .number(let right)): left == right
    case (.string(let left), .string(let right)): left == right
    case (.array(let left), .array(let right)): left == right
    case (.object(let left), .object(let right)):
      left.count == right.count
        && zip(left, right).allSatisfy { $0.key == $1.key && $0.value == $1.value }
    case (.null, _), (.boolean, _), (.number, _), (.string, _), (.array, _), (.object, _): false
    }
  }
}
