// SPDX-License-Identifier: MIT

import Foundation
import Synchronization
import Testing

/// The agent is killed while it moves a vault's journal into its file.
@Suite("Killed moves", .serialized, .enabled(if: Programs.areBuilt, "run make build first"))
struct MoveKillTests {
  @Test func `nothing is lost when the agent is killed while it moves the journal`() throws {
    let desk = try AgentDesk()
    let omen = Omen(vault: desk.scratch.file("data") + "/kura/default.kura")
    desk.omen = omen
    desk.lengths = (9_000_000, 80_000)
    desk.patience = 3_000
    var dice = Dice()
    var struck = 0
    let enough = Scale.count(2, nightly: 100)
    for number in 0..<20 * enough where struck < enough {
      _ = try desk.putUntilKilled(&dice)
      if omen.isFulfilled { struck += 1 }
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(struck == enough, "too few of the moves were under way")
  }

  @Test func `a journal that a new agent only read is no omen`() {
    var watch = Omen.Watch()
    // Read after a kill, moved whole, begun anew; then the next pages are being moved.
    let notes: [(moved: UInt32, attempted: UInt32)] = [(0, 7), (0, 7), (7, 7), (0, 0), (0, 9)]
    let isSeen = notes.map { watch.sees(Omen.Note(moved: $0.moved, attempted: $0.attempted)) }
    #expect(isSeen == [false, false, false, false, true])
  }
}

/// Tells when a vault's journal begins to be moved, by what SQLite notes beside it: "The WAL-Index File
/// Format" in its walformat.html.
final class Omen: Sendable {
  /// How many pages of the journal were moved, and how many whoever moved last was about to move.
  struct Note {
    let moved: UInt32
    let attempted: UInt32

    var isUnderWay: Bool { attempted > moved }
  }

  /// Sees a move begin. Who opens a journal that a killed agent left notes a move, too, that nobody has begun:
  /// only where none was under way before does one begin.
  struct Watch {
    private var wasAtRest = false

    mutating func sees(_ note: Note) -> Bool {
      if !note.isUnderWay { wasAtRest = true }
      return wasAtRest && note.isUnderWay
    }
  }

  private let vault: String
  private let hasBegun = Atomic(false)
  private let isStruck = Atomic(false)

  init(vault: String) { self.vault = vault }

  private var note: Note? {
    let file = open(vault + "-shm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return nil }
    defer { close(file) }
    var words = [UInt32](repeating: 0, count: 9)
    guard pread(file, &words, 36, 96) == 36 else { return nil }
    return Note(moved: words[0], attempted: words[8])
  }

  /// Waits for the beginning of a move, but not for ever.
  func await() {
    var watch = Watch()
    hasBegun.store(false, ordering: .relaxed)
    for _ in 0..<50_000 {
      if let note, watch.sees(note) { return hasBegun.store(true, ordering: .relaxed) }
      // Nobody tells when a move begins; it lasts some milliseconds.
      usleep(100)
    }
  }

  /// Stops the agent that is to be killed, and notes whether the move whose beginning was awaited is still
  /// under way. Once it is killed, another agent may be at the same file.
  func look(stopping agent: pid_t) {
    Glibc.kill(agent, SIGSTOP)
    let isMoving = hasBegun.load(ordering: .relaxed) && note?.isUnderWay == true
    isStruck.store(isMoving, ordering: .releasing)
  }

  /// Whether the last agent was killed amid a move.
  var isFulfilled: Bool { isStruck.load(ordering: .acquiring) }
}
