// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Checks whether a security key is plugged in that this user may use, and what it asks for.
struct KeyCheck {
  private static let name = "security-key"
  /// So few PINs that are left are worth a word.
  private static let fewPINs = 4

  /// Holds what a key tells, or why none does.
  enum Finding: Equatable {
    case facts(SecurityKeyFacts)
    case fault(ChipFault)
  }

  let finding: Finding
  /// Whether a slot of the vault is of a security key.
  let isNeeded: Bool

  /// Has the key of a slot looked at, or for none the one that is plugged in; it does not blink.
  ///
  /// - Returns: Nil where the agent cannot tell anything of it.
  static func check(_ connection: inout Connection, isNeeded: Bool) throws(ClientError) -> Check? {
    let finding: Finding
    do throws(ClientError) {
      finding = .facts(try connection.securityKey(forNew: !isNeeded))
    } catch {
      guard case .refused(.chipUnfit(let fault)) = error else {
        guard case .refused = error else { throw error }
        return nil
      }
      finding = .fault(fault)
    }
    return KeyCheck(finding: finding, isNeeded: isNeeded).check
  }

  var check: Check {
    switch finding {
    case .facts(let facts): return check(facts)
    case .fault(let fault):
      let words = Diagnostic.chipWords(fault)
      // One that is not plugged in now is no fault.
      let isAway = fault.kind == .noKey || fault.kind == .otherKey
      guard isNeeded || fault.kind == .keyDenied, !isAway else {
        return Check(
          Self.name, .unknown, words.message + (isNeeded ? "" : "; no slot of the vault needs it"))
      }
      return Check(Self.name, .warn, words.message, words.hint ?? "")
    }
  }

  private func check(_ facts: SecurityKeyFacts) -> Check {
    let found = isNeeded ? "the security key of a slot is" : "a security key is"
    guard facts.takesPIN else {
      return Check(
        Self.name, .ok,
        found + " plugged in, and "
          + (facts.verifies
            ? "makes sure by itself who touches it"
            : "needs nothing but a touch: so does its thief"))
    }
    let count =
      found + " plugged in, and takes a PIN, of which it takes \(facts.pinTries) wrong ones yet"
    guard facts.pinTries < Self.fewPINs else { return Check(Self.name, .ok, count) }
    return Check(
      Self.name, .warn, count, "the right one sets the count back: 'kura unlock --fido2'")
  }
}
