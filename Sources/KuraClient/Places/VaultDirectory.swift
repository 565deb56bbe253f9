// SPDX-License-Identifier: MIT

/// Lists what stands in the directory of named vaults.
public enum VaultDirectory {
  /// The vaults there, sorted by the bytes of their names; none where there is no directory.
  ///
  /// What cannot be a vault's name, or is no file, is left out; whether a file is a vault is not
  /// looked at.
  ///
  /// - Parameter path: Where they stand: ``UserDirectory/data()``.
  /// - Throws: ``FileError`` when the directory cannot be read.
  public static func vaults(in path: String) throws(FileError) -> [VaultPath] {
    var vaults: [VaultPath] = []
    for name in try System.names(in: path) {
      guard let vault = vault(name), vault.isFile else { continue }
      vaults.append(vault)
    }
    vaults.sort { ($0.name ?? "").utf8.lexicographicallyPrecedes(($1.name ?? "").utf8) }
    return vaults
  }

  /// The paths of new vaults that resets left behind which were cut short, those of vaults that are
  /// gone among them.
  ///
  /// - Throws: ``FileError`` when the directory cannot be read.
  public static func drafts(in path: String) throws(FileError) -> [String] {
    var owners: [VaultPath] = []
    for name in try System.names(in: path) {
      guard let owner = draftOwner(name), !owners.contains(owner) else { continue }
      owners.append(owner)
    }
    var drafts: [String] = []
    for owner in owners { drafts += try VaultReplacement.drafts(of: owner) }
    return drafts.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
  }

  /// The vault that a draft was to take the place of: what stands before the mark and the moment.
  private static func draftOwner(_ file: [UInt8]) -> VaultPath? {
    let mark = VaultReplacement.draftMark.utf8
    let tail = mark.count + VaultReplacement.momentCount
    guard file.count > tail,
      file.dropLast(VaultReplacement.momentCount).suffix(mark.count)
        .elementsEqual(mark)
    else { return nil }
    return vault(Array(file.dropLast(tail)))
  }

  private static func vault(_ file: [UInt8]) -> VaultPath? {
    let suffix = Array(VaultPath.suffix.utf8)
    guard file.count > suffix.count, file.suffix(suffix.count).elementsEqual(suffix),
      let name = String(validating: file.dropLast(suffix.count), as: UTF8.self)
    else { return nil }
    do throws(PathError) { return try VaultPath.named(name) } catch { return nil }
  }
}
