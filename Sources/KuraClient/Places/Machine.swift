// SPDX-License-Identifier: MIT

internal import CKuraSystem

/// Reads what this machine tells of itself in files, and of the places where Kura's files are.
public struct Machine: Sendable {
  /// A limit that is none.
  public static let unlimited = UInt64.max

  /// Describes a file or directory.
  public struct Place: Equatable, Sendable {
    /// What kind of file system it is on, by `statfs(2)`.
    public let fileSystem: UInt64
    /// Its permission bits.
    public let mode: UInt32
    /// Whether it is the caller's.
    public let isOwn: Bool

    /// A place with what is known of it.
    public init(fileSystem: UInt64, mode: UInt32, isOwn: Bool) {
      self.fileSystem = fileSystem
      self.mode = mode
      self.isOwn = isOwn
    }
  }

  /// Holds a reading of the clocks, in ms.
  public struct Clocks: Equatable, Sendable {
    /// Since the machine's start, sleep counted.
    public var boot: UInt64
    /// The same, sleep left out.
    public var monotonic: UInt64
    /// Unix time.
    public var wall: UInt64
    /// Whether something keeps that right.
    public var isSynchronised: Bool

    /// A reading.
    public init(boot: UInt64, monotonic: UInt64, wall: UInt64, isSynchronised: Bool) {
      self.boot = boot
      self.monotonic = monotonic
      self.wall = wall
      self.isSynchronised = isSynchronised
    }
  }

  private let root: String

  /// A machine.
  ///
  /// - Parameter root: What stands before `/proc` and `/sys`; a test's own directory, or nothing.
  public init(root: String = "") { self.root = root }

  /// The first 64 KiB of one of the kernel's files; nil where there is none, or it cannot be read.
  public func file(_ path: String) -> [UInt8]? {
    let descriptor = System.open(root + path)
    guard descriptor >= 0 else { return nil }
    defer { kura_file_close(descriptor) }
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: Self.fileLimit)
    while bytes.count < Self.fileLimit {
      var room = part.mutableSpan
      let count = System.read(descriptor, into: &room)
      guard count >= 0 else { return nil }
      if count == 0 { break }
      bytes += part[..<min(count, Self.fileLimit - bytes.count)]
    }
    return bytes
  }

  private static let fileLimit = 65_536

  /// What stands at a path; nil for nothing.
  public static func place(_ path: String) -> Place? {
    guard let place = System.place(path) else { return nil }
    return Place(fileSystem: place.file_system, mode: place.mode, isOwn: place.is_own != 0)
  }

  /// The names in a directory, in no order; none where it cannot be read.
  public static func names(in path: String) -> [[UInt8]] {
    do throws(FileError) { return try System.names(in: path) } catch { return [] }
  }

  /// The clocks, now.
  public static func clocks() -> Clocks {
    let moment = System.moment()
    return Clocks(
      boot: moment.boot, monotonic: moment.monotonic, wall: moment.wall,
      isSynchronised: kura_clock_is_synchronised() != 0)
  }
}

// MARK: - Users

extension Machine {
  /// Who owns a file or directory; nil where none is there.
  public static func owner(_ path: String) -> UInt32? {
    UInt32(exactly: System.owner(path))
  }

  /// Whom we run as.
  public static var user: UInt32 { kura_user() }
}
