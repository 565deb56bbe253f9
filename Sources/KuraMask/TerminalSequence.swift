// SPDX-License-Identifier: MIT

/// Follows the control sequences of a terminal (ECMA-48) that can stand within a word and show nothing: colours, and
/// movements of the cursor.
struct TerminalSequence {
  static let escape: UInt8 = 0x1B
  /// The longest that counts as one, and the longest run of them that a word can go on behind.
  private static let longest = 64
  private static let longestRun = 1_024

  /// Says what a byte is.
  enum Role {
    case text
    /// Begins a sequence, or goes on with one.
    case sequence
    /// Ends one: the next byte is text, or begins another.
    case end
    /// Ends one of too many in a row: no word goes on across them.
    case barrier
    /// What seemed a sequence is none, and no word goes on across it either. The byte is looked at anew.
    case broken
  }

  /// Names where in a sequence the last byte stood.
  private enum Place {
    case outside
    case begun
    case parameters
    case intermediates
    case short
  }

  private var place = Place.outside
  private var count = 0
  private var run = 0

  /// Whether a sequence has begun that has not ended.
  var isOpen: Bool { place != .outside }

  mutating func role(of byte: UInt8) -> Role {
    guard place != .outside else {
      guard byte == TerminalSequence.escape else {
        run = 0
        return .text
      }
      (place, count) = (.begun, 1)
      return .sequence
    }
    count += 1
    guard let next = TerminalSequence.next(place, byte), count <= TerminalSequence.longest else {
      (place, run) = (.outside, 0)
      return .broken
    }
    place = next
    guard next == .outside else { return .sequence }
    run += count
    guard run > TerminalSequence.longestRun else { return .end }
    run = 0
    return .barrier
  }

  /// Where a byte leads; nil where no sequence has it.
  private static func next(_ place: Place, _ byte: UInt8) -> Place? {
    switch (place, byte) {
    case (.begun, 0x5B): .parameters
    case (.begun, 0x20...0x2F), (.short, 0x20...0x2F): .short
    // Those that a text follows up to its end: a title, a link.
    case (.begun, 0x50), (.begun, 0x58), (.begun, 0x5D...0x5F): nil
    case (.begun, 0x30...0x7E), (.short, 0x30...0x7E): .outside
    case (.parameters, 0x30...0x3F): .parameters
    case (.parameters, 0x20...0x2F), (.intermediates, 0x20...0x2F): .intermediates
    case (.parameters, 0x40...0x7E), (.intermediates, 0x40...0x7E): .outside
    case (.outside, _), (.begun, _), (.short, _), (.parameters, _), (.intermediates, _): nil
    }
  }
}
