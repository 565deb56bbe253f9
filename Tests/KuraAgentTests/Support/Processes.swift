// SPDX-License-Identifier: MIT

import Synchronization

@testable import KuraAgent

/// Processes that a test makes up.
final class Processes: Sendable {
  private let table: Mutex<[UInt32: ProcessLink]>

  init(_ links: [ProcessLink]) {
    table = Mutex(Dictionary(uniqueKeysWithValues: links.map { ($0.process, $0) }))
  }

  func look(_ process: UInt32) -> ProcessLink? { table.withLock { $0[process] } }

  func end(_ process: UInt32) { table.withLock { $0[process] = nil } }

  func set(_ link: ProcessLink) { table.withLock { $0[link.process] = link } }
}

func link(
  _ process: UInt32, below parent: UInt32, at start: UInt64, _ name: String = "bash",
  depth: Int = 1, user: UInt32 = 1_000, terminal: UInt32 = 0
) -> ProcessLink {
  ProcessLink(
    process: process, parent: parent, start: start, user: user, depth: depth,
    terminal: terminal, name: Array(name.utf8))
}
