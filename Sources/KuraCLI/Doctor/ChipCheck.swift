// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Checks whether this machine's TPM is there, may be used, takes a code now, and holds against who has the machine.
struct ChipCheck {
  private static let name = "tpm"

  /// Holds what the TPM tells, or why it tells nothing.
  enum Finding: Equatable {
    case facts(ChipFacts)
    case fault(ChipFault)
  }

  let finding: Finding
  /// Whether a slot of the vault is of a TPM.
  let isNeeded: Bool

  /// Has the TPM looked at.
  ///
  /// - Returns: Nil where the agent cannot tell anything of it.
  static func check(_ connection: inout Connection, isNeeded: Bool) throws(ClientError) -> Check? {
    let finding: Finding
    do throws(ClientError) { finding = .facts(try connection.chip()) } catch {
      guard case .refused(.chipUnfit(let fault)) = error else {
        guard case .refused = error else { throw error }
        return nil
      }
      finding = .fault(fault)
    }
    return ChipCheck(finding: finding, isNeeded: isNeeded).check
  }

  var check: Check {
    switch finding {
    case .fault(let fault):
      let words = Diagnostic.chipWords(fault)
      guard isNeeded else {
        return Check(Self.name, .unknown, words.message + "; no slot of the vault needs it")
      }
      return Check(Self.name, .warn, words.message, words.hint ?? "")
    case .facts(let facts): return check(facts)
    }
  }

  private func check(_ facts: ChipFacts) -> Check {
    guard facts.isLimited else {
      return Check(
        Self.name, verdict, "the TPM does not limit how often codes are tried",
        "take codes of \(Credential.leastUnlimited) characters or more")
    }
    let count = "the TPM has counted \(facts.failures) of \(facts.mostFailures) wrong codes"
    guard facts.mayTry else {
      return Check(
        Self.name, verdict, count + "; none is tried before one is forgotten",
        "wait " + Diagnostic.wait(UInt64(facts.wait) * 1_000) + "; the passcode opens the vault")
    }
    let rest = count + ", and forgets one each " + Diagnostic.wait(UInt64(facts.interval) * 1_000)
    guard facts.hasLockoutPassword else {
      return Check(
        Self.name, verdict,
        rest + "; it has no lockout password, so who has the machine can set the count back",
        "'tpm2_changeauth -c lockout' sets one; keep it, since it cannot be read again")
    }
    return Check(Self.name, .ok, rest + "; a lockout password keeps others from setting it back")
  }

  /// How much it matters.
  private var verdict: Check.Verdict { isNeeded ? .warn : .ok }
}
