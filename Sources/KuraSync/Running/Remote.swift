// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import KuraStore

/// Says where the store of a vault is.
struct Remote: Equatable, Sendable {
  /// Says what keeps the files.
  enum Kind: Equatable, Sendable {
    /// The folder at an absolute path.
    case folder(String)
    /// What rclone knows by this name and path.
    case rclone(String)
    /// The database at an address, as libpq reads it.
    case postgres(String)
  }

  let kind: Kind

  /// As people write it.
  var text: String {
    switch kind {
    case .folder(let path): "dir:" + path
    case .rclone(let place): "rclone:" + place
    case .postgres(let address): address
    }
  }

  /// Reads what people write.
  init(_ text: String) throws(SyncFailure) {
    if let path = Self.rest(of: text, behind: "dir:") {
      kind = .folder(try Self.folder(path))
    } else if let place = Self.rest(of: text, behind: "rclone:") {
      kind = .rclone(try Self.place(place))
    } else if text.hasPrefix("postgres://") || text.hasPrefix("postgresql://") {
      kind = .postgres(try Self.address(text))
    } else {
      throw SyncFailure(
        .usage, "there is no store " + SyncWords.harmless(Self.scheme(of: text)),
        hint: "name a folder: 'kura sync init dir:FOLDER'; kura-sync(1) has what else there is")
    }
  }

  private static func rest(of text: String, behind scheme: String) -> String? {
    text.utf8.starts(with: scheme.utf8) ? String(text.dropFirst(scheme.count)) : nil
  }

  /// What stands before the rest, in which a password may be; all of it where nothing does.
  private static func scheme(of text: String) -> String {
    text.firstIndex(of: ":").map { String(text[...$0]) } ?? text
  }

  private static func isPlain(_ text: String) -> Bool {
    !text.isEmpty && !text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
  }

  private static func folder(_ named: String) throws(SyncFailure) -> String {
    var path = named
    // The shell leaves it as it is behind a colon.
    if path == "~" || path.hasPrefix("~/"), let home = Environment.value("HOME") {
      path = home + path.dropFirst()
    }
    guard isPlain(path) else {
      throw SyncFailure(.usage, "dir: is followed by the path of a folder")
    }
    do throws(PathError) { return try VaultPath(at: path).path } catch {
      throw SyncFailure(.usage, error.description)
    }
  }

  /// A name, a colon, a path; what begins with a colon tells rclone all that there is to know.
  private static func place(_ named: String) throws(SyncFailure) -> String {
    // What begins with a hyphen would be an option of rclone's.
    guard isPlain(named), named.dropFirst().contains(":"), !named.hasPrefix("-") else {
      throw SyncFailure(
        .usage, "rclone: is followed by what rclone calls the place: NAME:PATH",
        hint: "'rclone listremotes' says which names there are")
    }
    guard !RemoteSecrets.standIn(place: named) else {
      throw SyncFailure(
        .usage, secretStands,
        hint: "give the place a name by 'rclone config', and say 'kura sync init rclone:NAME:PATH'")
    }
    var place = named
    while place.hasSuffix("/"), !place.hasSuffix(":/") { place.removeLast() }
    return place
  }

  private static let secretStands =
    "a password or a key stands in the address, where other programs and the history of the shell have it"

  /// An address without a password: that would stand where every program of the machine sees it.
  private static func address(_ text: String) throws(SyncFailure) -> String {
    let parts = text.split(separator: "//", maxSplits: 1, omittingEmptySubsequences: false)
    guard !RemoteSecrets.standIn(address: parts[1]) else {
      throw SyncFailure(
        .usage, secretStands,
        hint: "put it into ~/.pgpass, or use a certificate: see kura-sync(1)")
    }
    guard isPlain(text), !parts[1].isEmpty else {
      throw SyncFailure(.usage, "postgres:// is followed by an address: USER@HOST/DATABASE")
    }
    return text
  }

  /// Opens it.
  ///
  /// - Parameter makes: Whether it is made for the vault where there is nothing of it yet.
  func open(of vault: [UInt8], makes: Bool = false) throws(SyncFailure) -> any Store {
    do throws(StoreError) { return try store(of: vault, makes: makes) } catch {
      throw SyncFailure(error, at: text)
    }
  }

  /// The same, with the store's own failures.
  func store(of vault: [UInt8], makes: Bool) throws(StoreError) -> any Store {
    switch kind {
    case .folder(let path): return try FolderStore(at: path, of: vault, makes: makes)
    case .rclone(let place):
      return try RcloneStore(at: place, of: vault, makes: makes, by: RcloneProgram())
    case .postgres(let address):
      return try ProgramStore(
        by: "kura-sync-postgres", from: "kura-sync-postgres", at: address, of: vault, makes: makes)
    }
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

  /// Notes how it was when it was met, unless the owner has named another one meanwhile.
  func renew(
    for vault: [UInt8], met: UInt64, _ news: [SyncNews]
  ) throws(SyncFailure) {
    if try Self.noted(for: vault) == self { try note(for: vault, met: met, news) }
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
