// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Refusal {
  /// Whether to serve the request again, a little later, before it is refused.
  var isWorthAnotherTry: Bool { self == .busy || self == .compacting }

  /// The same; where the key and the vault that it took are gone, serving it again cannot succeed.
  func final(when isFinal: Bool) -> Refusal {
    isFinal && isWorthAnotherTry ? .tooBusy : self
  }

  /// A message that could not be read or written.
  init(message error: ProtocolError) {
    switch error {
    case .outOfMemory: self = .outOfMemory
    case .unknownVerb: self = .unsupported(.text("verb"))
    case .fieldTooLong(let limit): self = .tooLarge(limit: UInt64(limit))
    case .frameLength, .frameType, .truncated, .trailingBytes, .notKura, .fieldValue:
      self = .malformed
    }
  }
}
