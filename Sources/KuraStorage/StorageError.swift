// SPDX-License-Identifier: MIT

internal import CSQLite
internal import Glibc

/// Names the tables of a vault file, to say which one held a row that cannot be right.
package enum Table: UInt8, Equatable, Sendable {
  case part
  case slot
  case item
  case history
  case chunk
  case loose
  case bucket
  case node
}

/// Says why other users could read or replace a vault.
package enum Exposure: Equatable, Sendable {
  /// It belongs to another user.
  case owner
  /// Group or others have rights to it; the permission bits.
  case mode(UInt16)
  /// It is a symbolic link, or of another kind than a directory or a regular file.
  case kind
}

/// Says why the storage could not do what it was asked; the transaction under way is to be rolled back.
package enum StorageError: Error, Equatable, Sendable {
  /// Nothing stands at the path.
  case missing

  /// Something stands at the path already.
  case exists

  /// The directory is open to other users.
  case exposedDirectory(Exposure)

  /// The file is open to other users.
  case exposedFile(Exposure)

  /// There is a file, but it is no vault: not SQLite, empty, or another program's database.
  case notADatabase

  /// A database of a later layout; it was not touched.
  case newerFormat(UInt32)

  /// The schema is not byte for byte the expected one: a planted trigger, view, index or column.
  case schema

  /// A row has a column of another type or size than the format allows.
  case damaged(Table)

  /// SQLite itself found the file malformed.
  case corrupt

  /// Another connection holds the lock; nothing happened, and trying again makes sense.
  case busy

  /// No space is left, or the quota is used up.
  case diskFull

  /// The file, its directory, or the file system, cannot be written.
  case readOnly

  /// The WAL beside the file cannot be read where nothing can be written.
  case walOutOfReach

  /// The system refused access to the file or its directory.
  case permissionDenied

  /// No memory is left.
  case outOfMemory

  /// A system call failed with this `errno` (0 when SQLite kept none).
  case io(Int32)
}

extension StorageError {
  /// What a result code of SQLite means to the vault.
  ///
  /// - Parameters:
  ///   - code: An extended result code other than `SQLITE_OK`, `SQLITE_ROW` and `SQLITE_DONE`.
  ///   - systemError: What `sqlite3_system_errno` gave, 0 when unknown.
  init(code: Int32, systemError: Int32) {
    switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_PROTOCOL: self = .busy
    case SQLITE_FULL: self = .diskFull
    case SQLITE_READONLY: self = .readOnly
    case SQLITE_NOMEM: self = .outOfMemory
    case SQLITE_PERM, SQLITE_AUTH: self = .permissionDenied
    case SQLITE_NOTADB: self = .notADatabase
    case SQLITE_CANTOPEN, SQLITE_IOERR: self.init(code: code, ioError: systemError)
    // The rest can only come from a file that is not what its schema says.
    default: self = .corrupt
    }
  }

  private init(code: Int32, ioError: Int32) {
    // A page that ends before its end is a truncated file, not a failing disk.
    guard code != shortRead else {
      self = .corrupt
      return
    }
    self.init(systemError: ioError)
  }

  /// What the `errno` of a system call means to the vault.
  init(systemError: Int32) {
    switch systemError {
    case ENOENT, ENOTDIR: self = .missing
    case EEXIST: self = .exists
    case ENOSPC, EDQUOT, EFBIG: self = .diskFull
    case EACCES, EPERM: self = .permissionDenied
    case EROFS: self = .readOnly
    case ENOMEM: self = .outOfMemory
    case EWOULDBLOCK: self = .busy
    default: self = .io(systemError)
    }
  }
}

/// `SQLITE_IOERR_SHORT_READ`, a macro that Swift does not import.
let shortRead: Int32 = SQLITE_IOERR | (2 << 8)
