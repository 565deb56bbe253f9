// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Tells that something changes in folders: a file is written, comes, goes, or gets another name.
///
/// The system tells nothing of what another machine does on a file system of the network: whoever watches looks now and
/// then, too.
final class FolderWatch {
  /// What can be read then; -1 where the system has no more of these.
  let descriptor: Int32

  /// Watches those of the folders that there are.
  ///
  /// - Parameter place: One that is watched for being moved or taken away alone, whatever comes into it.
  init(_ folders: [String], itself place: String? = nil) {
    descriptor = inotify_init1(Int32(IN_CLOEXEC) | Int32(IN_NONBLOCK))
    let end = IN_MOVE_SELF | IN_DELETE_SELF
    let changes =
      IN_MODIFY | IN_CLOSE_WRITE | IN_CREATE | IN_DELETE | IN_MOVED_TO | IN_MOVED_FROM | end
    for folder in folders { _ = unsafe inotify_add_watch(descriptor, folder, UInt32(changes)) }
    if let place { _ = unsafe inotify_add_watch(descriptor, place, UInt32(end)) }
  }

  deinit { close(descriptor) }

  /// Takes what was told.
  func drain() { kura_descriptor_drain(descriptor) }
}
