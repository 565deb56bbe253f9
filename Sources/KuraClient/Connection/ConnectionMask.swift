// SPDX-License-Identifier: MIT

public import KuraProtocol

extension Connection {
  /// How long the rest of a frame may take that has begun, in ms: an agent sends it whole.
  private static let patienceWithin: Int32 = 1_000

  /// Asks to be told of each value that the programs below this process are handed, before they are: ``watched`` has
  /// something to read when there is one, and when the agent ends. The connection takes no other request any more.
  ///
  /// - Throws: ``ClientError/refused(_:)`` with `Failure.unsupported` by an agent that tells nobody, or does not see
  ///   this process; with `Failure.tooBusy` where too many are told.
  public mutating func beginMask() throws(ClientError) {
    try send(.mask)
    let frame = try channel.next(patience: patience.answer)
    if frame.type == .reply { try accept(frame) }
    guard frame.type == .progress else { throw .broken(.frameType(frame.type.rawValue)) }
  }

  /// Whether there is a value that was not read yet, or the agent has ended the conversation.
  public var hasNeedle: Bool { hasNews }

  /// Reads of a value, which is handed out only after ``say(_:)-(NeedleWord)`` has said that it is found.
  ///
  /// - Returns: Which one.
  public mutating func nextNeedle(
    _ body: (borrowing Needle) throws(ClientError) -> Void
  ) throws(ClientError) -> UInt64 {
    let frame = try channel.next(patience: Self.patienceWithin)
    guard frame.type == .data else { throw .broken(.frameType(frame.type.rawValue)) }
    let payload = received.extracting(frame.payload)
    let needle: Needle
    do throws(ProtocolError) { needle = try Needle(payload) } catch { throw .broken(error) }
    try body(needle)
    return needle.number
  }

  /// Says whether a value will be found.
  public mutating func say(_ word: NeedleWord) throws(ClientError) {
    try channel.send { output throws(ProtocolError) in try output.putNeedleWord(word) }
  }
}
