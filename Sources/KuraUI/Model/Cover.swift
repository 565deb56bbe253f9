// SPDX-License-Identifier: MIT

/// Says why all is covered, and what takes the cover away.
struct Cover: Equatable {
  /// Whether the vault is locked, too.
  var isLocked: Bool
  /// Why it is locked, in a word or two; empty: not known.
  var reason = ""
  /// When the next passcode may be tried, on the clock since boot; 0: now.
  var waitUntil: UInt64 = 0
  /// Whether a finger takes it away as well.
  var takesFinger = false
  /// Whether an unlock is under way.
  var isBusy = false
  /// When what was typed was wrong, for the shake; 0: it was not.
  var wrongAt: UInt64 = 0

  /// How many columns the row of bullets is off its place: three short moves.
  func offset(now: UInt64) -> Int {
    guard wrongAt > 0, now >= wrongAt else { return 0 }
    let moves = [-2, 2, -1]
    let step = Int((now - wrongAt) / Self.step)
    return step < moves.count ? moves[step] : 0
  }

  /// Until when it shakes.
  var shakesUntil: UInt64 { wrongAt == 0 ? 0 : wrongAt + 3 * Self.step }

  /// How long one move takes, in ms.
  static let step: UInt64 = 60
}

/// Asks a question that a key answers.
enum Question: Equatable {
  case remove(String, revision: UInt64)
  /// The item was changed by somebody else since it was read.
  case overwrite(String, current: UInt64)
  case unprotect(String)
}

/// Names what one looks at.
enum Page: Equatable {
  case list, item, history, settings, help
}
