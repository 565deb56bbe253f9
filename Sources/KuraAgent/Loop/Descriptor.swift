// SPDX-License-Identifier: MIT

internal import Glibc

/// Owns an open file descriptor, and closes it at the end of its life.
struct Descriptor: ~Copyable {
  let raw: Int32

  /// Takes over a descriptor that nobody else closes.
  init(owning raw: Int32) { self.raw = raw }

  /// Takes over what a system call returned: a descriptor or a negated errno.
  init(_ call: String, _ result: Int32) throws(AgentError) {
    raw = try check(call, result)
  }

  deinit { _ = close(raw) }
}
