// SPDX-License-Identifier: MIT

internal import KuraClient

/// What is known of work whose end was not seen.
extension Lost {
  /// What to do next.
  var hint: String {
    switch self {
    case .unbegunRekey: "try again; nothing was changed"
    case .rekey(.nowhere): "'kura slot list' tells whether the other slots have ended"
    case .rekey(.terminal):
      "'kura slot test --recovery-key' tells whether the new recovery key, the one written down, is"
        + " in force; keep both until then"
    case .rekey(.file(let path)):
      "'kura slot test --recovery-key-file " + Diagnostic.shown(path)
        + "' tells whether the new recovery key is in force; keep both until then"
    case .clone(let path):
      "where there is a file " + Diagnostic.shown(path)
        + ", it is whole, and its new recovery key in force; else try again"
    case .rotation:
      "a rotation goes on by itself while the vault is unlocked; 'kura rotate' joins it,"
        + " 'kura status' shows it"
    }
  }
}

extension Diagnostic {
  init(_ lost: Lost, _ error: ClientError) {
    let message = Diagnostic(error).message
    switch lost {
    case .rekey:
      self.init(message + ": the rekey may have been done", hint: lost.hint, error.exitStatus)
    case .clone:
      self.init(message + ": the clone may have been made", hint: lost.hint, error.exitStatus)
    case .unbegunRekey, .rotation:
      self.init(message, hint: lost.hint, error.exitStatus)
    }
  }
}
