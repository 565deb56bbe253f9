// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraProtocol
internal import KuraStore
internal import KuraTerms

/// Keeps the files in a folder that something carries: a synchronised one, a stick, a network's.
///
/// What is made has the permissions of the folder itself, whatever the umask: who may come in there is its owner's
/// decision, and all that is written is sealed. Below the folder no link is followed, and what is no regular file is
/// nothing.
final class FolderStore: Store {
  /// The folder of the vault.
  let path: String
  private let above: String
  private let name: String
  /// Objects that are written and have not got their names yet, which they get when they are on the disk.
  private var drafts: [FolderDraft] = []
  private var draftedBytes = 0
  /// Where this machine's objects stand, and whether what was left there is gone.
  private var own: [Substring] = []
  private var isSwept = false
  /// Nil while it rests: a folder that is held open is never unmounted.
  private var root: FolderHandle?
  private var changes: FolderWatch?
  /// The permissions of what is made.
  private let mode: mode_t
  /// Called before each step of a write; a test's own ends there.
  private let step: (WriteStep) -> Int32

  /// Names what is done to write a file, in this order.
  enum WriteStep: CaseIterable {
    case begin, write, sync, rename, syncFolder
  }

  /// Opens the folder of a vault below one that is there.
  ///
  /// - Parameter makes: Whether it is made where there is none, and the folder above as well.
  init(
    at above: String, of vault: [UInt8], makes: Bool,
    step: @escaping (WriteStep) -> Int32 = { _ in 0 }
  ) throws(StoreError) {
    name = StorePlace.root(of: vault)
    path = above + "/" + name
    self.above = above
    self.step = step
    if makes { try FolderHandle.make(above) }
    let outer = try FolderHandle(at: above)
    mode = outer.mode & 0o777
    if let root = try outer.folder(name, in: above) {
      self.root = root
      return
    }
    guard makes else { throw .empty(path: above) }
    root = try outer.makeFolder(name, mode, in: above)
  }

  /// How many bytes are written at most before they get their names: the disk takes them while the next come.
  private static let mostDrafted = 32 << 20
  /// How many files these are at most: each holds two descriptors, of which a program has 1,024 at first.
  private static let mostDrafts = 256

  deinit { for draft in drafts { draft.discard() } }

  func settle() throws(StoreError) {
    guard !drafts.isEmpty else { return }
    defer {
      for draft in drafts { draft.discard() }
      (drafts, draftedBytes) = ([], 0)
    }
    for draft in drafts {
      try check(.sync)
      try draft.sync(in: path)
    }
    for draft in drafts {
      try check(.rename)
      try draft.name(in: path)
    }
    try check(.syncFolder)
    for draft in drafts { try draft.folder.sync(in: path) }
    for draft in drafts { draft.sweep(in: path) }
    if let now = drafts.last?.time { sweep(now: now) }
  }

  /// Takes away what programs that were killed have left among the objects of this machine, once for each that is opened: an
  /// object is sealed anew then, gets another name, and stands in another folder.
  private func sweep(now: Int) {
    guard !own.isEmpty, !isSwept,
      let folder = try? open(own, makes: false), let names = try? folder.names(in: path)
    else { return }
    isSwept = true
    for name in names {
      guard let next = try? folder.folder(name, in: path) else { continue }
      FolderDraft.sweep(next, now: now, in: path)
    }
  }

  func leave() {
    if let outer = try? FolderHandle(at: above) { outer.removeFolder(name) }
  }

  func heads() throws(StoreError) -> [StorePlace] {
    try files(in: [StorePlace.heads[...]]).compactMap { StorePlace(StorePlace.heads + "/" + $0) }
  }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    try settle()
    let below = StorePlace.objects(of: device)
    let folders = below.split(separator: "/")
    guard let folder = try open(folders, makes: false) else { return [] }
    var found: [StorePlace] = []
    for name in try folder.names(in: path) {
      let hashes = try files(in: folders + [name[...]])
      found += hashes.compactMap { StorePlace(below + "/" + name + "/" + $0) }
      guard found.count <= ProtocolLimit.storeNames else {
        throw .crowded(path: path + "/" + below)
      }
    }
    return found
  }

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    try settle()
    let (folders, name) = Self.parts(place)
    guard let folder = try open(folders, makes: false) else { return nil }
    return try folder.read(name, atMost: most, in: path)
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    let (folders, name) = Self.parts(place)
    guard let folder = try open(folders, makes: true) else { throw .missing(path: path) }
    let isHead = if case .head = place { true } else { false }
    // A head names what was put before it; and of one name there is one draft.
    if isHead || drafts.contains(where: { $0.wanted == name }) { try settle() }
    try check(.begin)
    if !isHead { own = Array(folders.dropLast()) }
    let draft = try FolderDraft(name, in: folder, mode & 0o666, path)
    drafts.append(draft)
    do throws(StoreError) {
      try check(.write)
      try draft.write(bytes, in: path)
    } catch {
      drafts.removeLast().discard()
      throw error
    }
    draftedBytes += bytes.count
    let isMuch = draftedBytes >= Self.mostDrafted || drafts.count >= Self.mostDrafts
    if isHead || isMuch { try settle() }
  }

  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    try settle()
    let (folders, name) = Self.parts(place)
    guard let folder = try open(folders, makes: false) else { return true }
    folder.remove("." + name)
    try folder.remove(name, in: path)
    try folder.sync(in: path)
    // Of a device that was removed nobody else takes them away.
    FolderDraft.sweep(folder, now: folder.time(of: "."), in: path)
    return true
  }

  // MARK: - News

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] {
    guard let folder = try open([StorePlace.heads[...]], makes: false) else { return [] }
    let names = try heads().map { StorePlace.hexadecimal($0.device) }
    return names.sorted().filter { $0 != StorePlace.hexadecimal(own) }
      .flatMap { Array($0.utf8) + folder.mark(of: $0) }
  }

  func watch() throws(StoreError) {
    changes = FolderWatch([path, path + "/" + StorePlace.heads], itself: above)
  }

  func rests() -> Bool {
    for draft in drafts { draft.discard() }
    (root, drafts, draftedBytes) = (nil, [], 0)
    return true
  }

  var bell: Int32 { changes?.descriptor ?? -1 }

  func answerBell() throws(StoreError) -> Bool {
    // What was made since is watched from now on.
    try watch()
    return true
  }

  private func check(_ next: WriteStep) throws(StoreError) {
    let failed = step(next)
    if failed != 0 { throw StoreError(errno: failed, path) }
  }

  /// The folders that a file stands in, and its name there.
  private static func parts(_ place: StorePlace) -> (folders: [Substring], name: String) {
    var parts = place.text.split(separator: "/")
    let name = String(parts.removeLast())
    return (parts, name)
  }

  /// The names of the regular files in a folder; none where there is none.
  private func files(in folders: [Substring]) throws(StoreError) -> [String] {
    guard let folder = try open(folders, makes: false) else { return [] }
    return try folder.names(in: path).filter { folder.isFile($0) }
  }

  /// Goes down to a folder; nil where none is made and there is none, but a link or a file at most.
  private func open(_ folders: [Substring], makes: Bool) throws(StoreError) -> FolderHandle? {
    guard var folder = root else { throw .missing(path: path) }
    var above = path
    for name in folders.map(String.init) {
      let next: FolderHandle?
      do throws(StoreError) { next = try folder.folder(name, in: above) } catch {
        guard case .notAFolder = error, !makes else { throw error }
        return nil
      }
      if let next {
        folder = next
      } else {
        guard makes else { return nil }
        folder = try folder.makeFolder(name, mode, in: above)
      }
      above += "/" + name
    }
    return folder
  }
}
