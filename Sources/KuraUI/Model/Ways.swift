// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Says what opens the vault.
struct Ways: Equatable {
  /// Whether a passcode does, or a code of this machine, which is typed in its place.
  var hasPasscode = true
  var hasRecoveryKey = false
  var hasKeyFile = false
  /// Where the key file stands that is tried by itself, or stood when its slot was made; empty: not known.
  var keyFile = ""
  /// Whether that is one that is tried by itself and is there, so that Enter alone is to do.
  var isKeyFileReady = false

  /// What can be asked for, the usual one first. A key file shows nobody that its owner is there.
  func kinds(isLocked: Bool) -> [Credential] {
    var kinds: [Credential] = hasPasscode ? [.passcode] : []
    if hasRecoveryKey { kinds.append(.recoveryKey) }
    if hasKeyFile, isLocked { kinds.insert(.keyFile, at: isKeyFileReady ? 0 : kinds.count) }
    return kinds.isEmpty ? [.passcode] : kinds
  }

  /// What proves the owner.
  var owner: Credential { hasPasscode || !hasRecoveryKey ? .passcode : .recoveryKey }
}

extension Ways {
  /// Those that the agent tells of.
  init(_ slots: Slots) {
    let usable = slots.all.filter { !$0.facts.flags.contains(.disabled) }
    hasPasscode = usable.contains { $0.facts.kind == .passcode || $0.facts.kind == .local }
    hasRecoveryKey = usable.contains { $0.facts.kind == .recoveryKey }
    let keyFiles = usable.filter { $0.facts.kind == .keyFile }
    hasKeyFile = !keyFiles.isEmpty
    let ready = keyFiles.first {
      $0.facts.flags.isSuperset(of: [.tried, .enabled]) && $0.facts.availability == .here
    }
    isKeyFileReady = ready != nil
    keyFile = (ready ?? keyFiles.first { !$0.place.isEmpty })?.place ?? ""
  }
}

extension Credential {
  /// What a line is called in which one is typed.
  var label: String {
    switch self {
    case .passcode, .local: "passcode"
    case .recoveryKey: "recovery key"
    case .tpm: "code of the TPM"
    case .fido2: "PIN of the security key"
    case .keyFile: "key file"
    }
  }
}
