// SPDX-License-Identifier: MIT

/// Text that is no secret, from bytes.
extension String {
  /// The text of UTF-8 bytes; what is none is replaced by U+FFFD.
  init(repairing bytes: Span<UInt8>) {
    if let valid = try? UTF8Span(validating: bytes) {
      self = String(copying: valid)
    } else {
      self = unsafe bytes.withUnsafeBufferPointer { unsafe String(decoding: $0, as: UTF8.self) }
    }
  }
}

extension Array where Element == UInt8 {
  /// A copy of bytes that are no secret.
  init(copying bytes: Span<UInt8>) {
    self = []
    reserveCapacity(bytes.count)
    for index in bytes.indices { append(bytes[index]) }
  }
}
