// SPDX-License-Identifier: MIT

/// Makes zip archives, right ones and wrong ones, whose files are stored as they are.
public struct ZipFile {
  /// Holds a file of an archive, with what may be wrong of it.
  public struct Entry {
    var name: [UInt8]
    var content: [UInt8]
    var flags: UInt16 = 0
    /// Added to the sum of the content.
    var wrong: UInt32 = 0
    /// What is said of the size.
    var size: UInt32?

    /// A file; what is not given is right.
    public init(
      _ name: String, _ content: [UInt8], flags: UInt16 = 0, wrong: UInt32 = 0, size: UInt32? = nil
    ) {
      (self.name, self.content) = (Array(name.utf8), content)
      (self.flags, self.wrong, self.size) = (flags, wrong, size)
    }
  }

  /// The archive of some files.
  public static func bytes(_ entries: [Entry]) -> [UInt8] {
    var (bytes, directory): ([UInt8], [UInt8]) = ([], [])
    for entry in entries {
      let place = UInt32(bytes.count)
      var head = [UInt8](little: UInt16(20)) + .init(little: entry.flags) + [0, 0, 0, 0, 0x21, 0]
      head += .init(little: sum(entry.content) &+ entry.wrong)
      head += .init(little: UInt32(entry.content.count))
      head += .init(little: entry.size ?? UInt32(entry.content.count))
      head += .init(little: UInt16(entry.name.count)) + [0, 0]
      bytes += [0x50, 0x4B, 3, 4] + head + entry.name + entry.content
      directory += [0x50, 0x4B, 1, 2, 20, 0] + head + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
      directory += .init(little: place) + entry.name
    }
    let (count, place) = (UInt16(entries.count), UInt32(bytes.count))
    bytes += directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + .init(little: count)
    bytes += .init(little: count) + .init(little: UInt32(directory.count))
    return bytes + .init(little: place) + [0, 0]
  }

  /// CRC-32, as zip has it.
  private static func sum(_ bytes: [UInt8]) -> UInt32 {
    ~bytes.reduce(~0) { sum, byte in
      (0..<8).reduce(sum ^ UInt32(byte)) { sum, _ in
        sum >> 1 ^ (sum & 1 == 1 ? 0xEDB8_8320 : 0)
      }
    }
  }
}

extension [UInt8] {
  fileprivate init(little number: some FixedWidthInteger) {
    self = (0..<number.bitWidth / 8).map { UInt8(truncatingIfNeeded: number >> ($0 * 8)) }
  }
}
