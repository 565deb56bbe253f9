// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import Testing

@testable import KuraAgent

/// What the kernel refuses an agent that stays.
@Suite struct ConfinementTests {
  /// Whether a call is refused for want of permission.
  private static func isRefused(_ result: Int32) -> Bool { result == -1 && errno == EPERM }

  @Test func `a confined process starts no program`() async {
    await #expect(processExitsWith: .success) {
      precondition(Confinement.apply() && Confinement.holds)
      let name = strdup("/bin/false")
      precondition(Self.isRefused(execv("/bin/false", [name, nil])))
    }
  }

  @Test func `it talks to no network, and goes on with what it does`() async {
    await #expect(processExitsWith: .success) {
      precondition(Confinement.apply())
      let stream = Int32(SOCK_STREAM.rawValue)
      precondition(Self.isRefused(socket(AF_INET, stream, 0)))
      precondition(Self.isRefused(socket(AF_INET6, stream, 0)))
      precondition(Self.isRefused(socket(Int32(16), stream, 0)))
      precondition(socket(AF_UNIX, stream, 0) >= 0)
      precondition(Self.isRefused(chroot("/")))
      let status = try String(contentsOfFile: "/proc/thread-self/status", encoding: .utf8)
      precondition(status.contains("NoNewPrivs:\t1") && status.contains("Seccomp:\t2"))
    }
  }

  @Test func `so do the threads that it starts`() async {
    await #expect(processExitsWith: .success) {
      precondition(Confinement.apply())
      let done = DispatchSemaphore(value: 0)
      Thread {
        precondition(Self.isRefused(socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)))
        done.signal()
      }.start()
      done.wait()
    }
  }

  @Test func `nothing is confined that did not ask for it`() {
    #expect(!Confinement.holds)
  }
}
