// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Says which protected values a fresh proof of the passcode is to open: the agent keeps the keys of these, and
/// of no others.
enum Opening {
  /// All that there are.
  case all
  /// The one that is refused; which one that will be is not known before the vault is unlocked.
  case refused
  /// Those of some items, and of that revision, where it is not 0.
  case items([String], revision: UInt64)

  /// The names for an unlock, before which nothing was refused; none for all values.
  var names: [String] { names(after: .none) }

  /// Which revision is read beside the current one; 0 for none.
  var revision: UInt64 {
    if case .items(_, let revision) = self { revision } else { 0 }
  }

  /// The names for a proof after a refusal; none for all values.
  func names(after refused: Refusal.Subject) -> [String] {
    switch self {
    case .all: return []
    case .refused: return refused == .none ? [] : [refused.text]
    case .items(let names, _):
      guard refused != .none, !names.contains(refused.text) else { return names }
      return names + [refused.text]
    }
  }
}

extension VaultAccess {
  /// The same, for a command that reads these values and no others; more than a request names are all.
  func reading(_ opening: Opening) -> VaultAccess {
    var access = self
    if opening.names.count < ProtocolLimit.attributes { access.opening = opening }
    return access
  }

  /// The same, for a command that reads the current value of an item, or what stands beside it.
  func reading(_ name: String) -> VaultAccess { reading(.items([name], revision: 0)) }
}
