// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Makes a text and the one before it unreadable as long as the vault is locked: nothing is left of them in this
/// process but what an unlock makes readable again.
struct TextMask: ~Copyable {
  /// nil while they are unreadable.
  private var key: SecretBytes?
  /// Outlives the key through a lock: the agent makes the key of it again after the unlock.
  private var sealed: [UInt8] = []

  /// Has a key for the next lock, after an unlock where it is locked. A private engine locks at the command's end:
  /// that takes none.
  static func begin(_ access: VaultAccess) throws(CommandError) -> TextMask {
    var mask = TextMask(key: nil)
    guard !access.isPrivate else { return mask }
    try access.unlocked { connection throws(ClientError) in
      mask.take(try connection.draftKey())
    }
    return mask
  }

  private mutating func take(_ made: consuming MaskKey) {
    sealed = made.sealed
    key = made.finish()
  }

  /// Makes both unreadable, and forgets by what.
  mutating func cover(_ text: inout SecretBuffer, _ original: inout SecretBuffer) {
    guard let key = key.take() else { return }
    Self.apply(key, &text, &original)
  }

  /// Makes both readable again where the vault is unlocked, and has a key for the next lock.
  ///
  /// - Returns: Whether they are; false: the vault is locked again.
  /// - Throws: Where it has other keys now, among others; both stay as they were.
  mutating func uncover(
    _ text: inout SecretBuffer, _ original: inout SecretBuffer, _ access: VaultAccess
  ) throws(CommandError) -> Bool {
    var connection = try access.connect()
    do throws(ClientError) {
      let opened = try connection.draftKey(sealed)
      let next = try connection.draftKey()
      Self.apply(opened.key, &text, &original)
      take(next)
      return true
    } catch {
      if error == .noAgent || error == .hungUp { return false }
      guard case .refused(let refusal) = error else { throw .client(error) }
      if refusal.failure == .locked { return false }
      guard refusal.failure == .wrongKey else { throw .client(error) }
      throw .failure(
        "the text cannot be had back: the vault was put under a new key meanwhile",
        hint: "the value is as it was: 'kura edit NAME' begins anew", .integrity)
    }
  }

  private static func apply(
    _ key: borrowing SecretBytes, _ text: inout SecretBuffer, _ original: inout SecretBuffer
  ) {
    text.mask(with: key, number: 0)
    original.mask(with: key, number: 1)
  }
}
