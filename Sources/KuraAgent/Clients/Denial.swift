// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Why a request is not served: a failure of the protocol and what belongs to it.
struct Denial: Error, Equatable {
  /// What the refusal names.
  enum Text: Equatable {
    case none
    /// A path, or words of our own.
    case words(String)
    /// Bytes of the request, so that an item's name is not copied out of guarded memory.
    case field(Range<Int>)
  }

  let failure: Failure
  var detail: UInt64 = 0
  var detail2: UInt64 = 0
  var detail3: UInt64 = 0
  var text = Text.none
  /// Whether what the request takes is used up, so that serving it again cannot succeed.
  var isFinal = false

  /// Whether to serve the request again, a little later, before it is refused.
  var isWorthAnotherTry: Bool { failure == .busy && !isFinal }

  init(
    _ failure: Failure, _ detail: UInt64 = 0, _ detail2: UInt64 = 0, _ detail3: UInt64 = 0,
    text: Text = .none
  ) {
    self.failure = failure
    self.detail = detail
    self.detail2 = detail2
    self.detail3 = detail3
    self.text = text
  }

  /// The same; final when the key and the vault that it took are gone.
  func final(when isFinal: Bool) -> Denial {
    var denial = self
    denial.isFinal = isFinal
    return denial
  }

  /// A message that could not be read or written.
  init(message error: ProtocolError) {
    switch error {
    case .outOfMemory: self.init(.outOfMemory)
    case .unknownVerb: self.init(.unsupported, text: .words("verb"))
    case .fieldTooLong(let limit): self.init(.tooLarge, UInt64(limit))
    case .frameLength, .frameType, .truncated, .trailingBytes, .notKura, .fieldValue:
      self.init(.malformed)
    }
  }
}
