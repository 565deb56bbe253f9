// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Turns what a terminal sends into keys, byte by byte, and keeps nothing of it.
struct KeyReader {
  /// Says what a sequence is in the middle of.
  private enum State {
    case ground
    case escape
    /// Behind `ESC [` or `ESC O`: the parameters so far, and the one that is being read.
    case control(isMouse: Bool, first: [Int], number: Int)
    /// So many bytes of a character are still to come.
    case character(UInt32, left: Int)
    /// A mouse report of X10: three bytes.
    case oldMouse([UInt8])
  }

  private var state = State.ground

  /// Whether a lone Escape is waited for: a moment later, ``finish()`` tells.
  var isWaiting: Bool {
    switch state {
    case .ground: false
    case .escape, .control, .character, .oldMouse: true
    }
  }

  /// Takes the next byte; nil where more must come.
  mutating func take(_ byte: UInt8) -> Key? {
    let before = state
    state = .ground
    switch before {
    case .ground: return ground(byte)
    case .escape: return escape(byte)
    case .control(let isMouse, let first, let number):
      return control(byte, isMouse, first, number)
    case .character(let value, let left): return character(byte, value, left)
    case .oldMouse(let bytes): return oldMouse(bytes + [byte])
    }
  }

  /// Ends a sequence that nothing more came of.
  mutating func finish() -> Key? {
    defer { state = .ground }
    if case .escape = state { return .escape }
    return nil
  }

  private mutating func ground(_ byte: UInt8) -> Key? {
    switch byte {
    case 0x1B:
      state = .escape
      return nil
    case 0x0D, 0x0A: return .enter
    case 0x09: return .tab
    case 0x08, 0x7F: return .backspace
    case 0x00: return nil
    case 0x01..<0x20: return .control(Unicode.Scalar(byte + 0x40))
    case 0x20..<0x80: return .character(Unicode.Scalar(byte))
    case 0xC2..<0xE0: state = .character(UInt32(byte & 0x1F), left: 1)
    case 0xE0..<0xF0: state = .character(UInt32(byte & 0x0F), left: 2)
    case 0xF0..<0xF5: state = .character(UInt32(byte & 0x07), left: 3)
    default: break
    }
    return nil
  }

  private mutating func character(_ byte: UInt8, _ value: UInt32, _ left: Int) -> Key? {
    guard byte & 0xC0 == 0x80 else { return ground(byte) }
    let value = value << 6 | UInt32(byte & 0x3F)
    guard left == 1 else {
      state = .character(value, left: left - 1)
      return nil
    }
    // What a terminal sends as C1 controls is no text.
    guard value >= 0xA0, let scalar = Unicode.Scalar(value) else { return nil }
    return .character(scalar)
  }

  private mutating func escape(_ byte: UInt8) -> Key? {
    switch byte {
    case UInt8(ascii: "["), UInt8(ascii: "O"):
      state = .control(isMouse: false, first: [], number: 0)
      return nil
    case 0x1B:
      state = .escape
      return .escape
    default: return ground(byte)
    }
  }

  private mutating func control(
    _ byte: UInt8, _ isMouse: Bool, _ first: [Int], _ number: Int
  ) -> Key? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"):
      let next = min(number * 10 + Int(byte - UInt8(ascii: "0")), 99_999)
      state = .control(isMouse: isMouse, first: first, number: next)
    case UInt8(ascii: ";"):
      state = .control(isMouse: isMouse, first: Array((first + [number]).suffix(4)), number: 0)
    case UInt8(ascii: "<"): state = .control(isMouse: true, first: [], number: 0)
    case UInt8(ascii: "M") where !isMouse && first.isEmpty && number == 0: state = .oldMouse([])
    case 0x40...0x7E:
      let numbers = first + [number]
      return isMouse
        ? Self.mouse(numbers, isPress: byte == UInt8(ascii: "M")) : Self.named(byte, numbers)
    case 0x1B: state = .escape
    default: state = .control(isMouse: isMouse, first: first, number: number)
    }
    return nil
  }

  private static func named(_ final: UInt8, _ numbers: [Int]) -> Key? {
    switch final {
    case UInt8(ascii: "A"): .up
    case UInt8(ascii: "B"): .down
    case UInt8(ascii: "C"): .right
    case UInt8(ascii: "D"): .left
    case UInt8(ascii: "H"): .home
    case UInt8(ascii: "F"): .end
    case UInt8(ascii: "M"): .enter
    case UInt8(ascii: "~"):
      [1: .home, 7: .home, 3: .delete, 4: .end, 8: .end, 5: .pageUp, 6: .pageDown][numbers[0]]
    default: nil
    }
  }

  private static func mouse(_ numbers: [Int], isPress: Bool) -> Key? {
    guard numbers.count == 3, isPress, numbers[1] > 0, numbers[2] > 0 else { return nil }
    switch numbers[0] {
    case 0: return .click(row: numbers[2] - 1, column: numbers[1] - 1)
    case 64: return .wheelUp
    case 65: return .wheelDown
    default: return nil
    }
  }

  private mutating func oldMouse(_ bytes: [UInt8]) -> Key? {
    guard bytes.count == 3 else {
      state = .oldMouse(bytes)
      return nil
    }
    let numbers = bytes.map { Int($0) - 32 }
    return Self.mouse([numbers[0], numbers[1], numbers[2]], isPress: numbers[0] != 3)
  }
}
