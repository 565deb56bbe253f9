// SPDX-License-Identifier: MIT

internal import KuraHardware
internal import KuraTerms

/// Decides what a signal says of a finger, and whether it counts at all: a value without buses.
struct FingerHearing: Sendable {
  /// fprintd's connection by its unique name, which the bus gives and nobody chooses.
  let daemon: String
  /// The reader's object.
  let device: String
  /// The number of the message that said that it waits for a finger; nil before.
  var started: UInt64?

  init(daemon: String, device: String, started: UInt64? = nil) {
    (self.daemon, self.device, self.started) = (daemon, device, started)
  }

  /// What it says; nil for nothing yet.
  func answer(in signal: Signal) -> FingerAnswer? {
    if signal.sender == Hearing.bus, signal.member == "NameOwnerChanged" { return .fault(.failed) }
    // What is sent to this program alone passes every filter; what came before is about another finger.
    guard let started, signal.serial > started, signal.sender == daemon, signal.path == device,
      signal.interface == "net.reactivated.Fprint.Device", signal.member == "VerifyStatus",
      case .status(let word, let isOver) = signal.content
    else { return nil }
    switch word {
    case "verify-match": return .match
    case "verify-no-match": return .noMatch
    case "verify-disconnected": return .fault(.unplugged)
    // So ends what a reader does not do any more, among that to be touched too often.
    case "verify-unknown-error": return .lockedOut
    default: return isOver ? .fault(.failed) : nil
    }
  }
}
