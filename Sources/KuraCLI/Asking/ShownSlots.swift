// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds what was proved for new keys, and which slots go over to them, and which do not.
struct ShownSlots: ~Copyable {
  let passcode: SecretBytes
  let dropped: [Slot]
  let title: String

  /// The slots that do not go over, one a line.
  var droppedLines: [String] {
    dropped.map { slot in
      let label = slot.label.utf8.isEmpty ? "" : " " + Diagnostic.shown(slot.label)
      return "  \(slot.facts.number) " + slot.facts.kind.name + label
    }
  }

  /// Proves the passcode, and the key file, and unlocks the vault in this engine where it is locked.
  static func prove(
    _ access: VaultAccess, _ keyFile: borrowing SecretBytes?, _ questioner: inout Questioner,
    _ connection: inout Connection
  ) throws(CommandError) -> ShownSlots {
    let known = try running { () throws(ClientError) in try connection.slots().all }
    guard known.contains(where: { $0.facts.kind == .passcode }) else { throw .noPasscode }
    let credential = try ProvedCredential.take(
      access, &questioner, &connection, as: .passcode)
    let secret = credential.secret
    var kept = [
      try running { () throws(ClientError) in
        try connection.testSlot(nil, .passcode, secret: secret)
      }
    ]
    // What opens as a passcode may be a code.
    guard !known.contains(where: { $0.facts.kind == .local && kept.contains($0.facts.number) })
    else { throw .codeForPasscode }
    switch keyFile {
    case .some(let file):
      kept.append(
        try running { () throws(ClientError) in
          try connection.testSlot(nil, .keyFile, secret: file)
        })
    case .none: break
    }
    if try running({ () throws(ClientError) in try connection.status().state }) != .unlocked {
      // The session stays locked: an engine of this command's own does it.
      connection = try access.connectOwn()
      try running { () throws(ClientError) in
        _ = try connection.unlock(.passcode, secret: secret)
      }
    }
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    return ShownSlots(
      passcode: secret, dropped: slots.filter { !kept.contains($0.facts.number) },
      title: access.title)
  }
}
