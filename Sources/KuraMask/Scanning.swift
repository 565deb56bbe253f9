// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Follows a text without the terminal's sequences in it.
struct BareText {
  /// What the text ends with.
  var state: UInt32
  var sequence = TerminalSequence()
}

extension Masker {
  /// Shorter beginnings are found by the filter again.
  private static let filtered = 4

  /// Looks at what was not looked at yet.
  mutating func scan(_ set: borrowing NeedleSet) {
    // Where the filter saw something last: it would see it again.
    var seen = -1
    while scanned < window.count {
      let start = scanned - set.nodes.depth(of: state)
      guard bare == nil, set.nodes.depth(of: state) < Masker.filtered, start > seen, start >= 0
      else {
        step(set)
        continue
      }
      let found = set.beginning(in: window.bytes, from: start)
      state = NeedleNodes.root
      seen = found
      let isSeen = found < window.count && window.bytes[found] != TerminalSequence.escape
      scanned = isSeen ? found : max(start, found - Masker.filtered + 1)
      while scanned < found { step(set) }
    }
  }

  private mutating func step(_ set: borrowing NeedleSet) {
    let byte = window.bytes[scanned]
    if byte == TerminalSequence.escape, bare == nil { bare = BareText(state: state) }
    scanned += 1
    state = set.nodes.step(from: state, byte)
    let match = set.nodes.match(at: state)
    if match > 0 {
      let range = max(0, scanned - match)..<scanned
      solid.append(range)
      add(range, set.nodes.owner(at: state))
    }
    stepBare(byte, set)
  }

  private mutating func stepBare(_ byte: UInt8, _ set: borrowing NeedleSet) {
    guard var text = bare.take() else { return }
    switch text.sequence.role(of: byte) {
    case .text: stepBare(byte, &text, set)
    case .sequence, .end: grow()
    case .barrier:
      grow()
      text.state = NeedleNodes.root
    case .broken:
      text.state = NeedleNodes.root
      return again(byte, text, set)
    }
    // Where both views are the same again, one is enough.
    let start = scanned - set.nodes.depth(of: state)
    let isApart =
      text.sequence.isOpen || text.state != state || (gaps.last?.upperBound ?? 0) > start
    bare = isApart ? text : nil
  }

  /// Looks at a byte once more behind what was no sequence.
  private mutating func again(_ byte: UInt8, _ text: BareText, _ set: borrowing NeedleSet) {
    bare = text
    stepBare(byte, set)
  }

  private mutating func stepBare(
    _ byte: UInt8, _ text: inout BareText, _ set: borrowing NeedleSet
  ) {
    text.state = set.nodes.step(from: text.state, byte)
    let match = set.nodes.match(at: text.state)
    guard match > 0 else { return }
    add(max(0, start(ofLast: match))..<scanned, set.nodes.owner(at: text.state))
  }

  /// Notes that the last byte is a part of a sequence.
  private mutating func grow() {
    if let last = gaps.last, last.upperBound == scanned - 1 {
      gaps[gaps.count - 1] = last.lowerBound..<scanned
    } else {
      gaps.append((scanned - 1)..<scanned)
    }
  }

  /// Where the last so many bytes of the text without sequences begin; below 0 for what was let go.
  func start(ofLast count: Int) -> Int {
    var (left, place) = (count, scanned)
    for gap in gaps.reversed() {
      let text = place - gap.upperBound
      guard left > text else { break }
      left -= text
      place = gap.lowerBound
    }
    return place - left
  }
}

extension NeedleSet {
  /// Where in a text a form may begin, or an escape stands.
  ///
  /// - Returns: The end of the text where neither is.
  func beginning(in text: Span<UInt8>, from start: Int) -> Int {
    let bits = beginnings.bytes
    var window: UInt32 = 0
    var index = start
    let full = min(text.count, start + 3)
    while index < full {
      let byte = text[index]
      if byte == TerminalSequence.escape { return index }
      window = window << 8 | UInt32(byte)
      index += 1
    }
    while index < text.count {
      let byte = text[index]
      window = window << 8 | UInt32(byte)
      let number = NeedleSet.bit(of: window)
      if bits[number >> 3] >> UInt8(truncatingIfNeeded: number & 7) & 1 != 0 { return index - 3 }
      if byte == TerminalSequence.escape { return index }
      index &+= 1
    }
    return text.count
  }
}
