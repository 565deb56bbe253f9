// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraFormat
internal import KuraStorage

/// Remembers which vault was last unlocked at each path of this machine, so that two vaults of one owner that were
/// exchanged are told apart before anything of them is served. It has no key: whoever can write the state
/// directory is the owner.
struct PlaceFile {
  /// The file's name in the state directory.
  static let name = "places"
  /// How many paths are remembered at most.
  private static let mostRecords = 1_024
  /// A lock holder has a write and a sync to do, in milliseconds.
  private static let patience = 50

  private let directory: String
  /// The records of the file; nil for one that was torn.
  private var records: [PlaceRecord?] = []

  /// Reads the file; one that is missing remembers nothing.
  ///
  /// - Throws: ``VaultError/stateFile(_:path:)`` for what stands in its place and cannot be used: nothing is told
  ///   apart by it.
  init(in directory: String) throws(VaultError) {
    self.directory = directory
    let size = PlaceRecord.byteCount
    guard let place = try? StatePlace.file(Self.name, in: directory) else { return }
    let bytes: [UInt8]
    do throws(StorageError) { bytes = try StateFile.peek(place, size * Self.mostRecords) } catch {
      if error == .missing { return }
      // In a directory that cannot be entered nothing is remembered at all.
      if error == .permissionDenied, (try? place.identity()) == nil { return }
      let isDenied = error == .permissionDenied
      throw VaultError(isDenied ? .io(EACCES) : error, ofState: Self.name, in: directory)
    }
    for start in stride(from: 0, to: bytes.count, by: size) {
      let record = Array(bytes.dropFirst(start).prefix(size))
      records.append(try? PlaceRecord(decoding: record.span))
    }
  }

  /// The vault that was last unlocked at a path; nil when none is known.
  func vault(at path: [UInt8]) -> VaultID? {
    for case let record? in records where record.path == path { return record.vault }
    return nil
  }

  /// Whether a record was torn, which may have been any path's.
  var isTorn: Bool { records.contains { $0 == nil } }

  /// Whether the vault was unlocked, or made, anywhere.
  func knows(_ vault: VaultID) -> Bool { records.contains { $0?.vault == vault } }

  /// Where the vault was unlocked, or made, if nothing else was there since.
  func paths(of vault: VaultID) -> [[UInt8]] {
    records.compactMap { record in record?.vault == vault ? record?.path : nil }
  }

  /// Notes that a vault was unlocked, or made, at a path; waits for the disk where that is news.
  func note(_ vault: VaultID, at path: [UInt8]) throws(VaultError) {
    guard self.vault(at: path) != vault else { return }
    let record = PlaceRecord(vault: vault, path: path)
    try fromStorage(FilePlace.makeDirectory(directory))
    let place = try fromStorage(FilePlace.resolve("\(directory)/\(Self.name)"))
    let isNew = (try? place.identity()) == nil
    let file = try fromStorage(
      StateFile.open(place, lock: .exclusive, creating: true, patience: Self.patience))
    // Others may have written since.
    let start = try PlaceFile(in: directory).index(for: record.path) * PlaceRecord.byteCount
    do {
      try file.write(record.encoded.span, at: start, length: start + PlaceRecord.byteCount)
      if isNew { try place.syncDirectory() }
    } catch { throw VaultError(error) }
  }

  /// Where the record of a path goes: in its own place, behind all others, or where nothing stands any more.
  private func index(for path: [UInt8]) -> Int {
    let own = records.firstIndex { $0?.path == path } ?? records.firstIndex { $0 == nil }
    if let own { return own }
    if records.count < Self.mostRecords { return records.count }
    let left = records.firstIndex { record in
      guard let record else { return true }
      let path = String(decoding: record.path, as: UTF8.self)
      return (try? FilePlace.resolve(path).identity()) == nil
    }
    return left ?? 0
  }
}

extension PlaceFile {
  /// How the moment in the name of a draft looks, with 0 for any digit.
  private static let moment = Array("00000000-000000".utf8)

  /// Whether a vault was made at a path, and never was at another, as a draft for a third: `reset` has a vault
  /// made beside the old one, and gives it that one's name.
  func isDraft(_ vault: VaultID, at path: [UInt8], for target: [UInt8]) -> Bool {
    let isElsewhere = records.contains { $0?.vault == vault && $0?.path != path }
    return !isElsewhere && Self.isDraft(path, for: target)
  }

  /// Whether a path is that of a draft for another.
  static func isDraft(_ path: [UInt8], for target: [UInt8]) -> Bool {
    let mark = Array(".reset-".utf8)
    let front = path.dropLast(moment.count)
    guard path.count > moment.count, front.suffix(mark.count).elementsEqual(mark) else {
      return false
    }
    for (byte, form) in zip(path.suffix(moment.count), moment) {
      let isDigit = UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
      guard form == UInt8(ascii: "0") ? isDigit : byte == form else { return false }
    }
    // The front of a long path is cut off.
    let start = front.dropLast(mark.count)
    let isCut = target.count == SeenRecord.longestPath
    return isCut ? target.suffix(start.count).elementsEqual(start) : start.elementsEqual(target)
  }
}

extension UnlockedVault {
  /// Compares the vault with the one that was last unlocked at its path.
  ///
  /// - Parameter last: Where this one was then; nil when this machine never saw it.
  mutating func checkPlace(
    lastAt last: [UInt8]?, _ isAccepted: Bool
  ) throws(VaultError) {
    let path = noted(path: place.path)
    let places = try PlaceFile(in: options.stateDirectory)
    let isDraft = last.map { places.isDraft(id, at: $0, for: path) } ?? false
    guard options.checks.contains(.place), !isDraft else { return }
    let known = places.vault(at: path)
    if known == nil, places.isTorn { notices.insert(.seenDamaged) }
    if let known, known != id {
      guard isAccepted else { throw .exchanged(lastPath: last ?? []) }
      notices.insert(.exchangeAccepted)
    } else if let last, last != path {
      notices.insert(.moved)
    }
  }

  /// Compares the open vault with the one that was last unlocked at another path that leads to its file.
  ///
  /// - Returns: Whether that was another, which was accepted.
  /// - Throws: ``VaultError/exchanged(lastPath:)``.
  public func checkPlace(
    _ path: String, accepting isAccepted: Bool = false
  ) throws(VaultError) -> Bool {
    guard let other = try? FilePlace.resolve(path) else { return false }
    let path = noted(path: other.path)
    let places = try PlaceFile(in: options.stateDirectory)
    guard let known = places.vault(at: path), known != id else { return false }
    guard isAccepted else { throw .exchanged(lastPath: noted(path: place.path)) }
    try places.note(id, at: path)
    return true
  }
}
