// SPDX-License-Identifier: MIT

public import SecureMemory

/// Prepares passcodes as people type them for the hash.
public enum Passcode {
  /// The longest prepared passcode, in bytes.
  public static let longest = 1024

  /// Prepares a passcode: the same characters, typed on any keyboard, give the same bytes.
  ///
  /// RFC 8265's OpaqueString: UTF-8, every other space becomes U+0020, normal form C, no control or
  /// unassigned characters, not empty. Joiners and variation selectors are kept, for emoji.
  ///
  /// - Parameter typed: The bytes as typed, without a line end; only borrowed.
  /// - Throws: ``FormatError/passcodeInvalid(_:)``, ``FormatError/outOfMemory``.
  public static func prepare(_ typed: Span<UInt8>) throws(FormatError) -> SecretBytes {
    guard !typed.isEmpty else { throw .passcodeInvalid(.empty) }
    do {
      return try Text.normalize(typed, limit: longest, mapping: .spaces)
    } catch {
      switch error {
      case .rule(let rule): throw .passcodeInvalid(rule)
      case .outOfMemory: throw .outOfMemory
      }
    }
  }
}
