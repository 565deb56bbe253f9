// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

/// Says which items a list is about.
struct ItemFilter: ~Copyable {
  private let prefix: SecretBytes
  private let key: SecretBytes
  private let value: SecretBytes
  private let text: SecretBytes

  init(_ request: ListRequest) throws(SecureMemoryError) {
    let prefix = try composed(request.prefix.bytes)
    let key = try composed(request.filterKey.bytes)
    let value = try SecretBytes(copying: request.filterValue.bytes)
    let text = try composed(request.text.bytes)
    self.prefix = prefix
    self.key = key
    self.value = value
    self.text = text
  }

  func accepts(_ item: ItemView) -> Bool {
    item.name.starts(with: prefix.bytes) && hasAttribute(item) && hasText(item)
  }

  private func hasAttribute(_ item: ItemView) -> Bool {
    guard key.count > 0 else { return true }
    guard let found = item.attributes.value(of: key.bytes) else { return false }
    return value.isEqual(to: found)
  }

  private func hasText(_ item: ItemView) -> Bool {
    let text = text.bytes
    if text.isEmpty || item.name.contains(text) { return true }
    var cursor = item.attributes.makeCursor()
    while cursor.advance() {
      if cursor.key.contains(text) || cursor.value.contains(text) { return true }
    }
    var secrets = item.secretKeys
    while secrets.advance() {
      if secrets.key.contains(text) { return true }
    }
    return false
  }
}

/// The text in normal form C, as names are kept; as it is when it cannot stand in a name.
private func composed(_ text: Span<UInt8>) throws(SecureMemoryError) -> SecretBytes {
  do throws(FormatError) { return try ItemName.normalize(text) } catch {
    return try SecretBytes(copying: text)
  }
}

extension Span<UInt8> {
  /// Whether the first bytes are those.
  func starts(with prefix: Span<UInt8>) -> Bool {
    count >= prefix.count && matches(prefix, at: 0, foldingCase: false)
  }

  /// Whether the text stands somewhere in these bytes; letters of ASCII match in either case.
  func contains(_ text: Span<UInt8>) -> Bool {
    guard count >= text.count else { return false }
    for start in 0...(count - text.count) where matches(text, at: start, foldingCase: true) {
      return true
    }
    return false
  }

  private func matches(_ text: Span<UInt8>, at start: Int, foldingCase: Bool) -> Bool {
    for index in text.indices {
      let (own, other) = (self[start + index], text[index])
      guard own == other || foldingCase && own.lowercase == other.lowercase else { return false }
    }
    return true
  }
}

extension UInt8 {
  /// The small letter of an ASCII capital; every other byte as it is.
  fileprivate var lowercase: UInt8 {
    self >= UInt8(ascii: "A") && self <= UInt8(ascii: "Z") ? self + 32 : self
  }
}
