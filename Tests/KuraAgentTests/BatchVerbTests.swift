// SPDX-License-Identifier: MIT

import KuraAgent
import KuraProtocol
import SecureMemory
import Testing

/// Many values in one request.
@Suite struct BatchVerbTests {
  /// A request for items that are called so, each with its name for a value.
  private func send(
    _ names: [String], _ flags: PutBatchRequest.Flags = [], on wire: Wire
  ) throws {
    var items = try SecretBuffer(capacity: 4_096)
    for name in names {
      try items.putBatchItem(
        name: name.utf8.span, flags: [], value: name.utf8.span, attributes: Span(),
        attributeCount: 0)
    }
    try wire.send { try $0.putPutBatch(flags: flags, items: items.bytes, count: names.count) }
  }

  /// What became of one: how many are stored, and why not the next.
  private func answer(_ bench: Bench, _ wire: Wire) throws -> (stored: Int?, end: Received) {
    var stored: Int?
    while true {
      let frame = try bench.reply(on: wire)
      guard frame.type == .progress else { return (stored, frame) }
      stored = Int(try ProgressReport(frame.payload.span).done)
    }
  }

  private func store(
    _ names: [String], _ bench: Bench, _ wire: Wire, _ flags: PutBatchRequest.Flags = []
  ) throws -> (stored: Int?, end: Received) {
    try send(names, flags, on: wire)
    return try answer(bench, wire)
  }

  @Test func `all of it is stored and counted`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let names = (0..<1_000).map { "item/\($0)" }
    let told = try store(names, bench, wire)
    #expect(told.stored == 1_000)
    #expect(told.end.isOK)
    for name in ["item/0", "item/999"] { #expect(try bench.ask(wire) { try $0.get(name) }.isOK) }
    #expect(try bench.status(wire)?.itemCount == 1_000)
  }

  @Test func `what stands before the first that is refused is stored`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try store(["b"], bench, wire).end.isOK)
    let told = try store(["a", "b", "c"], bench, wire)
    #expect(told.stored == 1)
    #expect(told.end.type == .end)
    #expect(told.end.failure == .exists)
    #expect(try bench.ask(wire) { try $0.get("a") }.isOK)
    #expect(try bench.ask(wire) { try $0.get("c") }.failure == .notFound)
    #expect(try store(["c", "d/"], bench, wire).end.failure == .nameInvalid)
    #expect(try bench.ask(wire) { try $0.get("c") }.isOK)
    #expect(try store(["a", "b", "e"], bench, wire, .replace).stored == 3)
  }

  @Test func `without items it tells whether the vault is unlocked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try store([], bench, wire).stored == 0)
    #expect(try bench.ask(wire) { try $0.putLock(.asked, scope: .vault) }.isOK)
    let told = try store([], bench, wire)
    #expect(told.stored == nil)
    #expect(told.end.failure == .locked)
    #expect(told.end.type == .reply)
  }

  @Test func `others read the state before meanwhile, and write afterwards`() throws {
    let bench = try Bench()
    let (wire, reader, writer) = (try bench.unlocked(), try bench.client(), try bench.client())
    #expect(try store(["before"], bench, wire).end.isOK)
    try send((0..<3_000).map { "item/\($0)" }, on: wire)
    try bench.turn(5)
    #expect(try bench.ask(reader) { try $0.get("before") }.isOK)
    #expect(try bench.ask(reader) { try $0.get("item/0") }.failure == .notFound)
    try writer.send { try $0.put("after", "x") }
    #expect(try answer(bench, wire).stored == 3_000)
    #expect(try bench.reply(on: writer).isOK)
    #expect(try bench.ask(reader) { try $0.get("item/0") }.isOK)
  }

  @Test func `a lock or a hang-up in the middle leaves nothing of it`() throws {
    let bench = try Bench()
    let (wire, other) = (try bench.unlocked(), try bench.client())
    try send((0..<3_000).map { "item/\($0)" }, on: wire)
    try bench.turn(5)
    #expect(try bench.ask(other) { try $0.putLock(.asked, scope: .vault) }.isOK)
    let told = try answer(bench, wire)
    #expect(told.stored == nil)
    #expect(told.end.failure == .locked)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.status(other)?.itemCount == 0)
    var gone: Wire? = try bench.client()
    if let gone { try send((0..<3_000).map { "item/\($0)" }, on: gone) }
    try bench.turn(5)
    gone = nil
    #expect(try bench.ask(other) { try $0.put("x", "1") }.isOK)
    #expect(try bench.status(other)?.itemCount == 1)
  }
}
