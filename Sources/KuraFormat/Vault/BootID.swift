// SPDX-License-Identifier: MIT

/// Marks an identifier as one of a start of the machine.
public enum BootSubject: Sendable {}

/// Which start of the machine it is: the boot clock counts from there.
public typealias BootID = Identifier<BootSubject>

extension Identifier where Subject == BootSubject {
  /// Reads the text of `/proc/sys/kernel/random/boot_id`, a UUID.
  ///
  /// - Returns: Nil for another text.
  public init?(text: String) {
    var bytes: [UInt8] = []
    var high: UInt8?
    for digit in text.utf8 where digit != UInt8(ascii: "-") && digit != UInt8(ascii: "\n") {
      guard let value = Character(Unicode.Scalar(digit)).hexDigitValue else { return nil }
      if let first = high.take() {
        bytes.append(first << 4 | UInt8(value))
      } else {
        high = UInt8(value)
      }
    }
    guard high == nil, bytes.count == identifierByteCount else { return nil }
    self.init(bytes.span)
  }
}
