// SPDX-License-Identifier: MIT

internal import KuraClient

/// Checks the directories that Kura uses, and what they are on.
struct PlaceChecks {
  /// What stands at a path; nil for nothing.
  let look: (String) -> Machine.Place?

  /// Where the agent's socket is.
  ///
  /// - Parameter isSet: Whether the session has a runtime directory.
  func runtime(_ path: String, isSet: Bool) -> Check {
    let name = "runtime-directory"
    if let place = look(path), let fault = exposure(name, path, place) { return fault }
    guard isSet else {
      return Check(
        name, .warn,
        "XDG_RUNTIME_DIR is not set: the agent's socket stands in the state directory, and a logout"
          + " does not lock",
        "log in through a session manager, or run 'kura lock' before you leave")
    }
    let parent = look(Self.parent(path))
    guard parent?.kind == .memory else {
      return Check(
        name, .warn, "XDG_RUNTIME_DIR is not in memory, so it may outlive your session",
        "let the session manager make it")
    }
    return Check(name, .ok, "the agent's socket stands in memory, for you alone")
  }

  /// Where this machine keeps counts, notes and device secrets.
  func state(_ path: String) -> Check {
    let name = "state-directory"
    guard let place = look(path) else {
      return Check(name, .ok, "it is made when a vault is first used here")
    }
    guard place.isOwn, place.mode & 0o022 == 0 else {
      return Check(
        name, .fail, "others than you can write in " + Diagnostic.shown(path),
        advice(path, place))
    }
    switch place.kind {
    case .network:
      return Check(
        name, .warn, "it is on a network file system: counts and locks of files may not hold",
        "set XDG_STATE_HOME to a local directory")
    case .memory:
      return Check(
        name, .warn, "it is in memory: a restart forgets what was seen, wrong tries, and codes",
        "set XDG_STATE_HOME to a directory on a disk")
    case .other: return Check(name, .ok, "yours alone, on this machine")
    }
  }

  /// Where the vault's file is.
  func vault(_ path: String) -> Check {
    let name = "vault-file"
    guard let place = look(path) ?? look(Self.parent(path)) else {
      return Check(name, .ok, "there is no vault yet")
    }
    switch place.kind {
    case .network:
      return Check(
        name, .warn,
        "the vault is on a network file system: two machines that write to it at once may damage it",
        "keep it on a local disk, and copy it")
    case .memory:
      return Check(
        name, .warn, "the vault is in memory, and gone with the next restart", "keep it on a disk")
    case .other: return Check(name, .ok, "the vault is on a local file system")
    }
  }

  /// Whether a program that copies files, or keeps their versions, has the vault's directory.
  ///
  /// - Parameter names: What stands in a directory.
  func copying(_ path: String, _ names: (String) -> [[UInt8]]) -> Check {
    let name = "vault-copies"
    var directory = path
    while directory != "/" {
      directory = Self.parent(directory)
      for found in names(directory) {
        guard let owner = Self.owner(of: found) else { continue }
        return Check(
          name, .warn,
          "the vault lies in " + Diagnostic.shown(directory) + ", which is " + owner
            + ": what copies it while it is in use copies half a change, and two machines that write to it"
            + " damage it",
          "move it out of there while it is locked, and have 'kura backup --to DIR' write copies there"
        )
      }
    }
    return Check(name, .ok, "no synced folder and no repository of git has the vault")
  }

  /// Whose mark a file is; nil for any other.
  private static func owner(of name: [UInt8]) -> String? {
    let marks = [
      (".git", "under git"), (".stfolder", "synced by Syncthing"),
      (".dropbox", "synced by Dropbox"), (".dropbox.cache", "synced by Dropbox"),
      (".nextcloudsync.log", "synced by Nextcloud"), (".owncloudsync.log", "synced by ownCloud"),
    ]
    if let mark = marks.first(where: { name.elementsEqual($0.0.utf8) }) { return mark.1 }
    // The database that both keep beside what they sync, under older names and newer ones.
    let isDatabase = name.count > 3 && name.suffix(3).elementsEqual(".db".utf8)
    let isTheirs = name.starts(with: ".sync_".utf8) || name.starts(with: "._sync_".utf8)
    return isDatabase && isTheirs ? "synced by Nextcloud or ownCloud" : nil
  }

  private func exposure(_ name: String, _ path: String, _ place: Machine.Place) -> Check? {
    guard !place.isOwn || place.mode & 0o077 != 0 else { return nil }
    return Check(
      name, .fail, "others than you can enter " + Diagnostic.shown(path),
      advice(path, place))
  }

  private func advice(_ path: String, _ place: Machine.Place) -> String {
    guard place.isOwn else { return "it belongs to another user: look at who made it" }
    return Diagnostic.command("chmod 700", on: path) ?? "make it yours alone"
  }

  private static func parent(_ path: String) -> String {
    let bytes = Array(path.utf8)
    guard let slash = bytes.lastIndex(of: UInt8(ascii: "/")), slash > 0 else { return "/" }
    return String(decoding: bytes[..<slash], as: UTF8.self)
  }
}

extension Machine.Place {
  /// Tells file systems apart by what matters here.
  enum Kind {
    case memory, network, other
  }

  /// By the numbers of statfs(2).
  var kind: Kind {
    switch fileSystem {
    case 0x0102_1994, 0x8584_58F6: .memory
    case 0x6969, 0xFF53_4D42, 0xFE53_4D42, 0x517B, 0x564C, 0x5346_414F, 0x6B41_4653, 0x00C3_6400,
      0x0102_1997, 0x6573_5546, 0x7375_7245:
      .network
    default: .other
    }
  }
}
