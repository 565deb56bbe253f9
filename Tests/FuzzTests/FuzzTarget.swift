// SPDX-License-Identifier: MIT

/// A reader of what others wrote, as `FuzzTests` and libFuzzer (`Fuzzer.swift`) feed it.
///
/// That an input is refused is right. Wrong is a trap, and an input that is taken for something that
/// it is not: what a target holds against what was read is its second half.
struct FuzzTarget: Sendable {
  /// A word, for the command line and the corpus.
  let name: String
  /// Inputs that must be taken; others are made from them.
  let seeds: [[UInt8]]
  /// Bytes that mean something to the reader.
  var words: [[UInt8]] = []
  /// Reads an input; whether it was taken.
  let read: @Sendable ([UInt8]) throws(Flaw) -> Bool

  static let all =
    FormatTargets.all + CopyTargets.all + RemoteTargets.all + StateTargets.all + LogTargets.all
    + ProtocolTargets.all
    + ClientTargets.all + ScreenTargets.all + ImportTargets.all
}

/// What was read is not what was written, or not what another reader makes of it.
struct Flaw: Error, Equatable {
  let text: String
}

/// Whether a body takes its input: what it throws is a refusal, but for a ``Flaw``.
func isTaken(_ body: () throws -> Void) throws(Flaw) -> Bool {
  do {
    try body()
    return true
  } catch let flaw as Flaw {
    throw flaw
  } catch {
    return false
  }
}

/// Complains unless something holds.
func hold(_ condition: Bool, _ text: @autoclosure () -> String) throws(Flaw) {
  guard condition else { throw Flaw(text: text()) }
}

/// A copy of bytes.
func copy(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

/// The bytes of texts.
func bytes(_ texts: String...) -> [[UInt8]] { texts.map { Array($0.utf8) } }

/// An integer's bytes, least significant first.
func little<Integer: FixedWidthInteger>(_ integer: Integer) -> [UInt8] {
  (0..<(Integer.bitWidth / 8)).map { UInt8(truncatingIfNeeded: integer >> Integer(8 * $0)) }
}
