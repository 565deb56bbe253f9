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
  /// Makes the code that an item gives now. The secret it is made of leaves the vault in no other way
  /// than by reading the value.
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
    guard value.item.isOTP else { throw .notOTP }
    let seed = try OTPSeed.read(value.bytes)
    switch seed.factor {
    case .counter: return try nextCode(name, key)
    case .time(let period):
      let (now, step) = (options.now(), UInt64(period) * 1_000)
      return OneTimeCode(
        text: try seed.made(now / step), factor: seed.factor, algorithm: seed.algorithm,
        left: step - now % step, isProtected: value.item.isProtected)
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
      guard change.kind == .otp else { throw .notOTP }
      let value = try vault.currentValue(tag, orElse: .notFound, key)
      let seed = try OTPSeed.read(value.bytes)
      guard case .counter(let counter) = seed.factor else { throw .notOTP }
      guard counter < .max else { throw .otpInvalid(.counter) }
      let next = try seed.moved(value.bytes, to: counter + 1)
      let content = try NewContent(inline: next.bytes)
      let meta = try change.newMeta(
        name.bytes, AttributeEdits(), size: content.size, modified: draft.root.time)
      _ = try vault.finish(change, meta, content, .otp, &draft, keepingCurrent: false)
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

  fileprivate borrowing func moved(
    _ uri: Span<UInt8>, to counter: UInt64
  ) throws(VaultError) -> SecretBytes {
    try fromFormat(.item, self.uri(uri, withCounter: counter))
  }
}
