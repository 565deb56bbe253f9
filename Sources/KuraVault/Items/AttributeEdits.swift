// SPDX-License-Identifier: MIT

public import KuraFormat
internal import SecureMemory

/// Gathers changes to an item's attributes; without any, they stay as they are.
public struct AttributeEdits: ~Copyable, Sendable {
  private let replacesAll: Bool
  private var additions: Attributes?
  private var secretAdditions: Attributes?
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

  /// Sets all of a list of attributes whose values are to stand beside the item's, as secret as that is.
  ///
  /// - Throws: ``VaultError/attributeInvalid(_:)``.
  public mutating func set(secret attributes: consuming Attributes) throws(VaultError) {
    do {
      if let before = secretAdditions.take() {
        secretAdditions = try before.merging(attributes.list)
      } else {
        secretAdditions = consume attributes
      }
    } catch {
      throw VaultError(error, about: .item)
    }
  }

  /// Sets one of these.
  ///
  /// - Throws: ``VaultError/attributeInvalid(_:)``.
  public mutating func set(
    secret key: Span<UInt8>, to value: Span<UInt8>
  ) throws(VaultError) {
    do {
      let normal = try Attributes.normalize(key: key)
      let before = if let added = secretAdditions.take() { added } else { try Attributes.empty() }
      secretAdditions = try before.setting(normal.bytes, to: value)
    } catch { throw VaultError(error, about: .item) }
  }

  /// Whether an attribute is to be secret, which takes a vault of format 2.
  public var hasSecrets: Bool { secretAdditions != nil }

  /// Checks that none is to be both.
  borrowing func checkRepetition() throws(VaultError) {
    switch secretAdditions {
    case .none: return
    case .some(let secrets):
      var cursor = secrets.list.makeCursor()
      switch additions {
      case .none: return
      case .some(let additions):
        while cursor.advance() {
          if additions.list.value(of: cursor.key) != nil { throw .attributeInvalid(.keyRepeated) }
        }
      }
    }
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
      switch secretAdditions {
      case .some(let secrets): result = try result.removing(all: secrets.list)
      case .none: break
      }
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

  /// What they come to for the attributes whose values stand in the body.
  borrowing func secretEdits() throws(VaultError) -> SecretEdits {
    do throws(SecureMemoryError) {
      // One that is set in public is secret no more.
      var gone = try SecretBuffer(capacity: 64)
      switch removals {
      case .some(let removals): try gone.append(removals.bytes)
      case .none: break
      }
      switch additions {
      case .some(let additions): _ = try additions.list.appendKeys(to: &gone)
      case .none: break
      }
      let added: Attributes?
      switch secretAdditions {
      case .some(let secrets):
        added = try secrets.copied()
      case .none: added = nil
      }
      return SecretEdits(additions: added, removals: gone.finish(), replacesAll: replacesAll)
    } catch { throw .outOfMemory }
  }

  /// The keys of those that are set, as `TrailChange` takes them; nil for none.
  borrowing func editedKeys() throws(VaultError) -> SecretBytes? {
    do throws(SecureMemoryError) {
      var keys = try SecretBuffer(capacity: 64)
      try keys.append(integer: UInt16(0))
      var count = 0
      switch additions {
      case .some(let additions): count += try additions.list.appendKeys(to: &keys)
      case .none: break
      }
      switch secretAdditions {
      case .some(let secrets): count += try secrets.list.appendKeys(to: &keys)
      case .none: break
      }
      guard count > 0 else { return nil }
      let number = [UInt8(truncatingIfNeeded: count), UInt8(truncatingIfNeeded: count >> 8)]
      keys.overwrite(at: 0, with: number.span)
      return keys.finish()
    } catch { throw .outOfMemory }
  }
}

extension AttributeList {
  /// Appends each key behind its length.
  ///
  /// - Returns: How many.
  fileprivate func appendKeys(to buffer: inout SecretBuffer) throws(SecureMemoryError) -> Int {
    var cursor = makeCursor()
    while cursor.advance() {
      try buffer.append(integer: UInt16(cursor.key.count))
      try buffer.append(cursor.key)
    }
    return count
  }
}

extension Attributes {
  /// A second owner's copy.
  fileprivate borrowing func copied() throws(SecureMemoryError) -> Attributes {
    do throws(FormatError) { return try Attributes(copying: list) } catch {
      throw .allocationFailed(byteCount: list.bytes.count)
    }
  }

  /// The same without those of another list.
  fileprivate borrowing func removing(
    all list: AttributeList
  ) throws(FormatError) -> Attributes {
    var result = try Attributes(copying: self.list)
    var cursor = list.makeCursor()
    while cursor.advance() { result = try result.removing(cursor.key) }
    return result
  }
}
