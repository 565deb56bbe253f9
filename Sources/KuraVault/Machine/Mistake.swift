// SPDX-License-Identifier: MIT

internal import KuraCrypto

/// Tells a wrong secret again when it comes a second time, by what it came to at each slot it was tried at.
///
/// It holds hashes of what the key derivation made of the secret: whoever reads them out of memory has to
/// derive a key for each guess, as with the vault's file. A hash of the secret itself, under a key that
/// stands beside it, would let them guess a thousand times faster.
public struct Mistake: Equatable, Sendable {
  private(set) var marks: [Digest] = []

  /// Nothing tried yet.
  public init() {}

  mutating func add(_ mark: Digest) { marks.append(mark) }
}
