// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
public import SecureMemory

/// The secrets that were wrong at one vault lately, as hashes under a key of this process.
///
/// A script that goes on with the passcode of yesterday makes one mistake, not one a minute. Nobody learns
/// more from that: a secret that is not known here is counted. Mistakes are often close to the passcode,
/// and cheaper to guess from a hash: drop them as soon as the passcode was right. Their key is wiped then,
/// without which the hashes tell nothing.
public struct KnownMistakes: ~Copyable, Sendable {
  /// More would only help who makes different ones.
  private static let limit = 64

  private let key: Key
  private var digests: [Digest] = []

  /// None yet, under a fresh key.
  ///
  /// - Throws: ``VaultError/outOfMemory``, ``VaultError/entropyUnavailable``.
  public init() throws(VaultError) {
    do { key = try Key.random() } catch { throw VaultError(error, about: .slot) }
  }

  /// Whether the secret was wrong before.
  public func contains(
    _ secret: borrowing SecretBytes, _ kind: TryKind
  ) throws(VaultError) -> Bool {
    digests.contains(try digest(secret, kind))
  }

  /// Notes that the secret is wrong; the oldest of many is forgotten.
  public mutating func insert(
    _ secret: borrowing SecretBytes, _ kind: TryKind
  ) throws(VaultError) {
    let digest = try digest(secret, kind)
    guard !digests.contains(digest) else { return }
    if digests.count == Self.limit { digests.removeFirst() }
    digests.append(digest)
  }

  private func digest(
    _ secret: borrowing SecretBytes, _ kind: TryKind
  ) throws(VaultError) -> Digest {
    do {
      var hash = try KeyedHash(key: key)
      hash.update(integer: kind.rawValue)
      hash.update(secret.bytes)
      return hash.finalize()
    } catch {
      throw VaultError(error, about: .slot)
    }
  }
}
