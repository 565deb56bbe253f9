// SPDX-License-Identifier: MIT

internal import KuraClient

/// Says to who answers for what programs ask what became of it.
enum WishWords {
  static let changed = "something else is asked for now; look at it again"
}

/// How a person is shown what programs ask for.
extension WishSummary {
  /// What the answer is for, in the question.
  var purpose: String {
    "let it read " + (names.count == 1 ? "that" : "these \(names.count)")
  }

  /// How many names leave room for all that is said on any screen.
  static let few = 8

  /// What is asked for: who asks, then every name on a line of its own, next to the question.
  var words: String {
    let who =
      Claim.cut(program) + " (\(process), since " + Moment.recent(started, now: Clock.unix())
      + ")"
    let span = GrantWish.span(lifetime, uses)
    var text = ""
    for asker in askers {
      text += Claim.wrapped("asked by " + Diagnostic.plain(asker.chain)) + "\n"
      if !asker.reason.isEmpty { text += claim(asker.reason) + "\n" }
    }
    text += who + " and the programs below it ask to read" + span + ":"
    for name in names {
      text += "\n" + Claim.wrapped("  " + Diagnostic.plain(Array(name.utf8)))
    }
    return text
  }

  /// What one that asks says of itself: all of it, where that pushes none of the names off the screen.
  private func claim(_ reason: [UInt8]) -> String {
    let asker = Array("it".utf8)
    guard reason.count > Claim.longest, names.count <= Self.few, askers.count == 1 else {
      return Claim(reason, of: asker).text
    }
    return Claim.whole(reason, of: asker)
  }
}
