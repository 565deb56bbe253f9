// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import SecureMemory

/// Gathers the names of items that one transaction changes, all of them or none: an item, and the files that belong to
/// it.
public struct ItemNames: ~Copyable {
  private struct Place {
    let name: Range<Int>
    let new: Range<Int>
  }

  private var text: SecretBuffer
  private var places: [Place] = []
  /// Which of them a change is at, from 0; where it is refused, the one that it is refused for.
  public private(set) var position = 0

  /// No names yet; the first one that is added is the item itself.
  ///
  /// - Throws: ``VaultError/outOfMemory``.
  public init() throws(VaultError) {
    text = try fromMemory(SecretBuffer(capacity: 64))
  }

  /// One name, and the one that the item is to have.
  static func one(
    _ name: Span<UInt8>, to new: Span<UInt8> = Span()
  ) throws(VaultError) -> ItemNames {
    var names = try ItemNames()
    try names.add(name, to: new)
    return names
  }

  /// Adds an item.
  ///
  /// - Parameters:
  ///   - name: The name as given; normalised when it is used.
  ///   - new: The one that it is to have, where it is to be moved; likewise.
  /// - Throws: ``VaultError/outOfMemory``.
  public mutating func add(
    _ name: Span<UInt8>, to new: Span<UInt8> = Span()
  ) throws(VaultError) {
    let start = text.count
    do throws(SecureMemoryError) {
      try text.append(name)
      try text.append(new)
    } catch { throw .outOfMemory }
    let middle = start + name.count
    places.append(Place(name: start..<middle, new: middle..<text.count))
  }

  /// A name, as it was given.
  func name(_ index: Int) throws(VaultError) -> ItemName {
    try ItemName.checked(text.bytes.extracting(places[index].name))
  }

  /// The name that the item is to have.
  func new(_ index: Int) throws(VaultError) -> ItemName {
    try ItemName.checked(text.bytes.extracting(places[index].new))
  }

  /// Calls `body` for one item after the other, and stands still at the one for which it throws.
  mutating func forEach(
    _ body: (borrowing ItemNames, Int) throws(VaultError) -> Void
  ) throws(VaultError) {
    for index in places.indices {
      position = index
      try body(self, index)
    }
  }
}
