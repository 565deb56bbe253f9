// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Checks whether a finger would be taken now: that is wanted by a setting, and takes fprintd and a reader that knows one.
struct FingerCheck {
  private static let name = "finger"

  /// Says what the agent told.
  enum Finding: Equatable {
    /// A reader waited for one.
    case waited
    case fault(FingerFault)
    /// The vault is locked, where no finger counts.
    case locked
  }

  let finding: Finding

  /// Has a finger asked for, for a moment.
  ///
  /// - Returns: Nil where the agent cannot tell anything of it.
  static func check(by connection: consuming Connection) throws(ClientError) -> Check? {
    let finding: Finding
    do throws(ClientError) {
      _ = try connection.beginFinger()
      finding = .waited
    } catch {
      if let fault = FingerWords.fault(error) {
        finding = .fault(fault)
      } else {
        guard LockFacts(error) != nil else {
          guard case .refused = error else { throw error }
          return nil
        }
        finding = .locked
      }
    }
    return FingerCheck(finding: finding).check
  }

  var check: Check {
    switch finding {
    case .waited:
      Check(
        Self.name, .ok,
        "a reader of this machine knows a finger of yours, which does for 'kura authenticate'")
    case .locked:
      Check(
        Self.name, .unknown, "the vault is locked: no finger counts, and no reader was looked at")
    case .fault(.off):
      Check(
        Self.name, .ok,
        "the setting fingerprint is off: no finger counts, and no reader was looked at")
    case .fault(let fault):
      Check(
        Self.name, .warn, "the setting fingerprint is on, and no finger is taken: " + fault.text,
        Diagnostic.fingerUnfitWords(fault).hint ?? "")
    }
  }
}
