// SPDX-License-Identifier: MIT

internal import KuraProtocol

extension Notice {
  /// The sentences for people, most important first.
  ///
  /// - Parameter kind: What unlocked the vault. What a passcode is worth is told only to who has it.
  static func texts(_ notices: Notice, after kind: Credential) -> [String] {
    var notices = kind == .passcode ? notices : notices.subtracting(.weakSlot)
    // The older copy was noticed, by a note that only the newer one can prove.
    if notices.contains(.rollbackAccepted) { notices.subtract([.seenDamaged, .seenGone]) }
    let table: [(Notice, String)] = [
      (
        .seenDamaged,
        "the note of the newest state was damaged: an older copy could not have been noticed"
      ),
      (
        .seenGone, "the note of the newest state is gone: an older copy could not have been noticed"
      ),
      (.triesFailed, "wrong passcodes were tried since the last unlock"),
      (.rollbackAccepted, "an older copy of the vault was accepted; it counts as the newest now"),
      (
        .settingsLoosened,
        "settings are looser now, as they were made on another copy: 'kura config' lists them"
      ),
      (.exchangeAccepted, "another vault stood here before; this one is expected here from now on"),
      (
        .moved,
        "this vault was at another path before; if it was not you who moved or copied it, find out who"
      ),
      (.weakSlot, "this passcode is cheap to guess, as was asked for when it was set"),
      (.slotStrengthened, "the passcode is now as expensive to guess as policy asks for"),
      (.firstSeen, "first time on this machine: an older copy could not have been noticed"),
      (.memoryNotLocked, "memory could not be locked: secrets may reach swap (ulimit -l)"),
      (.triesNotKept, "the count of wrong passcodes could not be written"),
      (.seenNotKept, "the note of the newest state could not be written"),
    ]
    return table.compactMap { notices.contains($0.0) ? $0.1 : nil }
  }
}

extension Weaknesses {
  /// Each weakness there is: a word for programs, a sentence for people.
  var list: [(word: String, text: String)] {
    let table: [(Weaknesses, String, String)] = [
      (.weakKDF, "weak-kdf", "weak: a guess of the passcode costs less than policy asks for"),
      (.noRecoveryKey, "no-recovery-key", "no recovery key: a forgotten passcode loses everything"),
      (.memoryNotLocked, "memory-not-locked", "memory is not locked: secrets may reach swap"),
      (.triesNotKept, "tries-not-kept", "the count of wrong passcodes cannot be written"),
      (.seenNotKept, "seen-not-kept", "the note of the newest state cannot be written"),
      (
        .staysOpenInSleep, "stays-open-in-sleep", "the vault stays unlocked when the machine sleeps"
      ),
      (.reuseWindow, "reuse-window", "reuse-window: one passcode opens a protected item again"),
      (.longIdleTimeout, "long-idle-timeout", "idle-timeout is longer than 15 min"),
      (.longMaxSession, "long-max-session", "max-session is longer than 8 h"),
      (.shortHistory, "short-history", "history-depth is lower than 10"),
      (.shortLog, "short-log", "log-entries are fewer than 10000"),
    ]
    return table.compactMap { contains($0.0) ? ($0.1, $0.2) : nil }
  }
}
