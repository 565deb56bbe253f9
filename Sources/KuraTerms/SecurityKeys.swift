// SPDX-License-Identifier: MIT

/// Names what a security key (FIDO2) made for one slot: of no use without the key, and no secret itself.
public struct KeyCredential: Equatable, Sendable {
  /// The longest id, in bytes.
  public static let longestID = 1_023
  /// The longest PIN, in bytes (CTAP 2.1, 6.5.1).
  public static let longestPIN = 63

  /// What the key knows it by.
  public let id: [UInt8]
  /// Whether the key makes sure who uses it, by a PIN or by itself: with that it gives another secret than without.
  public let isVerified: Bool

  /// A credential, whose id has 1 to ``longestID`` bytes; nil for others.
  public init?(id: [UInt8], isVerified: Bool) {
    guard (1...KeyCredential.longestID).contains(id.count) else { return nil }
    self.id = id
    self.isVerified = isVerified
  }
}

/// Tells what a security key asks for before it gives a secret.
public struct SecurityKeyFacts: Equatable, Sendable {
  /// Whether its PIN has to be typed.
  public let takesPIN: Bool
  /// Whether it verifies by itself who touches it, as by a finger.
  public let verifies: Bool
  /// How many wrong PINs it takes yet; 0 where it takes none.
  public let pinTries: UInt8

  /// Facts as a key tells them.
  public init(takesPIN: Bool, verifies: Bool, pinTries: UInt8) {
    self.takesPIN = takesPIN
    self.verifies = verifies
    self.pinTries = pinTries
  }
}
