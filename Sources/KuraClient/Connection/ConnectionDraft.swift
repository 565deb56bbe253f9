// SPDX-License-Identifier: MIT

internal import KuraProtocol
public import SecureMemory

/// Makes texts unreadable while the vault is locked; wiped when dropped.
public struct MaskKey: ~Copyable {
  /// The key, for texts of one time only.
  public let key: SecretBytes
  /// What may be kept of it: the agent opens it where the vault is unlocked.
  public let sealed: [UInt8]

  /// Gives up the rest for the key.
  public consuming func finish() -> SecretBytes { key }
}

extension Connection {
  /// Has the agent make a key for what is held beyond a lock, or open one of which the sealed form was kept.
  ///
  /// - Parameter sealed: ``MaskKey/sealed`` of the key that is wanted again; empty for a new one.
  /// - Throws: ``ClientError/refused(_:)``, among others with `Failure.locked`, and with `Failure.wrongKey` where it
  ///   cannot be had again.
  public mutating func draftKey(_ sealed: [UInt8] = []) throws(ClientError) -> MaskKey {
    try send(.draftKey(DraftKeyRequest(sealed.span)))
    let reply: DraftKeyReply = try replied(received(try answer()))
    let key = try allocating { () throws(SecureMemoryError) in
      try SecretBytes(copying: reply.key.bytes)
    }
    var kept: [UInt8] = []
    for index in reply.sealed.bytes.indices { kept.append(reply.sealed.bytes[index]) }
    return MaskKey(key: key, sealed: kept)
  }
}
