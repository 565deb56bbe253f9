// SPDX-License-Identifier: MIT

internal import CZlib

/// Unpacks what was packed by deflate (RFC 1951), and no more of it than is wanted.
enum Inflation {
  /// Says how the bytes are wrapped.
  enum Wrapping: Int32 {
    /// Not at all.
    case none = -15
    /// By gzip (RFC 1952).
    case gzip = 31
  }

  /// What the bytes unpack to; nil where they are damaged, or become more than `limit` bytes.
  static func inflate(_ bytes: [UInt8], _ wrapping: Wrapping, limit: Int) -> [UInt8]? {
    var stream = unsafe z_stream()
    guard
      unsafe inflateInit2_(
        &stream, wrapping.rawValue, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    else { return nil }
    defer { unsafe inflateEnd(&stream) }
    var (output, room) = ([UInt8](), [UInt8](repeating: 0, count: 65_536))
    var input = bytes
    return unsafe input.withUnsafeMutableBufferPointer { source -> [UInt8]? in
      unsafe stream.next_in = source.baseAddress
      unsafe stream.avail_in = UInt32(source.count)
      while true {
        let capacity = room.count
        let status = unsafe room.withUnsafeMutableBufferPointer { target in
          unsafe stream.next_out = target.baseAddress
          unsafe stream.avail_out = UInt32(capacity)
          return unsafe CZlib.inflate(&stream, Z_NO_FLUSH)
        }
        output += room[..<(capacity - Int(unsafe stream.avail_out))]
        guard output.count <= limit else { return nil }
        if status == Z_STREAM_END { return output }
        guard status == Z_OK else { return nil }
      }
    }
  }
}
