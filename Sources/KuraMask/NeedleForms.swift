// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Writes a value in the forms in which programs print it, one after the other.
struct NeedleForms: ~Copyable {
  /// The shortest value, or line of one, that is looked for: in fewer bytes too much would be found.
  static let shortest = 6
  /// The longest value that is looked for.
  static let longest = 65_536

  /// The form that was written last.
  private(set) var form: SecretBuffer

  init() throws(SecureMemoryError) { form = try SecretBuffer(capacity: 256) }

  /// Goes through all forms of a value; some are alike.
  ///
  /// - Parameters:
  ///   - value: Of ``shortest`` to ``longest`` bytes.
  ///   - visit: Sees each as it is written.
  mutating func each(
    of value: Span<UInt8>, _ visit: (Span<UInt8>) throws(SecureMemoryError) -> Void
  ) throws(SecureMemoryError) {
    try encoded(value, visit)
    let ends = value.indices.count - NeedleForms.lineEnds(of: value)
    if ends < value.count, ends >= NeedleForms.shortest {
      try encoded(value.extracting(first: ends), visit)
    }
    try eachLine(of: value, visit)
  }

  /// How many line ends stand at a value's end.
  private static func lineEnds(of value: Span<UInt8>) -> Int {
    var count = 0
    while count < value.count, [0x0A, 0x0D].contains(value[value.count - 1 - count]) { count += 1 }
    return count
  }

  /// The lines of a value that has several: one may be printed alone.
  private mutating func eachLine(
    of value: Span<UInt8>, _ visit: (Span<UInt8>) throws(SecureMemoryError) -> Void
  ) throws(SecureMemoryError) {
    var start = 0
    for end in 0...value.count where end == value.count || value[end] == 0x0A {
      let line = value.extracting(start..<end)
      start = end + 1
      let text = line.extracting(first: line.count - NeedleForms.lineEnds(of: line))
      guard text.count >= NeedleForms.shortest, !NeedleForms.isArmour(text) else { continue }
      try visit(text)
    }
  }

  /// Whether a line only says what stands below it, as in PEM, and is the same in everybody's keys.
  private static func isArmour(_ line: Span<UInt8>) -> Bool {
    line.starts(with: "-----BEGIN ") || line.starts(with: "-----END ")
  }

  private mutating func encoded(
    _ value: Span<UInt8>, _ visit: (Span<UInt8>) throws(SecureMemoryError) -> Void
  ) throws(SecureMemoryError) {
    try visit(value)
    for digits in [Radix.hexadecimal, .upperHexadecimal, .base64, .base64URL, .base32] {
      try radix(digits, value, visit)
    }
    for rule in PercentRule.all {
      form.removeAll()
      try rule.append(value, to: &form)
      try visit(form.bytes)
    }
    for rule in JSONRule.all {
      form.removeAll()
      guard try rule.append(value, to: &form) else { continue }
      try visit(form.bytes)
    }
    for rule in ShellRule.allCases {
      form.removeAll()
      try rule.append(value, to: &form)
      try visit(form.bytes)
    }
  }

  /// A value may stand anywhere in what is encoded: so it is written as it looks at each place in a group, without
  /// the digits that its neighbours have a part in; and at the end of a text with what fills the last group.
  private mutating func radix(
    _ radix: Radix, _ value: Span<UInt8>,
    _ visit: (Span<UInt8>) throws(SecureMemoryError) -> Void
  ) throws(SecureMemoryError) {
    for place in 0..<radix.groupBytes {
      form.removeAll()
      let rest = try radix.append(value, at: place, to: &form)
      try visit(form.bytes)
      if let rest {
        try form.append(rest)
        try visit(form.bytes)
      }
      for _ in 0..<radix.padding(of: place + value.count) { try form.append(0x3D) }
      try visit(form.bytes)
    }
    try eachWrapped(radix, value, visit)
  }

  /// The lines of a long value that is encoded for itself, as base64(1) and PEM wrap them.
  private mutating func eachWrapped(
    _ radix: Radix, _ value: Span<UInt8>,
    _ visit: (Span<UInt8>) throws(SecureMemoryError) -> Void
  ) throws(SecureMemoryError) {
    guard radix.isWrapped else { return }
    form.removeAll()
    if let rest = try radix.append(value, at: 0, to: &form) { try form.append(rest) }
    for _ in 0..<radix.padding(of: value.count) { try form.append(0x3D) }
    for width in [64, 76] where form.count > width {
      var start = 0
      while form.count - start >= NeedleForms.shortest {
        let end = min(start + width, form.count)
        try visit(form.bytes.extracting(start..<end))
        start = end
      }
    }
  }
}

extension Span<UInt8> {
  /// Whether it begins with the bytes of a text.
  fileprivate func starts(with text: String) -> Bool {
    var index = 0
    for byte in text.utf8 {
      guard index < count, self[index] == byte else { return false }
      index += 1
    }
    return true
  }
}
