// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Holds a line that is being typed, in guarded memory.
struct Field: ~Copyable {
  /// Says what the line is for.
  enum Purpose: Equatable {
    /// The vault's passcode or recovery key, on the cover.
    case credential(Credential)
    /// The owner's passcode for something.
    case owner(Effect)
    case newName
    case value(String, over: UInt64?)
    case attributeKey(String)
    case attributeValue(String, key: String)
    case setting(Setting)
    case path(String)
  }

  let purpose: Purpose
  let label: String
  /// Whether bullets stand for what was typed.
  var isHidden: Bool
  private(set) var count = 0
  private var text: SecretBuffer

  init(_ purpose: Purpose, _ label: String, isHidden: Bool) throws(SecureMemoryError) {
    self.purpose = purpose
    self.label = label
    self.isHidden = isHidden
    // Long enough that most lines never move.
    text = try SecretBuffer(capacity: 1_024)
  }

  var bytes: Span<UInt8> {
    @_lifetime(borrow self) borrowing get { text.bytes }
  }

  mutating func type(_ scalar: Unicode.Scalar) throws(SecureMemoryError) {
    guard text.count < 4_096 else { return }
    for byte in UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter { try text.append(byte) }
    count += 1
  }

  /// Begins with a text that stands there already.
  mutating func begin(with bytes: Span<UInt8>) throws(SecureMemoryError) {
    try text.append(bytes)
    count = bytes.indices.reduce(0) { $0 + (bytes[$1] & 0xC0 == 0x80 ? 0 : 1) }
  }

  mutating func removeLast() {
    while text.count > 0 {
      let isInside = text.bytes[text.count - 1] & 0xC0 == 0x80
      text.removeLast(1)
      guard isInside else { break }
    }
    count = max(count - 1, 0)
  }

  mutating func removeAll() {
    text.removeAll()
    count = 0
  }

  /// What was typed, as a secret of its own; the line is empty then.
  mutating func take() throws(SecureMemoryError) -> SecretBytes {
    let secret = try SecretBytes(copying: text.bytes)
    removeAll()
    return secret
  }

  /// What was typed where it is no secret.
  func shown() -> String {
    var copy: [UInt8] = []
    let bytes = text.bytes
    for index in bytes.indices { copy.append(bytes[index]) }
    return String(decoding: copy, as: UTF8.self)
  }
}
