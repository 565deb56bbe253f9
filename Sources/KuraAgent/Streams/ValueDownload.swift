// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Sends a value, some verified chunks a slice: each from where it was opened, while the next ones are.
final class ValueDownload: Stream {
  let session: Session
  let isUse = true
  let isLongValue = true
  private var value: Value

  init(_ value: consuming Value, from session: Session) {
    self.value = value
    self.session = session
  }

  func advance(
    _ outbox: inout Outbox, in vault: inout UnlockedVault
  ) throws(VaultError) -> Bool {
    let hasMore = try value.advance(in: &vault) { piece in
      outbox.send(dataFrom: Value.roomBeforePiece, of: &piece)
    }
    if !hasMore { try write { () throws(ProtocolError) in try outbox.frames.putEnd() } }
    return hasMore
  }
}
