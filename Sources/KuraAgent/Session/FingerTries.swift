// SPDX-License-Identifier: MIT

/// Counts fingers that did not match, and says when only the passcode counts; a value without a reader.
struct FingerTries: Equatable, Sendable {
  /// So many may not match.
  static let most: UInt32 = 5

  private var failures: UInt32 = 0

  /// How many may yet fail.
  var left: UInt32 { Self.most - failures }

  /// Whether no finger counts any more, until the passcode has worked.
  var isSpent: Bool { left == 0 }

  /// One did not match.
  mutating func fail() { failures = min(failures + 1, Self.most) }

  /// The reader takes no more.
  mutating func end() { failures = Self.most }
}
