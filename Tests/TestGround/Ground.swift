// SPDX-License-Identifier: MIT

import Foundation
import Synchronization

/// Gives tests directories of their own, all of one run in one place that goes when the run ends.
///
/// The run holds its place with a lock (flock(2)) as long as it lives, however it ends. So the next run knows
/// the places of dead runs from those of runs that go on beside it, and clears the dead ones away.
public struct Ground: Sendable {
  /// In memory, where there is such a place.
  public static let inMemory = Ground(
    below: access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory())
  /// Where the system has its temporary files.
  public static let onDisk = Ground(below: NSTemporaryDirectory())

  /// The place of this run, without links: the kernel's table of mounts names places so.
  public let root: String

  private init(below base: String) {
    let base = URL(filePath: base).resolvingSymlinksInPath().path
    for words in Sweep.sweep(base) { FileHandle.standardError.write(Data("\(words)\n".utf8)) }
    root = Self.hold(below: base)
    let (made, owner) = (root, getpid())
    let isFirst = Self.held.withLock {
      $0.append((made, owner))
      return $0.count == 1
    }
    if isFirst { atexit { Ground.leave() } }
  }

  /// A new directory for this user alone.
  public func directory(_ name: String) throws(GroundFailure) -> String {
    guard let path = Self.makeDirectory("\(root)/\(name)") else {
      throw GroundFailure(number: errno)
    }
    return path
  }

  /// A path at which there is nothing yet.
  public func path(_ name: String) -> String { "\(root)/\(name)-\(UUID().uuidString)" }

  private static let held = Mutex<[(root: String, owner: pid_t)]>([])

  /// A child that was forked off and ends must not take the place of its parent away.
  private static func leave() {
    for (root, owner) in held.withLock({ $0 }) where owner == getpid() { Sweep.remove(root) }
  }

  /// Makes the run's place and locks it; begins again where a sweep came between the two.
  private static func hold(below base: String) -> String {
    while true {
      guard let path = makeDirectory("\(base)/\(Sweep.prefix)") else {
        fatalError("no directory for tests in \(base): errno \(errno)")
      }
      // A story has users of its own, who come through here to what it opens to them.
      guard chmod(path, 0o711) == 0 else { continue }
      let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
      guard descriptor >= 0 else { continue }
      if flock(descriptor, LOCK_SH | LOCK_NB) == 0, access(path, F_OK) == 0 { return path }
      close(descriptor)
    }
  }

  private static func makeDirectory(_ start: String) -> String? {
    var template = Array("\(start).XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { return nil }
    return String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }
}

/// No directory could be made.
public struct GroundFailure: Error {
  public let number: Int32
}
