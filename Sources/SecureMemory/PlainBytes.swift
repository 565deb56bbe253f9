// SPDX-License-Identifier: MIT

extension [UInt8] {
  /// Adds bytes that are no secret, all in one move: byte by byte, a megabyte takes a hundred times as long.
  public mutating func append(bytes: Span<UInt8>) {
    unsafe bytes.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }
}
