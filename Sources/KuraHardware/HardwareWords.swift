// SPDX-License-Identifier: MIT

package import KuraTerms
package import SecureMemory

/// Names what the agent wants of `kura-hardware`: one thing, and then the program ends.
package enum HardwareWish: ~Copyable {
  /// Tell how the TPM holds against guessing.
  case look
  /// Have the TPM keep a secret.
  case seal(SealOrder)
  /// Have it given back.
  case unseal(UnsealOrder)
  /// Tell what the security key asks for that has made this; where there is none, the one that is plugged in.
  case meet(KeyCredential?)
  /// Have a security key give a secret.
  case touch(KeyOrder)

  /// Whether it is about a security key.
  package var isOfKey: Bool {
    borrowing get {
      switch self {
      case .look: false
      case .seal: false
      case .unseal: false
      case .meet: true
      case .touch: true
      }
    }
  }
}

/// Says for what a security key is to give a secret.
package struct KeyOrder: ~Copyable {
  /// What the key has made; nil for the one that is plugged in to make it first.
  package let credential: KeyCredential?
  /// 32 bytes.
  package let salt: SecretBytes
  /// Its PIN, of at most ``KeyCredential/longestPIN`` bytes and without NUL; or none.
  package let pin: SecretBytes

  package init(
    of credential: KeyCredential?, salt: consuming SecretBytes, pin: consuming SecretBytes
  ) {
    self.credential = credential
    self.salt = salt
    self.pin = pin
  }
}

/// Says what a TPM is to keep.
package struct SealOrder: ~Copyable {
  /// 32 bytes.
  package let secret: SecretBytes
  /// What it gives it back for: 32 bytes; or none.
  package let code: SecretBytes

  package init(secret: consuming SecretBytes, code: consuming SecretBytes) {
    self.secret = secret
    self.code = code
  }
}

/// Says what a TPM is to give back.
package struct UnsealOrder: ~Copyable {
  package let object: ChipObject
  package let code: SecretBytes

  package init(_ object: ChipObject, code: consuming SecretBytes) {
    self.object = object
    self.code = code
  }
}

/// Holds what a security key has made, and its secret for a salt, 32 bytes.
package struct MadeCredential: ~Copyable {
  package let credential: KeyCredential
  package let secret: SecretBytes

  package init(_ credential: KeyCredential, secret: consuming SecretBytes) {
    self.credential = credential
    self.secret = secret
  }
}

/// Names what it answers.
package enum HardwareAnswer: ~Copyable {
  case facts(ChipFacts)
  case sealed(ChipObject)
  case secret(SecretBytes)
  case fault(ChipFault)
  case met(SecurityKeyFacts)
  case made(MadeCredential)
}

/// Says that bytes are no such message, or that no memory is left.
package enum HardwareWordsError: Error {
  case malformed
  case outOfMemory
}

/// Reads both, as a stranger's, whichever side it is.
package enum HardwareWords {
  /// More than the longest message, in bytes.
  package static let longest = 4_096
  /// The length of a secret, and of a code that is one, in bytes.
  package static let secretByteCount = 32

  /// Reads a wish.
  package static func wish(_ bytes: Span<UInt8>) throws(HardwareWordsError) -> HardwareWish {
    var reader = HardwareReader(bytes)
    switch try reader.byte() {
    case 1:
      try reader.finish()
      return .look
    case 2:
      let secret = try reader.secret(secretByteCount...secretByteCount)
      let code = try reader.code()
      try reader.finish()
      return .seal(SealOrder(secret: secret, code: code))
    case 3:
      let object = try reader.object()
      let code = try reader.code()
      try reader.finish()
      return .unseal(UnsealOrder(object, code: code))
    case 4:
      let credential = try reader.hasMore ? reader.credential() : nil
      try reader.finish()
      return .meet(credential)
    case 5:
      let order = try reader.keyOrder(of: nil)
      try reader.finish()
      return .touch(order)
    case 6:
      let order = try reader.keyOrder(of: try reader.credential())
      try reader.finish()
      return .touch(order)
    default: throw .malformed
    }
  }

  /// Reads an answer.
  package static func answer(_ bytes: Span<UInt8>) throws(HardwareWordsError) -> HardwareAnswer {
    var reader = HardwareReader(bytes)
    switch try reader.byte() {
    case 1:
      let (failures, most) = (try reader.number(), try reader.number())
      let (interval, flag) = (try reader.number(), try reader.byte())
      try reader.finish()
      guard flag <= 1 else { throw .malformed }
      return .facts(
        ChipFacts(
          failures: failures, mostFailures: most, interval: interval,
          hasLockoutPassword: flag == 1))
    case 2:
      let object = try reader.object()
      try reader.finish()
      return .sealed(object)
    case 3:
      let secret = try reader.secret(secretByteCount...secretByteCount)
      try reader.finish()
      return .secret(secret)
    case 4:
      guard let kind = ChipFault.Kind(rawValue: try reader.byte()) else { throw .malformed }
      let number = try reader.number()
      try reader.finish()
      return .fault(ChipFault(kind, number))
    case 5:
      let (flags, tries) = (try reader.byte(), try reader.byte())
      try reader.finish()
      guard flags <= 3 else { throw .malformed }
      return .met(
        SecurityKeyFacts(takesPIN: flags & 1 != 0, verifies: flags & 2 != 0, pinTries: tries))
    case 6:
      let credential = try reader.credential()
      let secret = try reader.secret(secretByteCount...secretByteCount)
      try reader.finish()
      return .made(MadeCredential(credential, secret: secret))
    default: throw .malformed
    }
  }

  fileprivate static func append(
    _ part: Span<UInt8>, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try buffer.append(integer: UInt16(part.count))
    try buffer.append(part)
  }

  fileprivate static func append(
    _ object: ChipObject, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try append(object.storageKey.span, to: &buffer)
    try append(object.publicArea.span, to: &buffer)
    try append(object.privateArea.span, to: &buffer)
  }

  fileprivate static func append(
    _ credential: KeyCredential, to buffer: inout SecretBuffer
  ) throws(SecureMemoryError) {
    try buffer.append(credential.isVerified ? 1 : 0)
    try append(credential.id.span, to: &buffer)
  }
}

extension HardwareWish {
  /// Its bytes.
  package borrowing func encoded() throws(HardwareWordsError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: HardwareWords.longest)
      switch self {
      case .look: try buffer.append(1)
      case .seal(let order):
        try buffer.append(2)
        try HardwareWords.append(order.secret.bytes, to: &buffer)
        try HardwareWords.append(order.code.bytes, to: &buffer)
      case .unseal(let order):
        try buffer.append(3)
        try HardwareWords.append(order.object, to: &buffer)
        try HardwareWords.append(order.code.bytes, to: &buffer)
      case .meet(let credential):
        try buffer.append(4)
        if let credential { try HardwareWords.append(credential, to: &buffer) }
      case .touch(let order):
        try buffer.append(order.credential == nil ? 5 : 6)
        if let made = order.credential { try HardwareWords.append(made, to: &buffer) }
        try HardwareWords.append(order.salt.bytes, to: &buffer)
        try HardwareWords.append(order.pin.bytes, to: &buffer)
      }
      return buffer.finish()
    } catch { throw .outOfMemory }
  }
}

extension HardwareAnswer {
  /// Its bytes.
  package borrowing func encoded() throws(HardwareWordsError) -> SecretBytes {
    do {
      var buffer = try SecretBuffer(capacity: HardwareWords.longest)
      switch self {
      case .facts(let facts):
        try buffer.append(1)
        try buffer.append(integer: facts.failures)
        try buffer.append(integer: facts.mostFailures)
        try buffer.append(integer: facts.interval)
        try buffer.append(facts.hasLockoutPassword ? 1 : 0)
      case .sealed(let object):
        try buffer.append(2)
        try HardwareWords.append(object, to: &buffer)
      case .secret(let secret):
        try buffer.append(3)
        try HardwareWords.append(secret.bytes, to: &buffer)
      case .fault(let fault):
        try buffer.append(4)
        try buffer.append(fault.kind.rawValue)
        try buffer.append(integer: fault.number)
      case .met(let facts):
        try buffer.append(5)
        try buffer.append((facts.takesPIN ? 1 : 0) | (facts.verifies ? 2 : 0))
        try buffer.append(facts.pinTries)
      case .made(let made):
        try buffer.append(6)
        try HardwareWords.append(made.credential, to: &buffer)
        try HardwareWords.append(made.secret.bytes, to: &buffer)
      }
      return buffer.finish()
    } catch { throw .outOfMemory }
  }
}

/// Takes a message apart.
private struct HardwareReader: ~Escapable {
  private let bytes: Span<UInt8>
  private var next = 0

  @_lifetime(copy bytes)
  init(_ bytes: Span<UInt8>) { self.bytes = bytes }

  mutating func byte() throws(HardwareWordsError) -> UInt8 {
    guard next < bytes.count else { throw .malformed }
    defer { next += 1 }
    return bytes[next]
  }

  mutating func number() throws(HardwareWordsError) -> UInt32 {
    var number: UInt32 = 0
    for shift in 0..<4 { number |= UInt32(try byte()) << (8 * shift) }
    return number
  }

  /// A counted part, of whose length this much is right.
  private mutating func part(
    _ lengths: ClosedRange<Int>
  ) throws(HardwareWordsError) -> Range<Int> {
    let length = Int(try byte()) | Int(try byte()) << 8
    guard lengths.contains(length), length <= bytes.count - next else { throw .malformed }
    defer { next += length }
    return next..<(next + length)
  }

  mutating func secret(_ lengths: ClosedRange<Int>) throws(HardwareWordsError) -> SecretBytes {
    let part = try part(lengths)
    do { return try SecretBytes(copying: bytes.extracting(part)) } catch { throw .outOfMemory }
  }

  /// What stands for a code: a secret, or nothing.
  mutating func code() throws(HardwareWordsError) -> SecretBytes {
    let code = try secret(0...HardwareWords.secretByteCount)
    guard code.count == 0 || code.count == HardwareWords.secretByteCount else { throw .malformed }
    return code
  }

  mutating func credential() throws(HardwareWordsError) -> KeyCredential {
    let flag = try byte()
    let part = try part(1...KeyCredential.longestID)
    guard flag <= 1,
      let made = KeyCredential(id: part.map { bytes[$0] }, isVerified: flag == 1)
    else { throw .malformed }
    return made
  }

  mutating func keyOrder(of credential: KeyCredential?) throws(HardwareWordsError) -> KeyOrder {
    let salt = try secret(HardwareWords.secretByteCount...HardwareWords.secretByteCount)
    let begin = next + 2
    let pin = try secret(0...KeyCredential.longestPIN)
    // libfido2 would take what stands before it for the whole.
    for index in begin..<next where bytes[index] == 0 { throw .malformed }
    return KeyOrder(of: credential, salt: salt, pin: pin)
  }

  var hasMore: Bool { next < bytes.count }

  mutating func object() throws(HardwareWordsError) -> ChipObject {
    var parts: [[UInt8]] = []
    for _ in 0..<3 {
      let part = try part(1...ChipObject.longestPart)
      parts.append(part.map { bytes[$0] })
    }
    let object = ChipObject(storageKey: parts[0], publicArea: parts[1], privateArea: parts[2])
    guard let object else { throw .malformed }
    return object
  }

  func finish() throws(HardwareWordsError) {
    guard next == bytes.count else { throw .malformed }
  }
}
