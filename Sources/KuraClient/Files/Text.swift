// SPDX-License-Identifier: MIT

extension Array where Element == UInt8 {
  /// A copy of bytes that are no secret.
  init(copying bytes: Span<UInt8>) {
    self = []
    reserveCapacity(bytes.count)
    for index in bytes.indices { append(bytes[index]) }
  }
}
