// SPDX-License-Identifier: MIT

internal import CFIDO2
internal import Glibc
internal import Synchronization

/// Has a key blink no longer once whoever asked has hung up: the agent, for its client or at its end.
@safe final class KeyWatch: Sendable {
  /// Kept as a number, since the thread of the watch and the one of the work have it by turns.
  private let device: Mutex<UInt>

  /// Milliseconds of a clock that nobody sets.
  static var now: UInt64 {
    var time = timespec()
    _ = unsafe clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000 + UInt64(time.tv_nsec) / 1_000_000
  }

  init(_ device: OpaquePointer) {
    self.device = Mutex(UInt(bitPattern: device))
  }

  /// Begins to watch descriptor 0, by which nothing more is said.
  func begin() {
    var thread = pthread_t()
    let lent = unsafe Unmanaged.passRetained(self)
    let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { lent in
      if let lent = unsafe lent {
        unsafe Unmanaged<KeyWatch>.fromOpaque(lent).takeRetainedValue().wait()
      }
      return nil
    }
    guard unsafe pthread_create(&thread, nil, body, lent.toOpaque()) == 0 else {
      return unsafe lent.release()
    }
    _ = pthread_detach(thread)
  }

  private func wait() {
    var event = pollfd(fd: 0, events: Int16(POLLIN), revents: 0)
    while unsafe poll(&event, 1, -1) < 0, errno == EINTR {}
    device.withLock { number in
      guard let device = unsafe OpaquePointer(bitPattern: number) else { return }
      _ = unsafe fido_dev_cancel(device)
    }
  }

  /// Lets go of the key, before it is closed.
  func end() { device.withLock { $0 = 0 } }
}
