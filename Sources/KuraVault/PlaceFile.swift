// SPDX-License-Identifier: MIT

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
  /// What is known; nil for a record that was torn.
  private var records: [PlaceRecord?] = []

  /// Reads the file; one that is missing, or cannot be read, remembers nothing.
  init(in directory: String) {
    self.directory = directory
    let size = PlaceRecord.byteCount
    guard let place = try? FilePlace.resolve("\(directory)/\(Self.name)"),
      let bytes = try? StateFile.peek(place, size * Self.mostRecords)
    else { return }
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

  /// Notes that a vault was unlocked, or made, at a path; waits for the disk where that is news.
  func note(_ vault: VaultID, at path: [UInt8]) throws(VaultError) {
    guard self.vault(at: path) != vault else { return }
    let record = PlaceRecord(vault: vault, path: path)
    do {
      try FilePlace.makeDirectory(directory)
      let place = try FilePlace.resolve("\(directory)/\(Self.name)")
      let isNew = (try? place.identity()) == nil
      let file = try StateFile.open(
        place, lock: .exclusive, creating: true, patience: Self.patience)
      // Others may have written since.
      let start = PlaceFile(in: directory).index(for: record.path) * PlaceRecord.byteCount
      try file.write(record.encoded.span, at: start, length: start + PlaceRecord.byteCount)
      if isNew { try place.syncDirectory() }
    } catch {
      throw VaultError(error, about: .root)
    }
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
  /// The bytes behind the mark in the name of a draft: a moment, as `20261122-131500`.
  private static let momentCount = 15

  /// Whether a path is that of a draft for another: `reset` has a vault made beside the old one, and gives it that
  /// one's name.
  static func isDraft(_ path: [UInt8], for target: [UInt8]) -> Bool {
    let mark = Array(".reset-".utf8)
    let front = path.dropLast(momentCount)
    guard path.count > momentCount, front.suffix(mark.count).elementsEqual(mark) else {
      return false
    }
    // The front of a long path is cut off.
    let start = front.dropLast(mark.count)
    let isCut = target.count == SeenRecord.longestPath
    return isCut ? target.suffix(start.count).elementsEqual(start) : start.elementsEqual(target)
  }
}
