// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Waits for what comes first: a signal that ends this program, something to read, or the end of a time.
struct Rest: ~Copyable {
  /// Says what came.
  enum End: Equatable {
    case signal, timeout
    /// The first descriptor of the list that can be read.
    case ready(Int)
  }

  let signals: Int32

  /// From now on SIGTERM, SIGHUP and SIGINT end nothing by themselves.
  init() { signals = kura_signals_create() }

  deinit { close(signals) }

  /// Whether a signal came that ends this program.
  var isEnding: Bool { kura_signals_next(signals) != 0 }

  /// Waits.
  ///
  /// - Parameters:
  ///   - milliseconds: The longest; -1: for ever.
  ///   - descriptors: Those that may become readable; -1 is none.
  func wait(_ milliseconds: Int, for descriptors: [Int32] = []) -> End {
    var all = ([signals] + descriptors).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    while unsafe poll(&all, nfds_t(all.count), Int32(milliseconds)) < 0, errno == EINTR {}
    if all[0].revents != 0 { return .signal }
    let ready = all.dropFirst().firstIndex { $0.revents != 0 }
    return if let ready { .ready(ready - 1) } else { .timeout }
  }
}
