// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Opens whatever stands at a path, to look into it: never waits for a writer, and makes no device do anything.
public enum TextFile {
  /// A regular file's descriptor, which the caller closes.
  case text(Int32)
  /// A directory's names, in no order, `.` and `..` left out.
  case directory([[UInt8]])
  /// A link that is not followed, a pipe, a socket or a device.
  case other

  /// Opens a file, or lists a directory.
  ///
  /// - Parameters:
  ///   - path: Of any kind of file.
  ///   - follows: Whether a symbolic link counts as what it leads to.
  public static func open(_ path: String, followingLink follows: Bool) throws(FileError) -> TextFile
  {
    let descriptor = System.openText(path, follows: follows)
    switch descriptor {
    case 0...: return .text(descriptor)
    case -EISDIR: return .directory(try System.names(in: path).filter { !isDots($0) })
    case -ENXIO: return .other
    default: throw FileError(errno: -descriptor)
    }
  }

  private static func isDots(_ name: [UInt8]) -> Bool {
    name.elementsEqual(".".utf8) || name.elementsEqual("..".utf8)
  }
}
