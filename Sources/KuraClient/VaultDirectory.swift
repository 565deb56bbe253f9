// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// The directory that named vaults stand in.
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
    for name in try names(in: path) {
      guard let vault = vault(name), vault.isFile else { continue }
      vaults.append(vault)
    }
    vaults.sort { ($0.name ?? "").utf8.lexicographicallyPrecedes(($1.name ?? "").utf8) }
    return vaults
  }

  private static func vault(_ file: [UInt8]) -> VaultPath? {
    let suffix = Array(VaultPath.suffix.utf8)
    guard file.count > suffix.count, file.suffix(suffix.count).elementsEqual(suffix),
      let name = String(validating: file.dropLast(suffix.count), as: UTF8.self)
    else { return nil }
    do throws(PathError) { return try VaultPath.named(name) } catch { return nil }
  }

  private static func names(in path: String) throws(FileError) -> [[UInt8]] {
    var failed: Int32 = 0
    guard let directory = unsafe kura_directory_open(path, &failed) else {
      if failed == ENOENT { return [] }
      throw FileError(errno: failed)
    }
    defer { unsafe kura_directory_close(directory) }
    var names: [[UInt8]] = []
    var bytes = [UInt8](repeating: 0, count: 256)
    while true {
      let count = unsafe bytes.withUnsafeMutableBytes {
        unsafe kura_directory_next(directory, $0.baseAddress!, $0.count)
      }
      try FileError.check(count)
      if count == 0 { return names }
      names.append(Array(bytes[..<count]))
    }
  }
}
