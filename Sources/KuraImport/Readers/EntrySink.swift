// SPDX-License-Identifier: MIT

/// Takes what a reader finds, and hands it on in the form of the answer.
struct EntrySink {
  /// The most bytes of an answer that wait to be handed on.
  private static let most = 65_536

  private var writer = AnswerWriter()
  private let hand: ([UInt8]) -> Void
  private(set) var count = 0

  /// - Parameter hand: Gets the bytes of the answer, part by part.
  init(_ hand: @escaping ([UInt8]) -> Void) { self.hand = hand }

  /// Takes an entry.
  mutating func take(_ entry: SourceEntry) throws(ReadingFlaw) {
    guard count < AnswerReader.mostEntries else { throw ReadingFlaw(.tooManyEntries) }
    count += 1
    writer.put(entry)
    if writer.bytes.count > Self.most { flush() }
  }

  /// Takes what is not taken of the whole source.
  mutating func take(_ remark: Remark) { writer.put(remark) }

  /// Ends the answer.
  mutating func end() {
    writer.putEnd()
    flush()
  }

  /// Ends the answer with why there is none.
  mutating func fail(_ flaw: ReadingFlaw) {
    writer.put(flaw)
    flush()
  }

  private mutating func flush() {
    hand(writer.bytes)
    writer.removeAll()
  }
}
