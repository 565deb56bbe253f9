// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Tells what stands where a key file is kept; it is not opened.
public struct KeyFileLook: Equatable, Sendable {
  /// Whether it may be read.
  public let isReadable: Bool
  /// The length of a regular file, in bytes; nil for anything else, a link among it.
  public let size: UInt64?

  /// What was seen.
  public init(isReadable: Bool, size: UInt64?) {
    self.isReadable = isReadable
    self.size = size
  }

  /// Looks for as long as that takes.
  init(at path: [UInt8]) {
    self.init(isReadable: FilePlace.isReadable(path), size: FilePlace.size(path))
  }
}

extension VaultOptions {
  /// Whether something that may be a key file stands at a path.
  func availability(at path: [UInt8]) -> SlotAvailability {
    guard let look = look(path) else { return .unknown }
    return look.isReadable ? .here : .missing
  }

  /// Whether a regular file of that size stands there.
  func availability(of file: KeyFilePlace) -> SlotAvailability {
    guard let look = look(file.path) else { return .unknown }
    return look.isReadable && look.size == file.size ? .here : .missing
  }
}
