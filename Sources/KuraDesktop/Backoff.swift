// SPDX-License-Identifier: MIT

/// Says how long to wait before a bus that is gone is tried again: longer each time, so that one that never comes
/// back costs nothing.
struct Backoff: Equatable, Sendable {
  static let longest: UInt64 = 30_000
  private static let first: UInt64 = 1_000

  private var following = first

  /// The next wait, in ms.
  mutating func next() -> UInt64 {
    defer { following = min(following * 2, Self.longest) }
    return following
  }

  /// Begins anew once the bus was there.
  mutating func reset() { following = Self.first }
}
