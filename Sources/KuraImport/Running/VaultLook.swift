// SPDX-License-Identifier: MIT

/// Answers a plan's questions from a listing of the vault, and reads values where names are the same.
struct VaultLook: KnownItems {
  let depth: Int
  private let known: [String: KnownItem]
  private var values: [String: [UInt8]] = [:]
  private let read: (String) throws(ImportFailure) -> [UInt8]
  private let readSecrets: (String) throws(ImportFailure) -> [ImportedItem.Pair]
  private let readEarlier: (String) throws(ImportFailure) -> [[UInt8]]
  private var pasts: [String: [[UInt8]]] = [:]

  /// - Parameters:
  ///   - known: What the vault has, by name.
  ///   - depth: How many earlier revisions it keeps.
  ///   - read: Reads a value.
  ///   - readSecrets: Reads secret attributes.
  ///   - readEarlier: Reads earlier values.
  init(
    _ known: [String: KnownItem], depth: Int,
    read: @escaping (String) throws(ImportFailure) -> [UInt8],
    readSecrets: @escaping (String) throws(ImportFailure) -> [ImportedItem.Pair],
    readEarlier: @escaping (String) throws(ImportFailure) -> [[UInt8]]
  ) {
    (self.known, self.depth, self.read) = (known, depth, read)
    (self.readSecrets, self.readEarlier) = (readSecrets, readEarlier)
  }

  func item(_ name: String) -> KnownItem? { known[name] }

  func secrets(_ name: String) throws(ImportFailure) -> [ImportedItem.Pair] {
    guard let there = known[name], !there.isProtected else { return [] }
    return try readSecrets(name)
  }

  mutating func earlier(_ name: String) throws(ImportFailure) -> [[UInt8]] {
    if let past = pasts[name] { return past }
    guard let there = known[name], !there.isProtected else { return [] }
    let past = try readEarlier(name)
    pasts[name] = past
    return past
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
