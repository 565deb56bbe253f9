// SPDX-License-Identifier: MIT

/// Tells by their names which backups go together: `NAME-20261123T111530Z.kura`, by which they sort.
public enum BackupSeries {
  private static let form = "-00000000T000000Z.kura".utf8

  /// What stands in front of the moment; nil for a name of another form.
  public static func front(of name: String) -> String? {
    let bytes = Array(name.utf8)
    guard bytes.count > form.count else { return nil }
    for (byte, model) in zip(bytes.suffix(form.count), form) {
      let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      guard model == UInt8(ascii: "0") ? isDigit : byte == model else { return nil }
    }
    return String(decoding: bytes.dropLast(form.count), as: UTF8.self)
  }
}
