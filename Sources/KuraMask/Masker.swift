// SPDX-License-Identifier: MIT

public import SecureMemory

/// Takes what a ``Masker`` lets go of.
public protocol MaskedOutput: ~Copyable {
  /// Takes text that is none of a value.
  mutating func show(_ text: Span<UInt8>) throws(SecureMemoryError)
  /// Takes the name of a value that stands here, and how it stands here.
  mutating func hide(_ name: Span<UInt8>, _ value: Span<UInt8>) throws(SecureMemoryError)
}

/// Has names in the place of values.
public struct MaskedText: ~Copyable, MaskedOutput {
  /// What may be shown.
  public var bytes: SecretBuffer

  /// Nothing yet.
  ///
  /// - Throws: ``SecureMemoryError``.
  public init() throws(SecureMemoryError) { bytes = try SecretBuffer(capacity: 1 << 16) }

  /// Appends it.
  public mutating func show(_ text: Span<UInt8>) throws(SecureMemoryError) {
    try bytes.append(text)
  }

  /// Appends `[kura: NAME]`.
  public mutating func hide(
    _ name: Span<UInt8>, _ value: Span<UInt8>
  ) throws(SecureMemoryError) {
    try bytes.append("[kura: ")
    try bytes.append(name)
    try bytes.append(0x5D)
  }
}

/// Finds in a stream what a ``NeedleSet`` looks for, wherever writes cut it, and lets the rest through.
///
/// It holds back no more than the longest beginning of a form, and lets go of it as soon as it can be none. A value
/// with sequences of a terminal within is found, too; they stay, behind what stands in its place.
public struct Masker: ~Copyable {
  /// A beginning of so many bytes that a stream ends with is masked.
  private static let mostAtEnd = NeedleForms.shortest - 1

  /// What was not let go yet, and what is looked at.
  var window: SecretBuffer
  /// How far of it was looked at.
  var scanned = 0
  /// What the window ends with, as far as it was looked at.
  var state = NeedleNodes.root
  /// The same without a terminal's sequences, where those made a difference.
  var bare: BareText?
  /// What is to be masked, ascending and apart.
  private var finds: [Find] = []
  /// Where the terminal's sequences stand, ascending.
  var gaps: [Range<Int>] = []
  /// Where all bytes are a value's, those of sequences, too.
  var solid: [Range<Int>] = []

  /// Says where in the window something stands that is to be masked.
  struct Find {
    var range: Range<Int>
    var owner: UInt32
  }

  /// Nothing was written yet.
  ///
  /// - Throws: ``SecureMemoryError``.
  public init() throws(SecureMemoryError) { window = try SecretBuffer(capacity: 1 << 16) }

  /// Whether something is held back.
  public var holds: Bool { window.count > 0 }

  /// Takes what a program wrote.
  ///
  /// - Parameters:
  ///   - text: The bytes.
  ///   - set: The same from the first call on, with more values or not: each is found from the next byte on.
  ///   - output: What may be shown is appended.
  /// - Throws: ``SecureMemoryError``.
  public mutating func write<Output: MaskedOutput & ~Copyable>(
    _ text: Span<UInt8>, _ set: borrowing NeedleSet, to output: inout Output
  ) throws(SecureMemoryError) {
    try window.append(text)
    scan(set)
    try letGo(below: candidate(set), set, to: &output)
  }

  /// Ends the stream: a beginning of 6 bytes or more is masked, a shorter one shown.
  ///
  /// - Parameters:
  ///   - set: That of the last write.
  ///   - isWhole: Whether only whole values count.
  ///   - output: Takes the rest.
  /// - Throws: ``SecureMemoryError``.
  public mutating func finish<Output: MaskedOutput & ~Copyable>(
    _ set: borrowing NeedleSet, onlyWhole isWhole: Bool = false, to output: inout Output
  ) throws(SecureMemoryError) {
    if !isWhole { noteBeginnings(set) }
    try letGo(below: window.count, set, to: &output)
    (state, bare) = (NeedleNodes.root, nil)
    (gaps, solid) = ([], [])
  }

  private mutating func noteBeginnings(_ set: borrowing NeedleSet) {
    let end = window.count
    if set.nodes.depth(of: state) > Masker.mostAtEnd {
      solid.append(max(0, end - set.nodes.depth(of: state))..<end)
      add((end - set.nodes.depth(of: state))..<end, set.nodes.origin(at: state))
    }
    if let bare, set.nodes.depth(of: bare.state) > Masker.mostAtEnd {
      add(
        start(ofLast: set.nodes.depth(of: bare.state))..<end, set.nodes.origin(at: bare.state))
    }
  }

  /// Shows a beginning of less than 6 bytes, which may be a question that waits for an answer; should it become a
  /// value, the rest of it is masked.
  ///
  /// - Throws: ``SecureMemoryError``.
  public mutating func release<Output: MaskedOutput & ~Copyable>(
    _ set: borrowing NeedleSet, to output: inout Output
  ) throws(SecureMemoryError) {
    let most = max(
      set.nodes.depth(of: state), bare.map { set.nodes.depth(of: $0.state) } ?? 0)
    guard most <= Masker.mostAtEnd else { return }
    try letGo(below: window.count, set, to: &output)
  }

  // MARK: - Finding

  /// Notes what is to be masked, together with what it overlaps.
  mutating func add(_ range: Range<Int>, _ owner: UInt32) {
    var find = Find(range: max(0, range.lowerBound)..<range.upperBound, owner: owner)
    while let last = finds.last, last.range.upperBound > find.range.lowerBound {
      if last.range.lowerBound < find.range.lowerBound { find.owner = last.owner }
      find.range =
        min(
          last.range.lowerBound, find.range.lowerBound)..<max(
          last.range.upperBound, find.range.upperBound)
      finds.removeLast()
    }
    finds.append(find)
  }

  /// Where what may become a value begins.
  private func candidate(_ set: borrowing NeedleSet) -> Int {
    let raw = window.count - set.nodes.depth(of: state)
    guard let bare else { return raw }
    return min(raw, start(ofLast: set.nodes.depth(of: bare.state)))
  }

  // MARK: - Letting go

  private mutating func letGo<Output: MaskedOutput & ~Copyable>(
    below bound: Int, _ set: borrowing NeedleSet, to output: inout Output
  ) throws(SecureMemoryError) {
    var (bound, next, shown) = (bound, 0, 0)
    while next < finds.count, finds[next].range.lowerBound < bound {
      let find = finds[next]
      // What begins within may make it longer.
      guard find.range.upperBound <= bound else {
        bound = find.range.lowerBound
        break
      }
      try output.show(window.bytes.extracting(shown..<find.range.lowerBound))
      try output.hide(
        set.name(find.owner), window.bytes.extracting(find.range))
      try keepSequences(in: find.range, &output)
      shown = find.range.upperBound
      next += 1
    }
    try output.show(window.bytes.extracting(shown..<max(shown, bound)))
    drop(max(shown, bound), finds: next)
  }

  /// Shows the sequences that stand in a value, and are no part of it.
  private func keepSequences<Output: MaskedOutput & ~Copyable>(
    in range: Range<Int>, _ output: inout Output
  ) throws(SecureMemoryError) {
    for gap in gaps where gap.overlaps(range) {
      for index in gap.clamped(to: range) where !solid.contains(where: { $0.contains(index) }) {
        try output.show(window.bytes.extracting(index..<(index + 1)))
      }
    }
  }

  private mutating func drop(_ count: Int, finds dropped: Int) {
    finds.removeFirst(dropped)
    for index in finds.indices {
      let range = finds[index].range
      finds[index].range = (range.lowerBound - count)..<(range.upperBound - count)
    }
    gaps = Masker.dropping(count, of: gaps)
    solid = Masker.dropping(count, of: solid)
    window.removeFirst(count)
    scanned -= count
  }

  private static func dropping(_ count: Int, of ranges: [Range<Int>]) -> [Range<Int>] {
    ranges.filter { $0.upperBound > count }
      .map { max(0, $0.lowerBound - count)..<($0.upperBound - count) }
  }
}
