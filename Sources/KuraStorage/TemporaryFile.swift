// SPDX-License-Identifier: MIT

internal import Glibc
internal import Synchronization

/// The name under which SQLite makes a thread's temporary file: beside the vault, whose disk must have the
/// room anyway, and not where everybody's are, which may be memory. Made and unlinked at once, it is gone
/// with whoever has it open.
@safe struct TemporaryFile {
  private static let names = Mutex<[pthread_t: UInt]>([:])

  private let start: UnsafeMutablePointer<CChar>

  /// Gives this thread's a name until ``end()``.
  init(_ path: String) {
    // SQLite reads what stands behind a name, up to an empty one.
    let bytes = Array(path.utf8CString) + [0]
    unsafe start = .allocate(capacity: bytes.count)
    for index in bytes.indices { unsafe (start + index).initialize(to: bytes[index]) }
    let address = unsafe UInt(bitPattern: start)
    // Who was killed between making and unlinking it left an empty file; anything else is somebody's, whom SQLite
    // leaves alone where it finds a name itself.
    guard Machine.size(of: path) == 0 else { return }
    _ = unsafe unlink(path)
    Self.names.withLock { $0[pthread_self()] = address }
  }

  func end() {
    Self.names.withLock { $0[pthread_self()] = nil }
    unsafe start.deallocate()
  }

  /// The name of this thread's; nil where SQLite finds one itself.
  static var current: UnsafePointer<CChar>? {
    let address = names.withLock { $0[pthread_self()] }
    return unsafe address.flatMap { unsafe UnsafePointer<CChar>(bitPattern: $0) }
  }
}
