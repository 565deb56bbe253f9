// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Diagnostic {
  /// Why a security key did not do what a slot needs.
  static func keyWords(_ fault: ChipFault) -> Words {
    switch fault.kind {
    case .noKey: ("no security key is plugged in", "plug it in, or " + otherWay)
    case .keyDenied:
      (
        "you may not use the security key at /dev/hidraw\(fault.number)",
        "systemd's udev gives it to who is logged in at this machine; an administrator does to a group, by a "
          + "rule: ENV{ID_SECURITY_TOKEN}==\"1\", GROUP=\"plugdev\", MODE=\"0660\""
      )
    case .otherKey:
      ("no security key that is plugged in is the slot's", "plug that one in, or " + otherWay)
    case .severalKeys:
      ("more than one security key is plugged in", "leave the one plugged in that is meant")
    case .noSecrets:
      (
        "this security key keeps no secrets for a slot: it has no hmac-secret",
        "take another key"
      )
    case .pinNeeded:
      ("the security key wants its PIN", "'kura unlock --fido2' asks for it at a terminal")
    case .noPIN:
      ("the security key wants a PIN, or was given one, and has none", "give it one first")
    case .wrongPIN: wrongPINWords(fault.number)
    case .lastPIN where fault.number == 0:
      (
        "the security key takes no PIN any more",
        "it has to be set back, which ends the slot; " + otherWay
      )
    case .lastPIN:
      (
        "the security key takes one more PIN, which is not spent here; none was tried",
        "use the key elsewhere with the right PIN first, or " + otherWay
      )
    case .pinPaused:
      ("the security key takes no PIN before it was unplugged", "plug it in again")
    case .untouched: keyUntouchedWords
    case .declined: ("the security key was told no", "try again, or " + otherWay)
    case .unverified:
      ("the security key did not know who touched it", "try again, or " + otherWay)
    case .otherManner:
      (
        "the security key verifies who uses it in another manner than when the slot was made",
        otherWay + "; 'kura slot add fido2' makes another slot"
      )
    case .keyGone: ("the security key was unplugged", "plug it in, and try again")
    case .noProgram, .programFailed, .noChip, .denied, .busy, .other, .wrong, .lockedOut, .owned,
      .unlimited, .failed, .keyFailed:
      (
        "the security key failed, with number \(Int32(bitPattern: fault.number)) of libfido2",
        "try again, or " + otherWay
      )
    }
  }

  /// What a wrong PIN has cost.
  static func wrongPINWords(_ left: UInt32) -> Words {
    (
      "wrong PIN; the security key takes \(left) more",
      left > 1 ? nil : "the last one is not tried here: " + otherWay
    )
  }

  static var keyUntouchedWords: Words {
    ("nobody touched the security key in time", "try again, and touch it when it blinks")
  }

  /// What a thief can do with a slot of a security key, said apart.
  static func thiefWords(_ facts: SecurityKeyFacts) -> [String] {
    let need =
      facts.takesPIN
      ? "its PIN, of which it takes \(facts.pinTries) wrong ones"
      : facts.verifies ? "to be known to it" : "nothing else: it has no PIN"
    return [
      "a stolen disk holds nothing to guess at",
      "who has the security key, too, needs " + need,
    ]
  }
}
