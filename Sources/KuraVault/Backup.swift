// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage
public import KuraTerms
internal import Synchronization

/// Copies a vault's file as it is at one moment, whole and checked; the work is for another thread, and takes
/// no key.
///
/// First comes ``copy()``, then whoever has the vault's keys may look at what was copied, and ``publish()``
/// gives it its name. Dropped before that, it leaves nothing.
public final class Backup: Sendable {
  /// Says why there is no backup; what stood in its place still does.
  public enum Failure: Error, Equatable, Sendable {
    /// The vault could not be read.
    case vault(VaultError)
    /// The backup could not be written.
    case target(VaultError)
    /// What stands there is nothing that a backup may take the place of.
    case refused(BackupFlaw)
    /// What was written is not what came back, or is no whole vault.
    case unsound
    /// It was stopped.
    case stopped
  }

  /// Tells what was made.
  public struct Made: Equatable, Sendable {
    /// How long the backup is, in bytes.
    public let byteCount: UInt64
    /// How many older ones were removed.
    public let removedCount: Int
    /// How many stay that would have been, if they did not have a later state than the vault.
    public let sparedCount: Int
  }

  private struct Papers: ~Copyable {
    var vault: LockedVault?
    var draft: FileDraft?
    var copied: Result<UInt64, Failure>?
    var made: Result<Made, Failure>?
    /// What this machine is to remember of the vault that a copy has become.
    var sight: FirstSight?
    /// The paths of those that would go when this one has its name.
    var overtaken: [String] = []
    /// The paths of those among them that have a later state than the vault.
    var later: Set<String> = []
  }

  /// Says what a copy is to be.
  private enum Aim {
    /// The vault as it is, one of so many; 0 for any number.
    case backup(keep: Int)
    /// Another vault, where nothing stands.
    case clone
  }

  private let papers: Mutex<Papers>
  private let watch = CopyWatch()
  private let isReading = Atomic(true)
  private let source: String
  private let target: String
  private let aim: Aim
  private let options: VaultOptions
  private let vault: VaultID
  private let identity: FileIdentity

  /// A backup of a vault that is open in a connection of its own.
  ///
  /// - Parameters:
  ///   - vault: The vault, locked; it is let go of when the copy is done.
  ///   - path: Where it is to stand; absolute.
  ///   - keep: How many of a series there are to be afterwards, this one among them; 0 keeps all.
  public convenience init(of vault: consuming LockedVault, to path: String, keeping keep: Int = 0) {
    self.init(of: vault, to: path, as: .backup(keep: keep))
  }

  /// A copy that becomes another vault before it gets its name.
  ///
  /// - Parameters:
  ///   - vault: As for a backup.
  ///   - path: Where it is to stand; absolute. What stands there is never written over.
  public convenience init(of vault: consuming LockedVault, toClone path: String) {
    self.init(of: vault, to: path, as: .clone)
  }

  private init(of vault: consuming LockedVault, to path: String, as aim: Aim) {
    source = vault.path
    target = path
    self.aim = aim
    options = vault.options
    self.vault = vault.id
    identity = vault.identity
    papers = Mutex(Papers(vault: consume vault))
  }

  /// Ends it, soon.
  public func stop() { watch.stop() }

  /// What it has done, and all that there is to do, in bytes.
  public var progress: (done: UInt64, total: UInt64) { watch.progress }

  /// What came of ``copy()``: how long the copy is; nil while it is under way.
  public var copied: Result<UInt64, Failure>? { papers.withLock { $0.copied } }

  /// What came of ``publish()``; nil while it is under way.
  public var made: Result<Made, Failure>? { papers.withLock { $0.made } }

  /// Whether the vault's file may still be read: until then its WAL cannot be cleared.
  public var holdsVault: Bool { isReading.load(ordering: .relaxed) }

  /// Whether somebody removed the copy before it had its name.
  public var isRemoved: Bool { papers.withLock { $0.draft?.isRemoved ?? false } }

  /// The copy's path while it has no other name.
  var draftPath: String? {
    papers.withLock { $0.draft?.place.path }
  }
}

// MARK: - The steps

extension Backup {
  /// Copies the vault, and checks all of the copy that can be checked without a key.
  public func copy() {
    guard let vault = papers.withLock({ $0.vault.take() }) else { return }
    defer { isReading.store(false, ordering: .relaxed) }
    do throws(Failure) {
      let draft = try copied(from: vault)
      papers.withLock { papers in
        papers.draft = draft
        papers.copied = .success(draft.byteCount)
      }
    } catch {
      papers.withLock { $0.copied = .failure(error) }
    }
  }

  private func copied(from vault: consuming LockedVault) throws(Failure) -> FileDraft {
    let place = try place()
    _ = try mayTake(place)
    FileDraft.sweep(place)
    let mark: String
    do throws(VaultError) { mark = try SlotID.fresh().hexadecimal } catch { throw .vault(error) }
    let draft = try atTarget(FileDraft.make(beside: place, mark: mark))
    do throws(CopyError) { try vault.storage.copyFile(at: source, to: draft, watch) } catch {
      throw Failure(error)
    }
    // The vault's lock does not wait for the disk of its backup.
    _ = consume vault
    isReading.store(false, ordering: .relaxed)
    guard try atTarget(isVault(draft.place)) else { throw .unsound }
    try atTarget(draft.sync())
    let overtaken =
      (try mayTake(place) ? [place.path] : []) + surplus(beside: place).map { $0.path }
    papers.withLock { $0.overtaken = overtaken }
    return draft
  }

  /// Whether a copy is a database without fault, of this vault.
  private func isVault(_ place: FilePlace) throws(StorageError) -> Bool {
    var storage = try Storage.openAsItStands(place.path)
    guard try storage.isSound() else { return false }
    return storage.vaultID() == vault
  }

  /// Gives the copy its name, and removes what there is too much of its series.
  public func publish() {
    let outcome: Result<Made, Failure>
    do throws(Failure) { outcome = .success(try published()) } catch { outcome = .failure(error) }
    papers.withLock { $0.made = outcome }
  }

  private func published() throws(Failure) -> Made {
    guard let draft = papers.withLock({ $0.draft.take() }) else { throw .stopped }
    let place = try place()
    let isTaken = try mayTake(place)
    let count = draft.byteCount
    switch aim {
    case .backup: try atTarget(draft.publish(as: place, replacing: isTaken))
    case .clone: return try published(draft, as: place)
    }
    let record = BackupRecord(vault: vault, time: options.now(), path: Array(place.path.utf8))
    // A machine that keeps no state does not know how old its backups are.
    try? BackupNote.write(record, in: options.stateDirectory)
    let (removed, spared) = prune(place)
    return Made(byteCount: count, removedCount: removed, sparedCount: spared)
  }
}

// MARK: - Clones

extension Backup {
  /// Notes that the copy has become another vault, which is whole.
  func noteClone(_ root: RootRecord, _ keys: borrowing Keyring) throws(VaultError) {
    let sight = try FirstSight(
      root, at: try fromStorage(FilePlace.resolve(target)), keys, in: options.stateDirectory)
    papers.withLock { $0.sight = sight }
  }

  private func published(_ draft: FileDraft, as place: FilePlace) throws(Failure) -> Made {
    // Never the vault itself under another name.
    guard let sight = papers.withLock({ $0.sight }) else { throw .stopped }
    guard !place.hasWAL else { throw .vault(.walLeftBehind) }
    try atTarget(draft.sync())
    let count = draft.byteCount
    do throws(StorageError) { try draft.publish(as: place, replacing: false) } catch {
      throw error == .exists ? .vault(.pathTaken) : Failure(ofTarget: error)
    }
    // A machine that keeps no state will say that it sees the vault for the first time.
    try? sight.write()
    return Made(byteCount: count, removedCount: 0, sparedCount: 0)
  }
}

// MARK: - Where it is to stand

extension Backup {
  private func place() throws(Failure) -> FilePlace {
    try atTarget(FilePlace.resolve(target))
  }

  /// Checks that nothing is lost when a backup takes a place.
  ///
  /// - Returns: Whether something stands there.
  private func mayTake(_ place: FilePlace) throws(Failure) -> Bool {
    let found: FileIdentity
    do throws(StorageError) { found = try place.identity() } catch {
      guard error == .missing else { throw Failure(ofTarget: error) }
      return false
    }
    if case .clone = aim { throw .vault(.pathTaken) }
    guard found != identity else { throw .refused(.vaultItself) }
    // What replaces a link leaves what it leads to; it is not meant all the same.
    guard place.target != identity else { throw .refused(.vaultItself) }
    if let flaw = flaw(of: place) { throw .refused(flaw) }
    guard !isLater(place) else { throw .refused(.newer) }
    return true
  }

  /// Why what stands there is no backup of this vault; nil for one that is.
  private func flaw(of place: FilePlace) -> BackupFlaw? {
    guard place.isFile else { return .notAFile }
    guard !place.hasWAL else { return .inUse }
    guard var storage = try? Storage.openAsItStands(place.path), let id = storage.vaultID() else {
      return .notAVault
    }
    return id == vault ? nil : .otherVault
  }

  /// The oldest of a series of which there are too many: they are told by their names and by what is in them.
  private func surplus(beside newest: FilePlace) -> [FilePlace] {
    guard case .backup(let keep) = aim, keep > 0, let front = BackupSeries.front(of: newest.name)
    else { return [] }
    let names = FilePlace.names(in: newest.directory).filter {
      $0 != newest.name && BackupSeries.front(of: $0) == front
    }
    return Array(
      names.sorted().reversed().map { newest.sibling($0) }
        .filter { (try? $0.identity()) != identity && flaw(of: $0) == nil }.dropFirst(keep - 1))
  }

  private func prune(_ newest: FilePlace) -> (removed: Int, spared: Int) {
    let surplus = surplus(beside: newest)
    let older = surplus.filter { !isLater($0) }
    let removed = older.filter { (try? $0.removeFile()) != nil }
    return (removed.count, surplus.count - older.count)
  }

  private func isLater(_ place: FilePlace) -> Bool {
    papers.withLock { $0.later.contains(place.path) }
  }

  /// Where those stand that would go when this one has its name: one of that name, and the oldest of its series.
  var overtaken: [String] { papers.withLock { $0.overtaken } }

  /// Leaves one of these where it is.
  func spare(_ path: String) { _ = papers.withLock { $0.later.insert(path) } }
}

extension Storage {
  /// The id in a vault's header; nil where that cannot be read.
  mutating func vaultID() -> VaultID? {
    guard (try? beginRead()) != nil else { return nil }
    defer { end() }
    guard let data = try? record(.header, .header),
      let header = try? VaultHeader(decoding: data, upTo: .second)
    else { return nil }
    return header.vault
  }
}

extension Backup.Failure {
  fileprivate init(_ error: CopyError) {
    switch error {
    case .source(let error): self = .vault(VaultError(error))
    case .draft(let error): self.init(ofTarget: error)
    case .differs: self = .unsound
    case .stopped: self = .stopped
    }
  }

  /// What a place for backups does: a directory that is not there is no missing vault.
  fileprivate init(ofTarget error: StorageError) {
    switch error {
    case .missing: self = .target(.io(Self.noEntry))
    case .exists, .exposedDirectory, .exposedFile, .notADatabase, .newerFormat, .schema, .damaged,
      .corrupt, .walOutOfReach:
      self = .unsound
    case .busy, .diskFull, .readOnly, .permissionDenied, .outOfMemory, .io:
      self = .target(VaultError(error))
    }
  }

  /// `ENOENT`.
  private static let noEntry: Int32 = 2
}

/// Takes a step at the place of a backup.
private func atTarget<Result: ~Copyable>(
  _ step: @autoclosure () throws(StorageError) -> Result
) throws(Backup.Failure) -> Result {
  do throws(StorageError) { return try step() } catch { throw Backup.Failure(ofTarget: error) }
}
