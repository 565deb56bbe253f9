// SPDX-License-Identifier: MIT

internal import CMinizip

/// Unpacks a zip archive that is in memory, by minizip: the files that it has, and no more than is taken.
struct Archive {
  /// The most files of an archive.
  static let mostFiles = 65_535
  /// The most bytes that all of it unpacks to.
  static let mostBytes = 256 << 20
  private static let longestName = 1_024

  /// Its files by their paths.
  private(set) var files: [[UInt8]: [UInt8]] = [:]

  /// Whether bytes begin as an archive does.
  static func isOne(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x50, 0x4B, 3, 4]) }

  /// Unpacks all of it, or says why not; the place of a flaw is the number of its file.
  ///
  /// - Parameter most: How many bytes it may unpack to.
  init(_ bytes: [UInt8], most: Int = mostBytes) throws(ReadingFlaw) {
    guard Self.isOne(bytes) else { throw ReadingFlaw(.notArchive) }
    var reader = Reader(most: most)
    let flaw = unsafe bytes.withUnsafeBufferPointer { bytes -> ReadingFlaw? in
      guard let start = bytes.baseAddress else { return ReadingFlaw(.notArchive) }
      var view = unsafe View(start: start, count: bytes.count)
      return unsafe withUnsafeMutablePointer(to: &view) { view in
        do throws(ReadingFlaw) {
          unsafe try reader.readAll(view)
          return nil
        } catch { return error }
      }
    }
    if let flaw { throw flaw }
    files = reader.files
  }

  /// Holds the bytes as minizip reads them.
  @unsafe private struct View {
    let start: UnsafePointer<UInt8>
    let count: Int
    var offset = 0

    /// Where a seek leads; nil outside of the bytes.
    mutating func seek(_ distance: UInt64, from origin: Int32) -> Bool {
      let base: Int
      switch origin {
      case ZLIB_FILEFUNC_SEEK_SET: base = 0
      case ZLIB_FILEFUNC_SEEK_CUR: base = unsafe offset
      case ZLIB_FILEFUNC_SEEK_END: base = unsafe count
      default: return false
      }
      guard distance <= UInt64(unsafe count - base) else { return false }
      unsafe offset = base + Int(distance)
      return true
    }
  }

  /// Goes from file to file.
  private struct Reader {
    let most: Int
    var files: [[UInt8]: [UInt8]] = [:]
    private var total = 0
    private var room = [UInt8](repeating: 0, count: 65_536)

    init(most: Int) { self.most = most }

    mutating func readAll(_ view: UnsafeMutablePointer<View>) throws(ReadingFlaw) {
      var calls = unsafe Self.calls(view)
      guard let archive = unsafe unzOpen2_64("", &calls) else { throw ReadingFlaw(.notArchive) }
      defer { unsafe unzClose(archive) }
      var facts = unz_global_info64()
      guard unsafe unzGetGlobalInfo64(archive, &facts) == UNZ_OK else {
        throw ReadingFlaw(.notArchive)
      }
      guard facts.number_entry <= UInt64(Archive.mostFiles) else {
        throw ReadingFlaw(.archiveTooLarge)
      }
      var status = unsafe unzGoToFirstFile(archive)
      var place: UInt64 = 0
      while status == UNZ_OK {
        place += 1
        unsafe try take(archive, place)
        status = unsafe unzGoToNextFile(archive)
      }
      guard status == UNZ_END_OF_LIST_OF_FILE, place == facts.number_entry else {
        throw ReadingFlaw(.archiveBroken, at: place + 1)
      }
    }

    /// Takes the file that the archive stands at.
    private mutating func take(
      _ archive: UnsafeMutableRawPointer, _ place: UInt64
    ) throws(ReadingFlaw) {
      var facts = unz_file_info64()
      var text = [CChar](repeating: 0, count: Archive.longestName)
      guard
        unsafe unzGetCurrentFileInfo64(
          archive, &facts, &text, UInt(text.count), nil, 0, nil, 0) == UNZ_OK
      else { throw ReadingFlaw(.archiveBroken, at: place) }
      guard facts.size_filename <= UInt(Archive.longestName) else {
        throw ReadingFlaw(.archivePath, at: place)
      }
      let name = text[..<Int(facts.size_filename)].map { UInt8(bitPattern: $0) }
      guard Archive.isPath(name) else { throw ReadingFlaw(.archivePath, at: place) }
      guard facts.flag & 1 == 0 else { throw ReadingFlaw(.archiveSealed, at: place) }
      if name.last == UInt8(ascii: "/") { return }
      guard files[name] == nil else { throw ReadingFlaw(.archiveTwice, at: place) }
      let content = unsafe try content(of: archive, place)
      guard UInt64(content.count) == facts.uncompressed_size else {
        throw ReadingFlaw(.archiveBroken, at: place)
      }
      files[name] = content
    }

    private mutating func content(
      of archive: UnsafeMutableRawPointer, _ place: UInt64
    ) throws(ReadingFlaw) -> [UInt8] {
      guard unsafe unzOpenCurrentFile(archive) == UNZ_OK else {
        throw ReadingFlaw(.archiveBroken, at: place)
      }
      var content: [UInt8] = []
      var count: Int32
      repeat {
        let capacity = UInt32(room.count)
        count = unsafe room.withUnsafeMutableBytes { room in
          unsafe unzReadCurrentFile(archive, room.baseAddress, capacity)
        }
        guard count > 0 else { break }
        total += Int(count)
        guard total <= most else {
          unsafe unzCloseCurrentFile(archive)
          throw ReadingFlaw(.archiveTooLarge, at: place)
        }
        content += room[..<Int(count)]
      } while true
      // The end compares the sum of the bytes.
      guard unsafe unzCloseCurrentFile(archive) == UNZ_OK, count == 0 else {
        throw ReadingFlaw(.archiveBroken, at: place)
      }
      return content
    }

    /// What minizip calls in place of the system's files.
    private static func calls(_ view: UnsafeMutablePointer<View>) -> zlib_filefunc64_def {
      unsafe zlib_filefunc64_def(
        zopen64_file: { view, _, _ in unsafe view },
        zread_file: { view, _, room, wanted in
          guard let view = unsafe view?.assumingMemoryBound(to: View.self), let room = unsafe room
          else { return 0 }
          let left = unsafe view.pointee.count - view.pointee.offset
          let count = Int(min(wanted, UInt(left)))
          unsafe room.copyMemory(from: view.pointee.start + view.pointee.offset, byteCount: count)
          unsafe view.pointee.offset += count
          return UInt(count)
        },
        zwrite_file: { _, _, _, _ in 0 },
        ztell64_file: { view, _ in
          UInt64(unsafe view?.assumingMemoryBound(to: View.self).pointee.offset ?? 0)
        },
        zseek64_file: { view, _, distance, origin in
          guard let view = unsafe view?.assumingMemoryBound(to: View.self) else { return -1 }
          return unsafe view.pointee.seek(UInt64(distance), from: origin) ? 0 : -1
        },
        zclose_file: { _, _ in 0 }, zerror_file: { _, _ in 0 }, opaque: view)
    }
  }

  /// Whether a name stays below the folder that an archive is unpacked to, wherever that is done.
  private static func isPath(_ name: [UInt8]) -> Bool {
    guard !name.isEmpty, !name.contains(0), !name.contains(UInt8(ascii: "\\")) else { return false }
    var parts = name.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
    // A folder.
    if parts.last?.isEmpty == true { parts.removeLast() }
    return !parts.contains { part in
      part.isEmpty || part.elementsEqual(".".utf8) || part.elementsEqual("..".utf8)
    }
  }
}
