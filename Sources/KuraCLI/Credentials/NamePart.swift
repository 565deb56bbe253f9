// SPDX-License-Identifier: MIT

/// Makes a part of an item's name, between two `/`, of whatever bytes another program names
/// something by.
///
/// No two byte strings become the same part: what is not printable ASCII, `/` and `%` are written
/// `%XX`, and so are `.` and `..` as a whole. Nothing at all is a lone `%`.
enum NamePart {
  /// The part for bytes.
  static func encode(_ bytes: [UInt8]) -> String {
    guard !bytes.isEmpty else { return "%" }
    let isDots = bytes.count <= 2 && bytes.allSatisfy { $0 == UInt8(ascii: ".") }
    return bytes.reduce(into: "") { part, byte in
      let isPlain =
        byte > 0x20 && byte < 0x7F && byte != UInt8(ascii: "/") && byte != UInt8(ascii: "%")
      guard isPlain && !isDots else {
        part += "%"
        part.unicodeScalars.append(Unicode.Scalar(Hex.digit(byte >> 4)))
        part.unicodeScalars.append(Unicode.Scalar(Hex.digit(byte & 0xF)))
        return
      }
      part.unicodeScalars.append(Unicode.Scalar(byte))
    }
  }

  /// The bytes of a part; nil where it is none that ``encode(_:)`` makes.
  static func decode(_ part: some Sequence<UInt8>) -> [UInt8]? {
    let written = Array(part)
    guard written != [UInt8(ascii: "%")] else { return [] }
    var bytes: [UInt8] = []
    var index = 0
    while index < written.count {
      guard written[index] == UInt8(ascii: "%") else {
        bytes.append(written[index])
        index += 1
        continue
      }
      guard index + 2 < written.count, let high = Hex.value(written[index + 1]),
        let low = Hex.value(written[index + 2])
      else { return nil }
      bytes.append(high << 4 | low)
      index += 3
    }
    return encode(bytes).utf8.elementsEqual(written) ? bytes : nil
  }

  /// The parts for the path of a file; nil where one is `..`, which does not tell what it leads to.
  ///
  /// - Parameter directory: What a relative path begins at.
  static func path(_ path: [UInt8], from directory: [UInt8]) -> String? {
    let slash = UInt8(ascii: "/")
    let whole = path.first == slash ? path : directory + [slash] + path
    let parts = whole.split(separator: slash).map { Array($0) }
      .filter { $0 != [UInt8(ascii: ".")] }
    guard !parts.isEmpty, !parts.contains([UInt8(ascii: "."), UInt8(ascii: ".")]) else {
      return nil
    }
    return parts.map { encode($0) }.joined(separator: "/")
  }
}
