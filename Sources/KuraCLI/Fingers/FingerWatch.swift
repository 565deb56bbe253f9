// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Takes a finger in the place of what a question asks for, while it stands.
struct FingerWatch: ~Copyable, PromptWatch {
  private var connection: Connection
  private var isWaiting = false
  /// Whether a finger has answered the question.
  private(set) var hasMatched = false
  /// What is to be told of the last one.
  private var heard: String?

  init(_ connection: consuming Connection) { self.connection = connection }

  var descriptor: Int32 { isWaiting ? connection.watched : -1 }
  let isOver = false

  /// Has one asked for, and says so in the question, or else why none is taken though its owner wants that.
  mutating func offer(in question: inout Question, _ messages: Messages) {
    let (wrong, fault) = begin()
    if isWaiting { question.label = "finger or " + question.label }
    for words in wrong { messages.note(words) }
    if let fault, fault != .off { messages.note("no finger is taken: " + fault.text) }
  }

  /// Has one asked for, and another one after each that was there at once and did not match: the answer came with the
  /// word that the reader waits, and nothing more is heard of it.
  ///
  /// - Returns: What is said of those, and why none is taken, where an agent that knows of fingers says so.
  private mutating func begin() -> (wrong: [String], fault: FingerFault?) {
    var wrong: [String] = []
    while true {
      do throws(ClientError) {
        hasMatched = try connection.beginFinger()
        isWaiting = !hasMatched
        return (wrong, nil)
      } catch {
        guard case .refused(.fingerWrong(let left)) = error else {
          return (wrong, FingerWords.fault(error))
        }
        wrong.append(FingerWords.wrong(left: left))
        if left == 0 { return (wrong, nil) }
      }
    }
  }

  /// One that did not match may be followed by another; the question stands all the same.
  mutating func stands() -> Bool {
    isWaiting = false
    do throws(ClientError) {
      try connection.endFinger()
      hasMatched = true
      return false
    } catch {
      var fault = FingerWords.fault(error)
      var words: [String] = []
      if case .refused(.fingerWrong(let left)) = error {
        words.append(FingerWords.wrong(left: left))
        if left > 0 {
          let next = begin()
          words += next.wrong
          fault = next.fault
        }
      }
      if let fault { words.append(FingerWords.noMore(fault.text)) }
      if LockFacts(error) != nil { words.append(FingerWords.noMore("the vault was locked")) }
      heard = words.isEmpty ? nil : words.joined(separator: " ")
      return !hasMatched
    }
  }

  mutating func news() -> String? {
    defer { heard = nil }
    return heard
  }

  mutating func noteKey() {}
  mutating func stepAside() {}
  mutating func comeBack() -> Bool { true }
}
