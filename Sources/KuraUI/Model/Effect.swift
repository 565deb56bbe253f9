// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Says what of an item is copied.
enum Copied: Equatable {
  case value
  case code
  case field(String)
}

/// Names what a key asks of the world outside the model. Secrets do not travel in it: the model hands out
/// one beside.
indirect enum Effect: Equatable {
  /// Unlock the vault with what was typed.
  case unlock(Credential)
  /// Prove that the owner is there, with what was typed.
  case prove(Credential)
  case lock
  case load
  case show(String)
  /// Show the value, or a secret attribute of the current revision.
  case reveal(String, revision: UInt64, field: String?)
  case code(String)
  case copy(String, Copied, isProtected: Bool)
  /// Store what was typed; over a revision, 0: as a new item, nil: over whatever stands there.
  case store(String, over: UInt64?)
  case generate(String)
  case attribute(String, key: String, value: String?)
  case protect(String)
  case unprotect(String)
  case remove(String, revision: UInt64)
  case restore(String, revision: UInt64)
  case history(String)
  case settings
  case set(Setting, UInt64)
  /// Have it edited in the user's editor.
  case edit(String)
  case save(String, path: String)
  /// The same with the passcode that was typed.
  case byOwner(Effect)
  case suspend
  case redraw
  case pick(String)
  case quit
}
