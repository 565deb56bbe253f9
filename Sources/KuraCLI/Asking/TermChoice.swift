// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Offers how far the answer to a question goes, one after the other.
struct TermChoice {
  private let offers: [(term: ApprovedTerm, label: String)]
  private var chosen = 0

  init(_ offers: [(term: ApprovedTerm, label: String)] = []) { self.offers = offers }

  var term: ApprovedTerm { offers[chosen].term }
  var label: String { offers[chosen].label }
  var hasOthers: Bool { offers.count > 1 }

  /// Goes on to the next.
  ///
  /// - Returns: Its question; nil where there is none.
  mutating func choose() -> String? {
    guard hasOthers else { return nil }
    chosen = (chosen + 1) % offers.count
    return label
  }
}

extension VaultAccess {
  /// How far a value can be opened for the program that asks: once, and where Tab can be pressed, longer.
  func terms(
    of purpose: String, by kind: Credential, canChoose: Bool
  ) -> [(term: ApprovedTerm, label: String)] {
    func label(_ words: String) -> String { question(kind, to: Purpose(purpose + words)).label }
    guard canChoose else { return [(.once, label(""))] }
    return [
      (.once, label(" (Tab: longer)")), (.quarter, label(" for 15 min (Tab)")),
      (.untilLock, label(" until the lock (Tab)")),
    ]
  }
}
