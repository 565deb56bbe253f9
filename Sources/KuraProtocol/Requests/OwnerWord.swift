// SPDX-License-Identifier: MIT

internal import SecureMemory

/// The passcode or recovery key by which the owner says, in the request itself, that it is meant. It is
/// good for that request alone.
public struct OwnerWord: Equatable, Sendable {
  public let credential: Credential
  public let secret: Range<Int>

  /// Reads what ends a request that may carry one.
  ///
  /// - Returns: nil where there is none.
  static func read(_ reader: inout FieldReader) throws(ProtocolError) -> OwnerWord? {
    let raw: UInt8 = try reader.number()
    guard raw != 0 else { return nil }
    // What lies about, and what is short, opens a vault and vouches for nobody.
    guard let credential = Credential(rawValue: raw), credential.isOwners else {
      throw .fieldValue
    }
    return OwnerWord(credential: credential, secret: try reader.field16())
  }
}

extension Request {
  /// The owner's word, where the request carries one.
  public var word: OwnerWord? {
    if case .config(let request) = self { return request.word }
    if case .move(let request) = self { return request.word }
    if case .purge(let request) = self { return request.word }
    if case .unprotect(let request) = self { return request.word }
    return nil
  }
}

extension Credential {
  /// Whether it is an owner's word: what a person knows or wrote down.
  public var isOwners: Bool {
    switch self {
    case .passcode, .recoveryKey: true
    case .keyFile, .local: false
    }
  }
}

/// An item, and the owner's word where it was given: `unprotect`.
public struct OwnedName: Equatable, Sendable {
  public let name: Range<Int>
  public let word: OwnerWord?

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    name = try reader.field16()
    word = try OwnerWord.read(&reader)
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Ends a request that may carry the owner's word.
  ///
  /// - Parameters:
  ///   - credential: What it is; nil for none.
  ///   - secret: As typed; without bytes for none.
  mutating func put(
    word credential: Credential?, _ secret: Span<UInt8>
  ) throws(ProtocolError) {
    guard let credential else { return try put(UInt8(0)) }
    try put(credential.rawValue)
    try put16(secret)
  }
}
