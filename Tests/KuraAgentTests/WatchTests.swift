// SPDX-License-Identifier: MIT

import KuraAgent
import KuraProtocol
import Testing

/// Whoever has to undo something when the vault is locked.
@Suite struct WatchTests {
  @Test(arguments: [LockRequest.Scope.vault, .all])
  func `who watches is told of the lock`(_ scope: LockRequest.Scope) throws {
    let bench = try Bench()
    let (user, watcher) = (try bench.unlocked(), try bench.client())
    // It knows at once that it will be told.
    #expect(try bench.ask(watcher) { try $0.putRequest(.watch) }.type == .progress)
    try bench.turn(3)
    #expect(!watcher.waitReadable(milliseconds: 50))
    #expect(try bench.ask(user) { try $0.putRequest(.lock(.init(.asked, scope: scope))) }.isOK)
    let told = try bench.reply(on: watcher)
    #expect(told.failure == .locked)
    #expect(told.lockReason == .asked)
    #expect(try bench.ask(watcher) { try $0.get("a") }.failure == .locked)
  }

  @Test func `watching is no use, and sees the idle lock`() throws {
    let bench = try Bench()
    let watcher = try bench.unlocked(idle: 1_000)
    bench.clock.pass(milliseconds: 900)
    #expect(try bench.ask(watcher) { try $0.putRequest(.watch) }.type == .progress)
    bench.clock.pass(milliseconds: 100)
    let told = try bench.reply(on: watcher)
    #expect(told.failure == .locked)
    #expect(told.lockReason == .idle)
  }

  @Test func `a vault that is locked already is said to be at once`() throws {
    let bench = try Bench()
    try bench.create()
    let watcher = try bench.client()
    #expect(try bench.ask(watcher) { try $0.putRequest(.watch) }.failure == .locked)
  }
}
