// SPDX-License-Identifier: MIT

package import KuraTerms

/// Names what who asks for a finger tells the agent, a byte each: ``ready``, and then how it ended.
package enum FingerAnswer: Equatable, Sendable {
  /// The reader waits for a finger.
  case ready
  /// The finger is one of this user's.
  case match
  /// It is none of them.
  case noMatch
  /// The reader takes no more fingers.
  case lockedOut
  /// There was no finger, for a reason that the agent could not know.
  case fault(FingerFault)

  private static let faults: UInt8 = 0x80

  /// Reads it, as a stranger's; nil for what nobody says.
  package init?(byte: UInt8) {
    switch byte {
    case 1: self = .ready
    case 2: self = .match
    case 3: self = .noMatch
    case 4: self = .lockedOut
    default:
      guard byte >= Self.faults, let fault = FingerFault(rawValue: byte - Self.faults),
        fault != .off, fault != .spent, fault != .noProgram
      else { return nil }
      self = .fault(fault)
    }
  }

  /// It as a byte.
  package var byte: UInt8 {
    switch self {
    case .ready: 1
    case .match: 2
    case .noMatch: 3
    case .lockedOut: 4
    case .fault(let fault): Self.faults + fault.rawValue
    }
  }
}
