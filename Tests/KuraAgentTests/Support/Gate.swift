// SPDX-License-Identifier: MIT

import Glibc
import Synchronization

@testable import KuraAgent

/// Work that goes on until it is let go. Both sides look again each half millisecond: there is nothing to
/// end when a test fails between the two.
final class Gate: Job {
  private let hasBegun = Atomic(false)
  private let isOpen = Atomic(false)

  func run() {
    hasBegun.store(true, ordering: .releasing)
    while !isOpen.load(ordering: .acquiring) { usleep(500) }
  }

  func open() { isOpen.store(true, ordering: .releasing) }

  var isBegun: Bool { hasBegun.load(ordering: .acquiring) }

  func awaitBegin() { while !hasBegun.load(ordering: .acquiring) { usleep(500) } }
}
