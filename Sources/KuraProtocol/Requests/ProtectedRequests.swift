// SPDX-License-Identifier: MIT

public import SecureMemory

/// Prove a passcode afresh, so that protected values can be read on this connection for a while.
public struct AuthorizeRequest: Equatable, Sendable {
  /// How long the proof serves the connection it was made on, in ms on the clock that counts sleep.
  public static let lifetime: UInt64 = 60_000

  public let credential: Credential
  public let secret: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    credential = try credentialKind(&reader)
    secret = try reader.field16()
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes `authorize`.
  public mutating func putAuthorize(
    _ credential: Credential, secret: Span<UInt8>
  ) throws(ProtocolError) {
    let frame = try openRequest(.authorize)
    try put(credential.rawValue)
    try put16(secret)
    try closeFrame(frame)
  }

  /// Writes `protect`.
  public mutating func putProtect(name: Span<UInt8>) throws(ProtocolError) {
    let frame = try openRequest(.protect)
    try put16(name)
    try closeFrame(frame)
  }

  /// Writes `unprotect`.
  public mutating func putUnprotect(
    name: Span<UInt8>, by credential: Credential? = nil, word: Span<UInt8> = Span()
  ) throws(ProtocolError) {
    let frame = try openRequest(.unprotect)
    try put16(name)
    try put(word: credential, word)
    try closeFrame(frame)
  }
}
