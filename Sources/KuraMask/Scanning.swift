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
      guard bare == nil, start > seen, start >= 0,
        set.nodes.depth(of: state) < Masker.filtered
      else {
        step(set)
        continue
      }
      (state, seen) = (NeedleNodes.root, set.beginning(in: window.bytes, from: start))
      scanned = seen
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
  /// Where in a text the first form may begin, or what has an escape within its first bytes. Every third window of four
  /// bytes is looked at: each form has one of them wholly within its first six bytes.
  func beginning(in text: Span<UInt8>, from start: Int) -> Int {
    let bits = beginnings.bytes
    var index = start
    while index &+ 3 < text.count {
      let window = NeedleSet.window(text, at: index)
      let number = NeedleSet.bit(of: window)
      let isSeen = bits[number >> 3] >> UInt8(truncatingIfNeeded: number & 7) & 1 != 0
      if isSeen || NeedleSet.hasEscape(window) { break }
      index &+= NeedleSet.windowStep
    }
    return max(start, index &- (NeedleSet.windowStep &- 1))
  }

  /// Whether one of four bytes is an escape: the test of Mycroft for a byte of zeros.
  @inline(__always)
  private static func hasEscape(_ window: UInt32) -> Bool {
    let others = window ^ (UInt32(TerminalSequence.escape) &* 0x0101_0101)
    return (others &- 0x0101_0101) & ~others & 0x8080_8080 != 0
  }
}
