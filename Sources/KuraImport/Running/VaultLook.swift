// SPDX-License-Identifier: MIT

/// Answers a plan's questions from a listing of the vault, and reads values where names are the same.
struct VaultLook: KnownItems {
  private let known: [String: KnownItem]
  private var values: [String: [UInt8]] = [:]
  private let read: (String) throws(ImportFailure) -> [UInt8]

  /// - Parameters:
  ///   - known: What the vault has, by name.
  ///   - read: Reads a value.
  init(
    _ known: [String: KnownItem], read: @escaping (String) throws(ImportFailure) -> [UInt8]
  ) {
    (self.known, self.read) = (known, read)
  }

  func item(_ name: String) -> KnownItem? { known[name] }

  mutating func value(_ name: String) throws(ImportFailure) -> [UInt8]? {
    if let value = values[name] { return value }
    guard let there = known[name], !there.isProtected, there.size <= UInt64(ImportedItem.longest)
    else { return nil }
    let value = try read(name)
    values[name] = value
    return value
  }
}
