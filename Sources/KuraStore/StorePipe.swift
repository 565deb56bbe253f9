// SPDX-License-Identifier: MIT

internal import Glibc

/// Carries messages between kura-sync and a program that speaks to a store.
package struct StorePipe {
  private let input: Int32
  private let output: Int32

  /// Messages come by one socket, and go by another, or the same.
  ///
  /// - Parameter patience: How many seconds the other side may say nothing, or take nothing; 0: for ever.
  package init(from input: Int32, to output: Int32, patience: Int = 0) {
    (self.input, self.output) = (input, output)
    guard patience > 0 else { return }
    var time = timeval(tv_sec: patience, tv_usec: 0)
    let size = socklen_t(MemoryLayout<timeval>.size)
    _ = unsafe setsockopt(input, SOL_SOCKET, SO_RCVTIMEO, &time, size)
    _ = unsafe setsockopt(output, SOL_SOCKET, SO_SNDTIMEO, &time, size)
  }

  /// Says something.
  ///
  /// - Returns: False where nobody is there any more.
  package func send(_ frame: StoreFrame) -> Bool {
    let bytes = [frame.kind] + StoreFrame.number(frame.content.count) + frame.content
    var done = 0
    while done < bytes.count {
      let count = unsafe bytes.withUnsafeBytes { bytes in
        let rest = unsafe UnsafeRawBufferPointer(rebasing: bytes[done...])
        // Whoever has gone is told by the answer, not by a signal.
        return unsafe Glibc.send(output, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
      }
      if count < 0, errno == EINTR { continue }
      guard count > 0 else { return false }
      done += count
    }
    return true
  }

  /// The next that is said; nil where nobody is there any more, or more is said than anybody needs.
  package func receive() -> StoreFrame? {
    guard let head = read(5) else { return nil }
    let count = StoreFrame.number(head[1...])
    guard count <= StoreFrame.most, let content = read(count) else { return nil }
    return StoreFrame(head[0], content)
  }

  /// Waits until something is said, or can be read from another descriptor.
  ///
  /// - Returns: Whether something is said; false for the other one.
  package func waits(besides other: Int32) -> Bool {
    var both = [
      pollfd(fd: input, events: Int16(POLLIN), revents: 0),
      pollfd(fd: other, events: Int16(POLLIN), revents: 0),
    ]
    while unsafe poll(&both, 2, -1) < 0, errno == EINTR {}
    return both[0].revents != 0
  }

  private func read(_ count: Int) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      let more = unsafe bytes.withUnsafeMutableBytes { bytes in
        let rest = unsafe UnsafeMutableRawBufferPointer(rebasing: bytes[done...])
        return unsafe Glibc.read(input, rest.baseAddress, rest.count)
      }
      if more < 0, errno == EINTR { continue }
      guard more > 0 else { return nil }
      done += more
    }
    return bytes
  }
}
