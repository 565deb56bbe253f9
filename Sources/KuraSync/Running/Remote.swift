// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraTerms

/// Says where the store of a vault is.
struct Remote: Equatable, Sendable {
  private static let scheme = "dir:"

  /// The folder, absolute.
  let path: String

  /// As people write it.
  var text: String { Remote.scheme + path }

  /// Reads what people write.
  init(_ text: String) throws(SyncFailure) {
    guard text.utf8.starts(with: Remote.scheme.utf8) else {
      throw SyncFailure(
        .usage, "there is no store " + SyncWords.harmless(text),
        hint: "name a folder: 'kura sync init dir:FOLDER'")
    }
    var path = String(text.dropFirst(Remote.scheme.count))
    // The shell leaves it as it is behind a colon.
    if path == "~" || path.hasPrefix("~/"), let home = Environment.value("HOME") {
      path = home + path.dropFirst()
    }
    guard !path.isEmpty, !path.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
      throw SyncFailure(.usage, "dir: is followed by the path of a folder")
    }
    do throws(PathError) { self.path = try VaultPath(at: path).path } catch {
      throw SyncFailure(.usage, error.description)
    }
  }

  /// Opens it.
  ///
  /// - Parameter makes: Whether it is made for the vault where there is nothing of it yet.
  func open(of vault: [UInt8], makes: Bool = false) throws(SyncFailure) -> FolderStore {
    do throws(StoreError) {
      return try FolderStore(at: path, of: vault, makes: makes)
    } catch { throw SyncFailure(error, at: text) }
  }
}

// MARK: - What this machine notes

extension Remote {
  /// The one that this machine noted for a vault; nil for none.
  static func noted(for vault: [UInt8]) throws(SyncFailure) -> Remote? {
    guard let bytes = Machine().file(try place(of: vault)) else { return nil }
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    return try Remote(line)
  }

  /// Notes it for a vault.
  func note(for vault: [UInt8]) throws(SyncFailure) {
    let place = try Remote.place(of: vault)
    let directory = String(place[..<(place.lastIndex(of: "/") ?? place.endIndex)])
    do throws(FileError) {
      try FileError.check(Int(System.makeDirectory(directory)))
      var file = try OutputFile.begin(at: place)
      try file.write((text + "\n").utf8.span)
      try file.commit()
    } catch {
      throw SyncFailure(
        .inputOutput, SyncWords.harmless(place) + ": " + SystemMessage.text(error.errno))
    }
  }

  private static func place(of vault: [UInt8]) throws(SyncFailure) -> String {
    do throws(PathError) {
      return try UserDirectory.device() + "/" + StorePlace.hexadecimal(vault) + ".remote"
    } catch { throw SyncFailure(.failure, error.description) }
  }
}
