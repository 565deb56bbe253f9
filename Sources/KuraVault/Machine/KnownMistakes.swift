// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Recognises the secrets that were wrong at one vault lately, so that the same one again is not counted.
///
/// A script that goes on with the passcode of yesterday makes one mistake, not one a minute. Nobody learns
/// more from that: a secret that is not known here is counted. Mistakes are often close to the passcode:
/// drop them as soon as it was right.
public struct KnownMistakes: Sendable {
  /// More would only help who makes different ones.
  private static let limit = 64

  private var marks: [Digest] = []

  /// None yet.
  public init() {}

  /// Whether the secret was wrong before, at each of the slots that it was tried at.
  public func contains(_ mistake: Mistake) -> Bool {
    !mistake.marks.isEmpty && mistake.marks.allSatisfy { marks.contains($0) }
  }

  /// Notes that a secret is wrong; the oldest of many are forgotten.
  public mutating func insert(_ mistake: Mistake) {
    marks += mistake.marks.filter { !marks.contains($0) }
    marks.removeFirst(max(0, marks.count - Self.limit))
  }
}
