// SPDX-License-Identifier: MIT

import Testing

@testable import KuraAgent

private let start = Moment(boot: 500_000, monotonic: 400_000, wall: 0)

private func after(_ milliseconds: UInt64) -> Moment {
  Moment(
    boot: start.boot + milliseconds, monotonic: start.monotonic + milliseconds,
    wall: milliseconds)
}

/// Three terminals and a window that sees no keys.
private func line(_ ids: UInt64...) -> PromptLine {
  var line = PromptLine()
  for id in ids { line.join(asker(id), at: start) }
  return line
}

private func asker(
  _ id: UInt64, group: Int32 = 100, session: Int32 = 10
) -> PromptLine.Asker {
  PromptLine.Asker(
    id: id, at: "pts/\(id)", seesKeys: true, from: .init(group: group, session: session))
}

private func window(_ id: UInt64, group: Int32 = 100) -> PromptLine.Asker {
  PromptLine.Asker(
    id: id, at: "askpass", seesKeys: false, from: .init(group: group, session: 10))
}

@Suite struct PromptLineTests {
  @Test func `the first asks and the others wait for its prompt`() {
    let line = line(1, 2, 3)
    #expect(line.standing(of: 1) == .asks)
    #expect(line.standing(of: 2) == .waits("pts/1"))
    #expect(line.standing(of: 3) == .waits("pts/1"))
  }

  @Test func `one that leaves gives its turn to who has waited longest`() {
    var line = line(1, 2, 3)
    line.leave(1, at: start)
    #expect(line.standing(of: 2) == .asks)
    #expect(line.standing(of: 3) == .waits("pts/2"))
  }

  @Test func `one that leaves while it waits changes nothing`() {
    var line = line(1, 2, 3)
    line.leave(2, at: start)
    #expect(line.standing(of: 1) == .asks)
    #expect(line.standing(of: 3) == .waits("pts/1"))
  }

  @Test func `the last to leave leaves nothing`() {
    var line = line(1)
    line.leave(1, at: start)
    #expect(line.isIdle(at: start))
    line.join(asker(2), at: start)
    #expect(line.standing(of: 2) == .asks)
  }

  @Test func `one that takes the turn has it, and gives it back to who had it`() {
    var line = line(1, 2, 3)
    line.take(by: 3, at: start)
    #expect(line.standing(of: 3) == .asks)
    #expect(line.standing(of: 1) == .waits("pts/3"))
    line.leave(3, at: start)
    #expect(line.standing(of: 1) == .asks)
  }

  @Test func `a stranger takes nothing`() {
    var line = line(1)
    line.take(by: 9, at: start)
    #expect(line.standing(of: 1) == .asks)
  }
}

// MARK: - Untouched

extension PromptLineTests {
  @Test func `a prompt that nobody touches for a minute goes to the next`() {
    var line = line(1, 2, 3)
    #expect(line.deadline == start.monotonic + 60_000)
    line.expire(at: after(59_999))
    #expect(line.standing(of: 1) == .asks)
    line.expire(at: after(60_000))
    #expect(line.standing(of: 2) == .asks)
    line.expire(at: after(120_000))
    #expect(line.standing(of: 3) == .asks)
    // The first one is behind all others now.
    line.expire(at: after(180_000))
    #expect(line.standing(of: 1) == .asks)
  }

  @Test func `each key gives it another minute`() {
    var line = line(1, 2)
    line.touch(by: 1, at: after(50_000))
    line.touch(by: 2, at: after(55_000))
    line.expire(at: after(109_999))
    #expect(line.standing(of: 1) == .asks)
    line.expire(at: after(110_000))
    #expect(line.standing(of: 2) == .asks)
  }

  @Test func `a prompt that nobody else waits for stands as long as it likes`() {
    var line = line(1)
    #expect(line.deadline == nil)
    line.expire(at: after(3_600_000))
    #expect(line.standing(of: 1) == .asks)
  }

  @Test func `who comes to a prompt that was left alone gets it`() {
    var line = line(1)
    line.join(asker(2), at: after(90_000))
    line.expire(at: after(90_000))
    #expect(line.standing(of: 2) == .asks)
  }

  @Test func `a sleep of the machine moves no prompt`() {
    var line = line(1, 2)
    line.expire(at: Moment(boot: start.boot + 3_600_000, monotonic: start.monotonic, wall: 0))
    #expect(line.standing(of: 1) == .asks)
  }

  @Test func `a prompt that sees no keys is not taken away for the same window`() {
    var line = PromptLine()
    line.join(window(1), at: start)
    line.join(window(2), at: start)
    #expect(line.deadline == nil)
    line.expire(at: after(60_000))
    #expect(line.standing(of: 1) == .asks)
    line.join(asker(3), at: after(60_000))
    line.expire(at: after(60_000))
    #expect(line.standing(of: 3) == .asks)
  }
}

// MARK: - Aside

extension PromptLineTests {
  @Test func `one that is stopped gives its turn away, and takes it back`() {
    var line = line(1, 2)
    line.stepAside(1, at: start)
    #expect(line.standing(of: 2) == .asks)
    line.take(by: 1, at: start)
    #expect(line.standing(of: 1) == .asks)
    #expect(line.standing(of: 2) == .waits("pts/1"))
  }

  @Test func `one that is stopped is passed over`() {
    var line = line(1, 2, 3)
    line.stepAside(2, at: start)
    line.leave(1, at: start)
    #expect(line.standing(of: 3) == .asks)
    #expect(line.deadline == nil)
  }

  @Test func `when all are stopped nobody asks, until one goes on or comes`() {
    var line = line(1, 2)
    line.stepAside(1, at: start)
    line.stepAside(2, at: start)
    #expect(line.standing(of: 1) == .aside)
    line.join(asker(3), at: start)
    #expect(line.standing(of: 3) == .asks)
    line.leave(3, at: start)
    #expect(line.standing(of: 2) == .aside)
    line.take(by: 2, at: start)
    #expect(line.standing(of: 2) == .asks)
  }
}

// MARK: - Cancelled

extension PromptLineTests {
  @Test func `a cancel empties the line, and holds for what belongs to it for two seconds`() {
    var line = line(1, 2)
    let isCancelled = line.cancel(by: 1, at: start)
    #expect(isCancelled)
    #expect(line.coolDownLeft(for: asker(3), at: start) == 2_000)
    #expect(line.coolDownLeft(for: asker(3), at: after(1_999)) == 1)
    #expect(!line.isIdle(at: after(1_999)))
    #expect(line.coolDownLeft(for: asker(3), at: after(2_000)) == 0)
    #expect(line.isIdle(at: after(2_000)))
  }

  @Test func `a command typed after a cancel asks, and one of a loop does not`() {
    var line = line(1)
    line.join(asker(2, group: 200, session: 20), at: start)
    _ = line.cancel(by: 1, at: start)
    for session in [10, 20] as [Int32] {
      let typed = asker(3, group: 300, session: session)
      #expect(line.coolDownLeft(for: typed, at: after(249)) == 1)
      #expect(line.coolDownLeft(for: typed, at: after(250)) == 0)
    }
    #expect(line.coolDownLeft(for: asker(3, group: 300, session: 30), at: start) == 0)
    // Who waited with it belongs to it as much as who asked.
    #expect(line.coolDownLeft(for: asker(3, group: 200, session: 20), at: after(250)) == 1_750)
  }

  @Test func `what asks by a window, or comes from nowhere, is answered with the cancel`() {
    var line = line(1)
    _ = line.cancel(by: 1, at: start)
    #expect(line.coolDownLeft(for: window(2, group: 300), at: after(250)) == 1_750)
    #expect(line.coolDownLeft(for: asker(2, group: 0, session: 0), at: after(250)) == 1_750)
    #expect(line.coolDownLeft(for: asker(2, group: -1, session: -1), at: after(250)) == 1_750)
  }

  @Test func `one that only waits cancels nothing`() {
    var line = line(1, 2)
    let isCancelled = line.cancel(by: 2, at: start)
    #expect(!isCancelled)
    #expect(line.coolDownLeft(for: asker(3), at: start) == 0)
    #expect(line.standing(of: 1) == .asks)
  }
}
