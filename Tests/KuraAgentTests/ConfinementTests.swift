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

  @Test func `it makes no namespace, in no way, and still makes threads and children`() async {
    await #expect(processExitsWith: .success) {
      precondition(Confinement.apply())
      // A system call by its number, which Swift cannot call as it is declared.
      typealias Call = @convention(c) (Int, Int, Int, Int, Int, Int, Int) -> Int
      let call = unsafeBitCast(dlsym(nil, "syscall"), to: Call.self)
      #if arch(x86_64)
        let clone = 56
      #else
        let clone = 220
      #endif
      for flag in [0x2_0000, 0x0200_0000, 0x1000_0000, 0x2000_0000, 0x4000_0000] {
        let child = call(clone, flag | Int(SIGCHLD), 0, 0, 0, 0, 0)
        if child == 0 { _exit(0) }
        precondition(child == -1 && errno == EPERM)
      }
      precondition(call(435, 0, 0, 0, 0, 0, 0) == -1 && errno == ENOSYS)
      let child = call(clone, Int(SIGCHLD), 0, 0, 0, 0, 0)
      if child == 0 { _exit(0) }
      precondition(child > 0 && waitpid(pid_t(child), nil, 0) == child)
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
