// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

extension UnlockedVault {
  /// Brings what acts on this machine while the vault is locked up to date: after how many wrong codes their
  /// secrets here are destroyed.
  ///
  /// - Throws: ``VaultError`` when one of them could not be written; the others are.
  public func refreshEraseRules() throws(VaultError) {
    let devices = DeviceSecrets(stateDirectory: options.stateDirectory)
    var failure: VaultError?
    for row in trust.slots {
      // One out of use comes back with the secret that it has here.
      guard let slot = try? row.inUse(keys),
        let header = try? SlotHeader(decoding: slot.header.span), header.kind == .local
      else { continue }
      do throws(VaultError) {
        try devices.setEraseLimit(policy[.eraseLocalAfter], of: header.id)
      } catch { failure = error }
    }
    if let failure { throw failure }
  }
}
