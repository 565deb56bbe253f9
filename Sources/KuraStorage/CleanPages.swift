// SPDX-License-Identifier: MIT

internal import CSQLite

/// SQLite's own way to files, which also clears the unused middle of each page that it writes.
///
/// `secure_delete` zeroes a cell that is deleted. But where cells go from page to page, SQLite lays a
/// page out anew from its end, and what stood in front of the new cells stays (`rebuildPage` in
/// btree.c): stale copies of rows, which nothing would overwrite when the rows themselves go. So they
/// are cleared on the way into the database file, at a checkpoint. The WAL is truncated as a whole.
enum CleanPages {
  /// The most pages of a file, 512 GiB: a page without cells may begin with the number of another, and
  /// from 2²⁵ on the first byte of such a number is the mark of a page with cells.
  static let mostPages = 0x1FF_FFFF

  /// The name to open a database with; nil where SQLite refuses another.
  nonisolated(unsafe) static let name: UnsafePointer<CChar>? = unsafe register()

  private static func register() -> UnsafePointer<CChar>? {
    kura_sqlite_count_no_memory()
    guard let original = unsafe sqlite3_vfs_find("unix") else { return nil }
    // Else the disk rests while the WAL is written or moved into the file, and everything waits when it is
    // synced. Paid for by a value of 1 GiB: 3.4 s without, 2.5 s with it.
    unsafe kura_sqlite_write_early(original)
    let text: StaticString = "kura"
    let name = unsafe UnsafeRawPointer(text.utf8Start).assumingMemoryBound(to: CChar.self)
    let own = UnsafeMutablePointer<sqlite3_vfs>.allocate(capacity: 1)
    unsafe own.initialize(to: original.pointee)
    unsafe own.pointee.pNext = nil
    unsafe own.pointee.zName = unsafe name
    unsafe own.pointee.xOpen = open
    guard unsafe sqlite3_vfs_register(own, 0) == SQLITE_OK else { return nil }
    return unsafe name
  }
}

// MARK: - What SQLite calls

/// Lists what a file can do, with SQLite's own behind it.
@unsafe private struct Methods {
  var own: sqlite3_io_methods
  var original: UnsafePointer<sqlite3_io_methods>
}

/// Opens a file as SQLite itself does, and puts ``write`` and ``close`` in front of a database's own.
private let open:
  @convention(c) (
    UnsafeMutablePointer<sqlite3_vfs>?, UnsafePointer<CChar>?, UnsafeMutablePointer<sqlite3_file>?,
    Int32, UnsafeMutablePointer<Int32>?
  ) -> Int32 = { _, path, file, flags, outFlags in
    guard let original = unsafe sqlite3_vfs_find("unix"), let open = unsafe original.pointee.xOpen
    else { return SQLITE_CANTOPEN }
    let isTemporary = flags & SQLITE_OPEN_TEMP_DB != 0
    let name = unsafe isTemporary ? path ?? TemporaryFile.current : path
    let code = unsafe open(original, name, file, flags, outFlags)
    guard code == SQLITE_OK, flags & SQLITE_OPEN_MAIN_DB != 0, let file = unsafe file,
      let plain = unsafe file.pointee.pMethods
    else { return code }
    let methods = UnsafeMutablePointer<Methods>.allocate(capacity: 1)
    unsafe methods.initialize(to: Methods(own: plain.pointee, original: plain))
    unsafe methods.pointee.own.xWrite = unsafe write
    unsafe methods.pointee.own.xClose = unsafe close
    unsafe file.pointee.pMethods = UnsafePointer(
      UnsafeRawPointer(methods).assumingMemoryBound(to: sqlite3_io_methods.self))
    return code
  }

private let close: @convention(c) (UnsafeMutablePointer<sqlite3_file>?) -> Int32 = { file in
  guard let file = unsafe file, let methods = unsafe methods(of: file),
    let close = unsafe methods.pointee.original.pointee.xClose
  else { return SQLITE_IOERR }
  let code = unsafe close(file)
  unsafe methods.deallocate()
  return code
}

private let write:
  @convention(c) (
    UnsafeMutablePointer<sqlite3_file>?, UnsafeRawPointer?, Int32, sqlite3_int64
  ) -> Int32 = { file, data, count, offset in
    guard let file = unsafe file, let methods = unsafe methods(of: file), let data = unsafe data,
      let write = unsafe methods.pointee.original.pointee.xWrite
    else { return SQLITE_IOERR }
    let page = unsafe UnsafeRawBufferPointer(start: data, count: Int(count))
    guard let gap = unsafe unusedMiddle(of: page, header: offset == 0 ? 100 : 0),
      unsafe !isZero(page, gap)
    else { return unsafe write(file, data, count, offset) }
    return unsafe withUnsafeTemporaryAllocation(byteCount: page.count, alignment: 8) { copy in
      unsafe copy.copyMemory(from: page)
      for index in gap { unsafe copy[index] = 0 }
      return unsafe write(file, copy.baseAddress, count, offset)
    }
  }

/// Eight bytes at a time: every page that is written is looked at.
private func isZero(_ page: UnsafeRawBufferPointer, _ gap: Range<Int>) -> Bool {
  var index = gap.lowerBound
  while index + 8 <= gap.upperBound {
    if unsafe page.loadUnaligned(fromByteOffset: index, as: UInt64.self) != 0 { return false }
    index += 8
  }
  while index < gap.upperBound {
    if unsafe page[index] != 0 { return false }
    index += 1
  }
  return true
}

private func methods(
  of file: UnsafeMutablePointer<sqlite3_file>
) -> UnsafeMutablePointer<Methods>? {
  guard let methods = unsafe file.pointee.pMethods else { return nil }
  return unsafe UnsafeMutablePointer(
    mutating: UnsafeRawPointer(methods).assumingMemoryBound(to: Methods.self))
}

// MARK: - Pages

/// What lies between the cells' addresses and the cells; nil for a page without cells, and for one whose
/// addresses contradict themselves, which stays as it is.
///
/// The layout: section 1.6 of SQLite's fileformat2.html.
private func unusedMiddle(of page: UnsafeRawBufferPointer, header: Int) -> Range<Int>? {
  guard page.count >= 512, page.count.nonzeroBitCount == 1 else { return nil }
  let isLeaf: Bool
  switch unsafe page[header] {
  case 2, 5: isLeaf = false
  case 10, 13: isLeaf = true
  default: return nil
  }
  func word(_ offset: Int) -> Int { unsafe Int(page[offset]) << 8 | Int(page[offset + 1]) }
  let first = header + (isLeaf ? 8 : 12)
  let end = first + 2 * word(header + 3)
  // A page of 65,536 bytes has no other way to say where it ends.
  let content = word(header + 5) == 0 ? 65_536 : word(header + 5)
  guard end <= content, content <= page.count else { return nil }
  for address in stride(from: first, to: end, by: 2) where word(address) < content { return nil }
  return end..<content
}
