// SPDX-License-Identifier: MIT

internal import KuraStorage

/// Finds the files of this machine's state, and refuses what others could have put there: counts, notes and
/// secrets are worth what their directory is.
enum StatePlace {
  /// Checks the directories, as far as they are there.
  ///
  /// - Throws: ``VaultError/stateDirectoryUnsafe(_:path:)``.
  static func check(_ directory: String) throws(VaultError) {
    for path in [directory, directory + "/device"] {
      guard let place = try? FilePlace.resolve(path + "/any") else { continue }
      do throws(StorageError) { try place.checkDirectory() } catch {
        if case .exposedDirectory(let exposure) = error, exposure != .kind {
          throw .stateDirectoryUnsafe(UnsafeReason(exposure), path: place.directory)
        }
      }
    }
  }

  /// Where a file stands, in a directory that nobody else can write.
  ///
  /// - Parameter making: Whether the directory is made, with mode 0700, when it is missing.
  static func file(
    _ name: String, in directory: String, making: Bool = false
  ) throws(StorageError) -> FilePlace {
    if making { try FilePlace.makeDirectory(directory) }
    let place = try FilePlace.resolve("\(directory)/\(name)")
    do throws(StorageError) { try place.checkDirectory() } catch {
      // Where something else stands in its place there is none.
      throw error == .exposedDirectory(.kind) ? .missing : error
    }
    return place
  }

  /// Opens a file, which is made when it is missing, and locks it.
  ///
  /// - Parameter patience: Milliseconds to wait for another engine.
  static func lock(
    _ name: String, in directory: String, patience: Int
  ) throws(VaultError) -> StateFile {
    do {
      let place = try file(name, in: directory, making: true)
      let isNew = (try? place.identity()) == nil
      let file = try StateFile.open(place, lock: .exclusive, creating: true, patience: patience)
      if isNew { try place.syncDirectory() }
      return file
    } catch { throw VaultError(error, ofState: name, in: directory) }
  }
}
