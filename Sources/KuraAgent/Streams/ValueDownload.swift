// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// A value on its way out: some verified chunks a slice.
final class ValueDownload: Stream {
  let keeper: Keeper
  let isUse = true
  private var value: Value

  init(_ value: consuming Value, from keeper: Keeper) {
    self.value = value
    self.keeper = keeper
  }

  func advance(
    _ output: inout SecretBuffer, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    guard try value.advance(in: &vault) else {
      try write { () throws(ProtocolError) in try output.putEnd() }
      return false
    }
    try value.takePieces { piece throws(VaultError) in
      try write { () throws(ProtocolError) in try output.putData(piece, from: .agent) }
    }
    return true
  }
}
