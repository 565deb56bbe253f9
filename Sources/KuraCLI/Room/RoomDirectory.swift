// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol

/// Finds the directory that a room is made for, and refuses one with what no room may have.
enum RoomDirectory {
  /// The working directory, where it may be in a room.
  static func project(_ vault: VaultPath) throws(CommandError) -> String {
    let directory: String
    do throws(FileError) {
      guard let path = String(validating: try System.currentDirectory(), as: UTF8.self) else {
        throw FileError(errno: EILSEQ)
      }
      directory = try real(path)
    } catch { throw .file(.read, path: "the working directory", errno: error.errno) }
    for kept in try kept(vault) {
      guard isWithin(kept, directory) || isWithin(directory, kept) else { continue }
      throw .failure(
        "no room is made here: it would have in it what it is to keep from the command: "
          + Diagnostic.shown(kept),
        hint: "change into the directory of a project, which has nothing else in it", .denied)
    }
    let home = try home()
    guard !isWithin(home, directory) else {
      throw .failure(
        "no room is made of a whole home directory",
        hint: "change into the directory of a project: 'cd ~/project'", .denied)
    }
    return directory
  }

  /// The home directory, which is empty in a room.
  static func home() throws(CommandError) -> String {
    let home: String?
    do throws(PathError) { home = try Environment.name("HOME") } catch { throw .path(error) }
    guard let home, home.utf8.first == UInt8(ascii: "/"), let real = try? real(home), real != "/"
    else { return "/tmp" }
    return real
  }

  /// What is never there.
  private static func kept(_ vault: VaultPath) throws(CommandError) -> [String] {
    do throws(PathError) {
      let all = [
        vault.path, try UserDirectory.data(), try UserDirectory.state(),
        try UserDirectory.runtime(), try UserDirectory.fallbackRuntime(),
      ]
      return all.map { (try? real($0)) ?? $0 }
    } catch { throw .path(error) }
  }

  private static func real(_ path: String) throws(FileError) -> String {
    guard let text = String(validating: try System.realPath(path), as: UTF8.self) else {
      throw FileError(errno: EILSEQ)
    }
    return text
  }

  /// Whether a path is another one or below it.
  static func isWithin(_ path: String, _ other: String) -> Bool {
    if other.utf8.elementsEqual("/".utf8) { return true }
    let (path, other) = (Array(path.utf8), Array(other.utf8))
    guard path.starts(with: other) else { return false }
    return path.count == other.count || path[other.count] == UInt8(ascii: "/")
  }
}
