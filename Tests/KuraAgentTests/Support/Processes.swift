// SPDX-License-Identifier: MIT

import CKuraSystem
import Glibc
import Synchronization

@testable import KuraAgent

/// Processes that a test makes up.
final class Processes: Sendable {
  private let table: Mutex<[UInt32: ProcessLink]>

  init(_ links: [ProcessLink]) {
    table = Mutex(Dictionary(uniqueKeysWithValues: links.map { ($0.process, $0) }))
  }

  private let stopped = Mutex<Set<UInt32>>([])

  func stop(_ process: UInt32) { stopped.withLock { _ = $0.insert(process) } }

  func goOn(_ process: UInt32) { stopped.withLock { _ = $0.remove(process) } }

  func isStopped(_ process: UInt32) -> Bool { stopped.withLock { $0.contains(process) } }

  func look(_ process: UInt32, _ question: ProcessQuestion = .all) -> ProcessLink? {
    table.withLock { $0[process] }
  }

  func end(_ process: UInt32) { table.withLock { $0[process] = nil } }

  func set(_ link: ProcessLink) { table.withLock { $0[link.process] = link } }
}

func link(
  _ process: UInt32, below parent: UInt32, at start: UInt64, _ name: String = "bash",
  depth: Int = 1, user: UInt32 = 1_000, terminal: UInt32 = 0,
  isLeader: Bool = false
) -> ProcessLink {
  ProcessLink(
    process: process, parent: parent, start: start, user: user, depth: depth,
    terminal: terminal, isLeader: isLeader, name: Array(name.utf8))
}

/// Holds processes that a test makes up: a notice of each is its end.
final class Holder: Sendable {
  private let notices = Mutex<[UInt32: Int32]>([:])
  private let processes: Processes
  /// What happens just when a process is held.
  let meanwhile = Mutex<(@Sendable (UInt32) -> Void)?>(nil)

  init(_ processes: Processes) { self.processes = processes }

  deinit { for notice in notices.withLock({ $0.values }) { close(notice) } }

  func hold(_ process: UInt32) -> Int32 {
    guard processes.look(process) != nil else { return -ESRCH }
    let notice = kura_notice_create()
    let ours = dup(notice)
    notices.withLock { if let last = $0.updateValue(ours, forKey: process) { close(last) } }
    meanwhile.withLock { $0 }?(process)
    return notice
  }

  /// A process has ended, and another one did not wait for that.
  func endUnseen(_ process: UInt32) {
    if let notice = notices.withLock({ $0[process] }) { _ = kura_notice_post(notice) }
  }

  func end(_ process: UInt32) {
    endUnseen(process)
    processes.end(process)
  }
}
