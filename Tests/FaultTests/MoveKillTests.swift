// SPDX-License-Identifier: MIT

import Foundation
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
    for number in 0..<6 * enough where struck < enough {
      _ = try desk.putUntilKilled(&dice)
      if omen.isThere { struck += 1 }
      if let failure = try desk.check() {
        Issue.record("trial \(number), seed \(dice.seed): \(failure)")
        return
      }
    }
    #expect(struck == enough, "too few of the moves were under way")
  }
}

/// Whether a vault's journal is being moved, as SQLite notes beside it: "The WAL-Index File Format" in
/// its walformat.html.
struct Omen {
  let vault: String

  /// Whether pages are being moved, or were when who moved them was killed.
  var isThere: Bool {
    let file = open(vault + "-shm", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return false }
    defer { close(file) }
    var moved: UInt32 = 0
    var attempted: UInt32 = 0
    let isRead = pread(file, &moved, 4, 96) == 4 && pread(file, &attempted, 4, 128) == 4
    return isRead && attempted > moved
  }

  /// Waits until that is so, but not for ever.
  func await() {
    for _ in 0..<50_000 {
      if isThere { return }
      // Nobody tells when a move begins; it lasts some milliseconds.
      usleep(100)
    }
  }
}
