// SPDX-License-Identifier: MIT

import KuraProtocol
import Testing

/// Requests that are sent before the replies to those before them have come.
@Suite struct `Requests of one client, sent together,` {
  /// A bench whose clock goes on each time it is read.
  private func ticking(milliseconds: UInt64) throws -> Bench {
    let clock = ManualClock()
    return try Bench { configuration in
      configuration.clock = {
        clock.pass(milliseconds: milliseconds)
        return clock.now
      }
    }
  }

  private func frameCount(_ wire: Wire) throws -> Int {
    wire.receive()
    var count = 0
    while let frame = try wire.nextFrame() {
      #expect(frame.isOK)
      count += 1
    }
    return count
  }

  @Test func `hold up nobody else, and wait for no event`() throws {
    let bench = try ticking(milliseconds: 1)
    let (eager, other) = (try bench.client(), try bench.client())
    try eager.send { buffer in for _ in 0..<200 { try buffer.putRequest(.agentStatus) } }
    try bench.turn()
    var served = try frameCount(eager)
    #expect((1...20).contains(served))
    try other.send { try $0.putRequest(.agentStatus) }
    let start = ContinuousClock.now
    try bench.agent.turn(waitingAtMost: 20_000)
    #expect(try frameCount(other) == 1)
    for _ in 0..<200 where served < 200 {
      try bench.agent.turn(waitingAtMost: 20_000)
      let count = try frameCount(eager)
      #expect((1...20).contains(count))
      served += count
    }
    #expect(served == 200)
    #expect(start.duration(to: .now) < .seconds(15))
  }

  @Test func `are answered in their order, however long they take`() throws {
    let bench = try ticking(milliseconds: 10)
    let wire = try bench.unlocked()
    try wire.send { buffer in
      for number in 0..<20 {
        try buffer.put("a\(number)", "\(number)")
        try buffer.get("a\(number)")
      }
    }
    for number in 0..<20 {
      #expect(try bench.reply(on: wire).isOK)
      #expect(try bench.reply(on: wire).value == "\(number)")
    }
  }

  @Test func `keep the hello and the first reply in one write`() throws {
    let bench = try ticking(milliseconds: 10)
    let wire = try bench.connect()
    try wire.send {
      try $0.hello(bench.vault)
      try $0.putRequest(.agentStatus)
    }
    try bench.turn()
    wire.receive()
    #expect(try wire.nextFrame()?.type == .agentHello)
    #expect(try wire.nextFrame()?.isOK == true)
  }
}
