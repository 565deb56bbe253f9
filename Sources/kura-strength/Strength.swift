// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import CZxcvbn
internal import SecureMemory

/// Reads a passcode from descriptor 0 and prints the decimal logarithm of the guesses that somebody
/// who knows how people choose passcodes needs: `9.874`.
///
/// A program of its own: the word lists it reads are large, and the library leaves copies of the
/// passcode behind, which end with the process.
@main
struct Strength {
  /// The longest passcode (RFC 8265 leaves it to us), and the NUL that the library wants.
  private static let limit = 1_024

  static func main() {
    ProcessHardening.apply()
    guard let passcode = read() else { exit(1) }
    let bits = unsafe passcode.withUnsafeBytes { bytes in
      unsafe ZxcvbnMatch(bytes.baseAddress?.assumingMemoryBound(to: CChar.self), nil, nil)
    }
    // log10(2), to thousandths.
    print(Int((max(bits, 0) * 301.03).rounded()))
    exit(0)
  }

  /// The passcode with a NUL behind it; nil when it cannot be read or is too long.
  private static func read() -> SecretBytes? {
    guard var buffer = try? SecretBuffer(capacity: limit + 1) else { return nil }
    while true {
      var count = 0
      buffer.append(upTo: limit + 1 - buffer.count) { tail in
        count = unsafe tail.withUnsafeMutableBytes { bytes in
          guard let start = bytes.baseAddress else { return 0 }
          return unsafe kura_file_read(0, start, bytes.count)
        }
        return max(count, 0)
      }
      guard count > 0 else { break }
    }
    guard buffer.count <= limit, (try? buffer.append(0)) != nil else { return nil }
    return buffer.finish()
  }

  private static func print(_ thousandths: Int) {
    let fraction = "\(thousandths % 1_000)"
    let zeros = String(repeating: "0", count: 3 - fraction.utf8.count)
    let line = Array("\(thousandths / 1_000).\(zeros)\(fraction)\n".utf8)
    _ = unsafe line.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return Int32(0) }
      return unsafe kura_file_write(1, start, bytes.count)
    }
  }
}
