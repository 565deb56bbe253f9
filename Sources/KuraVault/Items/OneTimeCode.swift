// SPDX-License-Identifier: MIT

public import KuraFormat
public import SecureMemory

/// Holds a code that is good for once, or for some seconds; wiped when dropped.
public struct OneTimeCode: ~Copyable, Sendable {
  /// The code: ASCII digits.
  public let text: SecretBytes
  /// What it was made of but for the secret; a counter is the one that this code was made with.
  public let factor: OTPSeed.Factor
  /// What it was made with.
  public let algorithm: OTPAlgorithm
  /// How long it is good for, in milliseconds; 0 for a code by a counter.
  public let left: UInt64
  /// Whether the item is protected.
  public let isProtected: Bool
  /// Whether the vault changed: a counter moved on.
  public var hasMoved: Bool { if case .counter = factor { true } else { false } }
}

extension UnlockedVault {
  /// Makes the code that an item gives now: one of codes, a text with an otpauth URI as a line of it, or one that
  /// has it beside its value, as the secret attribute `otp`. The secret it is made of leaves the vault in no other
  /// way than by reading the value.
  ///
  /// A counter has moved on, on the disk, before its code is returned: a code is never given twice. The
  /// revision before it does not go to the history, which would lose what was meant to be kept there.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised here.
  ///   - key: What opens protected values; nil for none.
  /// - Throws: ``VaultError/notFound``, ``VaultError/notOTP``, ``VaultError/protected``,
  ///   ``VaultError/otpInvalid(_:)`` for a counter at its end, ``VaultError/busy`` and those of the file.
  public mutating func oneTimeCode(
    _ name: Span<UInt8>, with key: borrowing ProtectedKey? = nil
  ) throws(VaultError) -> OneTimeCode {
    let value = try value(name, with: key)
    guard let place = value.seedPlace else { return try codeBeside(value.item, name, key) }
    let seed = try OTPSeed.read(value.bytes.extracting(place))
    switch seed.factor {
    case .counter: return try nextCode(name, key)
    case .time(let period): return try code(seed, period, value.item)
    }
  }

  private func code(
    _ seed: borrowing OTPSeed, _ period: UInt32, _ item: borrowing Item
  ) throws(VaultError) -> OneTimeCode {
    let (now, step) = (options.now(), UInt64(period) * 1_000)
    return OneTimeCode(
      text: try seed.made(now / step), factor: seed.factor, algorithm: seed.algorithm,
      left: step - now % step, isProtected: item.isProtected)
  }

  /// Makes the code of what stands beside the value.
  private mutating func codeBeside(
    _ item: borrowing Item, _ name: Span<UInt8>, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> OneTimeCode {
    let attribute = Array("otp".utf8)
    guard item.hasSecret(attribute.span) else { throw .notOTP }
    let uri = try secretAttribute(attribute.span, of: name, with: key)
    let seed = try OTPSeed.read(uri.bytes)
    switch seed.factor {
    case .time(let period): return try code(seed, period, item)
    case .counter: return try nextCodeBeside(name, attribute.span, key)
    }
  }

  /// Makes a counter's code beside the value and moves the counter, in one transaction.
  private mutating func nextCodeBeside(
    _ name: Span<UInt8>, _ attribute: Span<UInt8>, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> OneTimeCode {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    return try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      try change.check(live: nil)
      let uri = try vault.currentSecret(attribute, tag, key)
      let seed = try OTPSeed.read(uri.bytes)
      guard let kind = change.kind, case .counter(let counter) = seed.factor else { throw .notOTP }
      guard counter < .max else { throw .otpInvalid(.counter) }
      let next = try fromFormat(.item, seed.uri(uri.bytes, withCounter: counter + 1))
      var edits = AttributeEdits()
      try edits.set(secret: attribute, to: next.bytes)
      let isProtected = change.isProtected
      let content = try vault.currentContent(tag)
      let moved = try change.next(
        name.bytes, edits, setting: [], size: content.size, modified: draft.root.time)
      _ = try vault.finish(change, moved, content, kind, &draft, keepingCurrent: false)
      return OneTimeCode(
        text: try seed.made(counter), factor: seed.factor, algorithm: seed.algorithm, left: 0,
        isProtected: isProtected)
    }
  }

  /// Makes a counter's code and moves the counter, in one transaction.
  private mutating func nextCode(
    _ name: Span<UInt8>, _ key: borrowing ProtectedKey?
  ) throws(VaultError) -> OneTimeCode {
    let name = try ItemName.checked(name)
    let tag = try keys.tag(of: name)
    return try writing { vault, draft throws(VaultError) in
      let change = try vault.beginChange(of: tag)
      try change.check(live: nil)
      let value = try vault.currentValue(tag, orElse: .notFound, key)
      guard let kind = change.kind, let place = value.seedPlace else { throw .notOTP }
      let seed = try OTPSeed.read(value.bytes.extracting(place))
      guard case .counter(let counter) = seed.factor else { throw .notOTP }
      guard counter < .max else { throw .otpInvalid(.counter) }
      let next = try seed.moved(value.bytes, at: place, to: counter + 1)
      let content = try NewContent(inline: next.bytes)
      let moved = try change.next(
        name.bytes, AttributeEdits(), setting: .value, size: content.size,
        modified: draft.root.time)
      _ = try vault.finish(change, moved, content, kind, &draft, keepingCurrent: false)
      return OneTimeCode(
        text: try seed.made(counter), factor: seed.factor, algorithm: seed.algorithm, left: 0,
        isProtected: value.item.isProtected)
    }
  }
}

// MARK: - In this module's errors

extension OTPSeed {
  /// Reads an otpauth URI.
  static func read(_ uri: Span<UInt8>) throws(VaultError) -> OTPSeed {
    try fromFormat(.item, OTPSeed(uri: uri))
  }

  fileprivate borrowing func made(_ counter: UInt64) throws(VaultError) -> SecretBytes {
    try fromFormat(.item, code(counter))
  }

  /// A value with the counter of its URI moved on.
  fileprivate borrowing func moved(
    _ value: Span<UInt8>, at place: Range<Int>, to counter: UInt64
  ) throws(VaultError) -> SecretBytes {
    let uri = try fromFormat(
      .item, self.uri(value.extracting(place), withCounter: counter))
    let count = value.count - place.count + uri.count
    guard count <= ItemBody.longestInline else { throw .tooLarge }
    do throws(SecureMemoryError) {
      var moved = try SecretBytes(count: count)
      moved.overwrite(at: 0, with: value.extracting(..<place.lowerBound))
      moved.overwrite(at: place.lowerBound, with: uri.bytes)
      moved.overwrite(
        at: place.lowerBound + uri.count, with: value.extracting(place.upperBound...))
      return moved
    } catch { throw .outOfMemory }
  }
}

// MARK: - In a text

extension Value {
  /// Where an otpauth URI stands: an item of codes is one, and in a text it is the first line that begins like one.
  /// nil: there is none, or the value is too long to be looked through.
  fileprivate var seedPlace: Range<Int>? {
    let (bytes, head) = (bytes, Array("otpauth://".utf8))
    if item.isOTP { return 0..<bytes.count }
    var start = 0
    while start < bytes.count {
      var end = start
      while end < bytes.count, bytes[end] != UInt8(ascii: "\n") { end += 1 }
      if end - start >= head.count, head.indices.allSatisfy({ bytes[start + $0] == head[$0] }) {
        return start..<(bytes[end - 1] == UInt8(ascii: "\r") ? end - 1 : end)
      }
      start = end + 1
    }
    return nil
  }
}
