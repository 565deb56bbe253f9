// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Looks whether the vault's slots of a TPM take a code.
enum ChipSlots {
  /// Whether one of them does; also where there is none, which the agent tells.
  static func takeCode(_ access: VaultAccess) throws(CommandError) -> Bool {
    var connection = try access.connect()
    let slots = try running { () throws(ClientError) in try connection.slots().all }
    let own = slots.filter { $0.facts.kind == .tpm2 && !$0.facts.isDisabled }
    return own.isEmpty || own.contains { $0.facts.cost != .calibrated }
  }
}
