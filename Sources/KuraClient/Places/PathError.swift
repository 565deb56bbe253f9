// SPDX-License-Identifier: MIT

/// Tells why a place for files cannot be told.
public enum PathError: Error, Equatable, Sendable {
  /// Neither the XDG variable nor `HOME` holds an absolute path.
  case homeUnknown
  /// A path or a name is empty.
  case empty
  /// A path is longer than the system or a message takes.
  case tooLong(limit: Int)
  /// A vault's name begins with a dot or has a control character.
  case nameInvalid(String)
  /// What names a place is not UTF-8; in words.
  case notText(String)
  /// The working directory cannot be told: errno.
  case noWorkingDirectory(Int32)
}
