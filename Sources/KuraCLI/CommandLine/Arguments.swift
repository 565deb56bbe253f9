// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Holds what was typed after the verb and understood, as bytes: a path need not be UTF-8.
struct Arguments: Sendable {
  /// Holds an option that was given, and its value.
  struct Given: Sendable {
    let name: OptionName
    let value: [UInt8]?
  }

  var options: [Given] = []
  var operands: [[UInt8]] = []
  /// How many operands stand before `--`; nil without one behind the verb.
  var operandsBeforeSeparator: Int?

  /// Whether the option was given.
  func has(_ name: OptionName) -> Bool { options.contains { $0.name == name } }

  /// The option's value; of several, the last.
  func value(_ name: OptionName) -> [UInt8]? { options.last { $0.name == name }?.value }

  /// All values of an option that may be repeated.
  func values(_ name: OptionName) -> [[UInt8]] {
    options.compactMap { $0.name == name ? $0.value : nil }
  }
}

// MARK: - Typed values

extension Arguments {
  /// A decimal number that the type can hold.
  func number<Number: FixedWidthInteger>(
    _ name: OptionName, as: Number.Type = Number.self
  ) throws(UsageError) -> Number? {
    guard let text = value(name) else { return nil }
    guard let wide = Decimal.parse(text[...]), let number = Number(exactly: wide) else {
      throw .notANumber(name, text)
    }
    return number
  }

  /// The same, where small numbers mean nothing.
  func number<Number: FixedWidthInteger>(
    _ name: OptionName, atLeast least: Number
  ) throws(UsageError) -> Number? {
    guard let number = try number(name, as: Number.self) else { return nil }
    guard number >= least else { throw .tooSmall(name, value(name) ?? [], least: "\(least)") }
    return number
  }

  /// A duration in milliseconds.
  func duration(_ name: OptionName) throws(UsageError) -> UInt64? {
    guard let text = value(name) else { return nil }
    guard let span = TimeSpan(text), span.milliseconds > 0 else { throw Self.notADuration(text) }
    return span.milliseconds
  }

  private static func notADuration(_ text: [UInt8]) -> UsageError {
    let lacksUnit = Decimal.parse(text[...]) != nil
    return UsageError(
      Diagnostic.quoted(text) + " is not a length of time" + (lacksUnit ? ": it has no unit" : ""),
      hint: "write 30s, 15m, 8h or 1h30m")
  }

  /// A duration in milliseconds that a setting could have, too.
  func limit(_ name: OptionName, as key: Setting) throws(UsageError) -> UInt64? {
    guard let text = value(name), let span = TimeSpan(text) else { return try duration(name) }
    guard key.range.contains(span.milliseconds) else { throw .notAConfigValue(key, text) }
    return span.milliseconds
  }

  /// A size in bytes.
  func size(_ name: OptionName) throws(UsageError) -> UInt64? {
    guard let text = value(name) else { return nil }
    guard let size = ByteSize(text) else {
      throw UsageError(Diagnostic.quoted(text) + " is not a size", hint: "write 256MiB or 1GiB")
    }
    return size.count
  }

  /// Each `KEY=VALUE` of a repeated option.
  func attributes(_ name: OptionName) throws(UsageError) -> [AttributePair] {
    try AttributePair.all(values(name))
  }

  /// Refuses options that contradict each other.
  func refuse(_ first: OptionName, with others: OptionName...) throws(UsageError) {
    guard has(first) else { return }
    for other in others where has(other) { throw .conflict(first, other) }
  }
}

/// Splits `KEY=VALUE` at the first `=`.
struct AttributePair: Equatable, Sendable {
  let key: [UInt8]
  let value: [UInt8]

  init(_ text: [UInt8]) throws(UsageError) {
    guard let equals = text.firstIndex(of: UInt8(ascii: "=")), equals > 0 else {
      throw UsageError(Diagnostic.quoted(text) + " is not KEY=VALUE")
    }
    key = Array(text[..<equals])
    value = Array(text[(equals + 1)...])
  }

  /// Splits each text.
  ///
  /// - Parameter taken: Keys that must not be among them.
  static func all(
    _ texts: some Sequence<[UInt8]>, besides taken: [[UInt8]] = []
  ) throws(UsageError) -> [AttributePair] {
    var pairs: [AttributePair] = []
    for text in texts {
      let pair = try AttributePair(text)
      if pairs.contains(where: { $0.key == pair.key }) || taken.contains(pair.key) {
        throw UsageError("the attribute " + Diagnostic.quoted(pair.key) + " is given twice")
      }
      pairs.append(pair)
    }
    guard pairs.count <= AttributeRule.most, taken.count <= AttributeRule.most else {
      throw UsageError(
        "an item has at most \(AttributeRule.most) attributes",
        hint: "keep a list of things in the value instead")
    }
    return pairs
  }
}
