// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// The verb that makes one-time codes: their seeds stay here.
extension Agent {
  func makeCode(
    _ request: NameRequest, _ connection: Connection
  ) throws(Refusal) {
    let session = try unlocked(connection)
    let masks = try masks(above: connection)
    let item = request.name.bytes
    let code = try opening(connection, on: session) { grant throws(Refusal) in
      try work(on: session, item: request.name.place) { vault throws(VaultError) in
        guard let grant else { return try vault.oneTimeCode(item) }
        return try vault.oneTimeCode(item, with: grant.key)
      }
    }
    // A counter that moved has a new value, which nobody was asked for.
    if code.isProtected, !code.hasMoved {
      remember(item, revision: nil, on: session, for: connection)
    }
    noteUse(of: session)
    if code.hasMoved { noteChange(of: session) }
    try tell(masks, connection, of: .code, name: item, code.text.bytes, on: session)
    try wire { () throws(ProtocolError) in try connection.outbox.frames.putReply(code) }
  }
}

extension SecretBuffer {
  fileprivate mutating func putReply(_ code: borrowing OneTimeCode) throws(ProtocolError) {
    switch code.factor {
    case .time(let period):
      try putReply(
        OTPReply(
          .time, code.algorithm, period: period, left: code.left, counter: 0,
          code: code.text.bytes))
    case .counter(let counter):
      try putReply(
        OTPReply(
          .counter, code.algorithm, period: 0, left: 0, counter: counter, code: code.text.bytes))
    }
  }
}
