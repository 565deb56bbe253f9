// SPDX-License-Identifier: MIT

/// Opens an export of Bitwarden's that a password seals: the password and a salt make a key by PBKDF2 or Argon2id, that
/// makes one to encrypt and one to authenticate by HKDF, and AES-256-CBC with HMAC-SHA256 seals the document.
struct BitwardenSeal {
  private let document: JSONValue
  private let encryption: [UInt8]
  private let authentication: [UInt8]

  /// The document that is sealed in another one.
  ///
  /// - Parameter password: Nil where none was given.
  static func open(
    _ document: JSONValue, _ password: [UInt8]?
  ) throws(ReadingFlaw) -> [UInt8] {
    guard let password else { throw ReadingFlaw(.passwordNeeded) }
    let seal = try BitwardenSeal(document, password)
    // An id that nobody needs: what it is for is to tell a wrong password.
    guard try seal.content("encKeyValidation_DO_NOT_EDIT") != nil else {
      throw ReadingFlaw(.wrongPassword)
    }
    guard let content = try seal.content("data") else { throw ReadingFlaw(.sealBroken) }
    return content
  }

  private init(_ document: JSONValue, _ password: [UInt8]) throws(ReadingFlaw) {
    self.document = document
    guard let salt = document["salt"]?.text else { throw ReadingFlaw(.member, "salt") }
    let cost = try PasswordCost(document)
    guard let key = cost.key(of: password, salt: salt) else { throw ReadingFlaw(.outOfMemory) }
    encryption = Digest.expand(key, "enc")
    authentication = Digest.expand(key, "mac")
  }

  /// What a member holds, opened; nil where the keys are others, or it was changed.
  private func content(_ name: String) throws(ReadingFlaw) -> [UInt8]? {
    let text = document[name]?.text ?? []
    // The kind of seal, a dot, and three parts in base64: the first block, the text, the proof.
    guard text.starts(with: Array("2.".utf8)) else { throw ReadingFlaw(.member, name) }
    let parts = text.dropFirst(2).split(
      separator: UInt8(ascii: "|"), omittingEmptySubsequences: false)
    guard parts.count == 3, let block = Armour.decode(Array(parts[0])),
      let sealed = Armour.decode(Array(parts[1])), let proof = Armour.decode(Array(parts[2])),
      block.count == 16, !sealed.isEmpty, sealed.count.isMultiple(of: 16), proof.count == 32
    else { throw ReadingFlaw(.member, name) }
    let expected = Digest.authenticate(block + sealed, with: authentication)
    guard zip(expected, proof).reduce(0, { $0 | ($1.0 ^ $1.1) }) == 0 else { return nil }
    return Digest.decrypt(sealed, from: block, with: encryption)
  }
}

/// Says what it costs to try a password on an export, and never takes more than Bitwarden itself allows.
enum PasswordCost: Equatable {
  /// PBKDF2 with SHA-256.
  case rounds(UInt32)
  /// Argon2id, the memory in KiB.
  case memory(UInt32, passes: UInt32, lanes: UInt32)

  static let mostRounds: UInt64 = 2_000_000
  static let mostMemory: UInt64 = 1_024
  static let mostPasses: UInt64 = 10
  static let mostLanes: UInt64 = 16

  /// Reads it from an export's members; nothing was taken yet when it is too much.
  init(_ document: JSONValue) throws(ReadingFlaw) {
    func number(_ name: String, upTo most: UInt64) throws(ReadingFlaw) -> UInt32 {
      guard let number = document[name]?.whole, number > 0 else { throw ReadingFlaw(.member, name) }
      guard number <= most else { throw ReadingFlaw(.costs, name) }
      return UInt32(number)
    }
    switch document["kdfType"]?.whole {
    case 0: self = .rounds(try number("kdfIterations", upTo: Self.mostRounds))
    case 1:
      let memory = try number("kdfMemory", upTo: Self.mostMemory) * 1_024
      self = .memory(
        memory, passes: try number("kdfIterations", upTo: Self.mostPasses),
        lanes: try number("kdfParallelism", upTo: Self.mostLanes))
    default: throw ReadingFlaw(.member, "kdfType")
    }
  }

  /// The key of 32 bytes; nil where there is no memory for it.
  func key(of password: [UInt8], salt: [UInt8]) -> [UInt8]? {
    switch self {
    case .rounds(let rounds): Digest.stretch(password, salt: salt, rounds: rounds)
    case .memory(let memory, let passes, let lanes):
      // The salt is a text of any length there, and 32 bytes here.
      Digest.stretch(
        password, salt: Digest.hash(salt), memory: memory, passes: passes, lanes: lanes)
    }
  }
}
