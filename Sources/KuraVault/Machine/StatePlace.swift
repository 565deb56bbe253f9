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
}

extension VaultError {
  /// What an error about a file of this machine's state means: it is not the vault's.
  ///
  /// - Parameters:
  ///   - name: The file's.
  ///   - directory: Where it stands.
  init(_ error: any Error, ofState name: String, in directory: String, about subject: Damage) {
    let path = directory + "/" + name
    if case StorageError.exposedDirectory(let exposure) = error {
      self = .stateDirectoryUnsafe(UnsafeReason(exposure), path: directory)
    } else if case StorageError.exposedFile = error {
      self = .stateFile(0, path: path)
    } else if case StorageError.io(let number) = error {
      self = .stateFile(number, path: path)
    } else {
      self.init(error, about: subject)
    }
  }
}
