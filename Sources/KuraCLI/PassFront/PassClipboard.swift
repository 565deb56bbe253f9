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
    let seconds = invocation.variables["PASSWORD_STORE_CLIP_TIME"].flatMap {
      Decimal.parse(Array($0.utf8)[...])
    }
    try Copy.hand(value, for: (seconds ?? 45) * 1_000, store.access, invocation)
  }
}
