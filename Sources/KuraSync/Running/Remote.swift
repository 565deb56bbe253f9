// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

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
    do throws(PathError) {
      guard let note = try StoreNote.read(for: vault) else { return nil }
      return try? Remote(note.remote)
    } catch { throw SyncFailure(.failure, error.description) }
  }

  /// Notes it for a vault, and how it was when it was met.
  ///
  /// - Parameters:
  ///   - met: When that was, in ms of Unix time; 0 for never.
  ///   - news: What was noticed then.
  func note(
    for vault: [UInt8], met: UInt64 = 0, _ news: [SyncNews] = []
  ) throws(SyncFailure) {
    var note = StoreNote(text)
    note.met = met
    note.notices = news.map { StoreNote.Notice($0.notice, of: $0.device) }
    let place: String
    do throws(PathError) { place = try StoreNote.place(of: vault) } catch {
      throw SyncFailure(.failure, error.description)
    }
    do throws(FileError) { try note.write(at: place) } catch {
      throw SyncFailure(
        .inputOutput, SyncWords.harmless(place) + ": " + SystemMessage.text(error.errno))
    }
  }
}
