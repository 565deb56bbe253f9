// SPDX-License-Identifier: MIT

internal import Glibc

/// Waits for what comes first: something to read, or the end of a time. A signal ends this program meanwhile.
enum Rest {
  /// Says what came.
  enum End: Equatable {
    case timeout
    /// The first descriptor of the list that can be read.
    case ready(Int)
  }

  /// Waits.
  ///
  /// - Parameters:
  ///   - milliseconds: The longest; -1: for ever.
  ///   - descriptors: Those that may become readable; -1 is none.
  @discardableResult
  static func wait(_ milliseconds: Int, for descriptors: [Int32] = []) -> End {
    var all = descriptors.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&all, nfds_t(all.count), Int32(milliseconds)) < 0, errno == EINTR {}
    let ready = all.firstIndex { $0.revents != 0 }
    return if let ready { .ready(ready) } else { .timeout }
  }
}
