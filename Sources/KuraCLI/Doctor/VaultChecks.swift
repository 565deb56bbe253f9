// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Checks what can be told of the vault, locked or not.
struct VaultChecks {
  let weaknesses: Weaknesses
  /// What the most costly slot takes, in bytes; 0 where none derives a key.
  let neededMemory: UInt64
  /// What is left for a key derivation, in bytes; 0 when not known.
  let availableMemory: UInt64

  var all: [Check] { [cost, recovery, notes, derivation] }

  private var cost: Check {
    guard weaknesses.contains(.weakKDF) else {
      return Check("passcode-cost", .ok, "a guess at a passcode costs what policy asks for")
    }
    return Check(
      "passcode-cost", .warn, "a guess at a passcode slot costs a thief less than policy asks for",
      "unlock with that passcode, or change it by 'kura passcode'")
  }

  private var recovery: Check {
    guard weaknesses.contains(.noRecoveryKey) else {
      return Check("recovery-key", .ok, "a forgotten passcode can be replaced")
    }
    return Check(
      "recovery-key", .warn, "there is no recovery key: a forgotten passcode loses everything",
      "kura slot add recovery-key")
  }

  private var notes: Check {
    let name = "wrong-tries"
    guard weaknesses.contains(.triesNotKept) || weaknesses.contains(.seenNotKept) else {
      return Check(name, .ok, "wrong tries and the newest state are noted on this machine")
    }
    return Check(
      name, .fail, "wrong tries, or the newest state that was seen, could not be noted",
      "look after the state directory and its disk")
  }

  private var derivation: Check {
    let name = "derivation-memory"
    guard neededMemory > 0 else { return Check(name, .ok, "no slot derives a key") }
    guard availableMemory > 0 else {
      return Check(name, .unknown, "the machine does not say how much memory is left")
    }
    guard availableMemory >= neededMemory else {
      return Check(
        name, .fail,
        "unlocking takes " + sizeText(neededMemory) + " of memory, and "
          + sizeText(availableMemory) + " are left here",
        "free some memory, or raise the control group's limit")
    }
    return Check(name, .ok, "unlocking takes " + sizeText(neededMemory) + ", and more is left")
  }
}
