// SPDX-License-Identifier: MIT

/// Answers a plan's questions from a listing of the vault, and reads values where names are the same.
struct VaultLook: KnownItems {
  private let known: [String: KnownItem]
  private var values: [String: [UInt8]] = [:]
  private let read: (String) throws(ImportFailure) -> [UInt8]
  private let readSecrets: (String) throws(ImportFailure) -> [ImportedItem.Pair]

  /// - Parameters:
  ///   - known: What the vault has, by name.
  ///   - read: Reads a value.
  ///   - readSecrets: Reads secret attributes.
  init(
    _ known: [String: KnownItem], read: @escaping (String) throws(ImportFailure) -> [UInt8],
    readSecrets: @escaping (String) throws(ImportFailure) -> [ImportedItem.Pair]
  ) {
    (self.known, self.read, self.readSecrets) = (known, read, readSecrets)
  }

  func item(_ name: String) -> KnownItem? { known[name] }

  func secrets(_ name: String) throws(ImportFailure) -> [ImportedItem.Pair] {
    guard let there = known[name], !there.isProtected else { return [] }
    return try readSecrets(name)
  }

  mutating func value(_ name: String) throws(ImportFailure) -> [UInt8]? {
    if let value = values[name] { return value }
    guard let there = known[name], !there.isProtected, there.size <= UInt64(ImportedItem.longest)
    else { return nil }
    let value = try read(name)
    values[name] = value
    return value
  }
}
