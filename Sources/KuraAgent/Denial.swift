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

  /// A message that could not be read or written.
  init(message error: ProtocolError) {
    switch error {
    case .outOfMemory: self.init(.outOfMemory)
    case .unknownVerb: self.init(.unsupported, text: .words("verb"))
    case .fieldTooLong(let limit): self.init(.tooLarge, UInt64(limit))
    default: self.init(.malformed)
    }
  }
}
