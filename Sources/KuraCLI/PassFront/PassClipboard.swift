// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Copies what pass copies, for as long as `PASSWORD_STORE_CLIP_TIME` says.
enum PassClipboard {
  static func copy(
    _ text: Span<UInt8>, of name: String, _ store: PassStore, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    var value = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: text.count)
    }
    do throws(SecureMemoryError) { try value.append(text) } catch { throw .outOfMemory }
    try Copy.hand(value, for: try time(invocation), store.access, invocation)
  }

  /// In milliseconds.
  private static func time(_ invocation: borrowing Invocation) throws(CommandError) -> UInt64 {
    guard let text = invocation.variables["PASSWORD_STORE_CLIP_TIME"] else { return 45_000 }
    guard let seconds = Decimal.parse(Array(text.utf8)[...]), seconds <= 86_400 else {
      throw PassFront.refusal(
        "PASSWORD_STORE_CLIP_TIME is not a number of seconds up to 86400.", invocation)
    }
    return seconds * 1_000
  }
}
