// SPDX-License-Identifier: MIT

public import KuraFormat
internal import SecureMemory

/// Gathers changes to an item's attributes; without any, they stay as they are.
public struct AttributeEdits: ~Copyable, Sendable {
  private let replacesAll: Bool
  private var additions: Attributes?
  /// Normalised keys, each behind its length; nil while there are none.
  private var removals: SecretBuffer?

  /// No change yet.
  ///
  /// - Parameter replacingAll: Whether attributes that are not set here go.
  public init(replacingAll: Bool = false) { replacesAll = replacingAll }

  /// Sets all of a list, such as one that a client sent.
  ///
  /// - Throws: ``VaultError/attributeInvalid(_:)``.
  public mutating func set(_ attributes: consuming Attributes) throws(VaultError) {
    do {
      if let before = additions.take() {
        additions = try before.merging(attributes.list)
      } else {
        additions = consume attributes
      }
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Sets one attribute.
  ///
  /// - Throws: ``VaultError/attributeInvalid(_:)``.
  public mutating func set(_ key: Span<UInt8>, to value: Span<UInt8>) throws(VaultError) {
    do {
      let normal = try Attributes.normalize(key: key)
      let before = if let added = additions.take() { added } else { try Attributes.empty() }
      additions = try before.setting(normal.bytes, to: value)
    } catch { throw VaultError(error, about: .item) }
  }

  /// Deletes one attribute; one that is not there stays absent.
  ///
  /// - Throws: ``VaultError/attributeInvalid(_:)``.
  public mutating func delete(_ key: Span<UInt8>) throws(VaultError) {
    let normal = try fromFormat(.item, Attributes.normalize(key: key))
    do {
      var keys = if let before = removals.take() { before } else { try SecretBuffer(capacity: 64) }
      try keys.append(integer: UInt16(normal.count))
      try keys.append(normal.bytes)
      removals = consume keys
    } catch { throw VaultError(error) }
  }

  /// Applies the edits to a list of attributes.
  borrowing func applied(to list: AttributeList) throws(VaultError) -> Attributes {
    do throws(FormatError) {
      var result = replacesAll ? try Attributes.empty() : try Attributes(copying: list)
      if removals != nil { result = try removing(from: result) }
      switch additions {
      case .some(let additions): return try result.merging(additions.list)
      case .none: return result
      }
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  private borrowing func removing(
    from attributes: consuming Attributes
  ) throws(FormatError) -> Attributes {
    var result = attributes
    switch removals {
    case .some(let removals):
      var offset = 0
      let keys = removals.bytes
      while offset < keys.count {
        let count = Int(keys[offset]) | Int(keys[offset + 1]) << 8
        let key = keys.extracting((offset + 2)..<(offset + 2 + count))
        result = try result.removing(key)
        offset += 2 + count
      }
    case .none: break
    }
    return result
  }
}
