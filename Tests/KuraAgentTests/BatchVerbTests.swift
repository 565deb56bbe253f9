// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// Many values in one request.
@Suite struct BatchVerbTests {
  /// A request for items that are called so, each with its name for a value.
  private func send(
    _ names: [String], _ flags: PutBatchRequest.Flags = [], on wire: Wire
  ) throws {
    var items = try SecretBuffer(capacity: 4_096)
    for name in names {
      try items.putItem(BatchItem(name: name.utf8.span, flags: [], value: name.utf8.span))
    }
    try wire.send {
      try $0.putRequest(.putBatch(.init(flags: flags, items: items.bytes, count: names.count)))
    }
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

  @Test func `is one file after a lock, whatever is left of its WAL`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    for folder in ["a", "b", "c"] {
      #expect(try store(names(folder), bench, wire).end.isOK)
    }
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let deadline = ContinuousClock.now + .seconds(30)
    while access(bench.vault + "-wal", F_OK) == 0, ContinuousClock.now < deadline {
      try bench.agent.turn(waitingAtMost: 5)
    }
    #expect(access(bench.vault + "-wal", F_OK) != 0)
    #expect(try bench.ask(wire) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.ask(wire) { try $0.get("a/3999") }.isOK)
  }

  @Test func `without items it tells whether the vault is unlocked`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try store([], bench, wire).stored == 0)
    #expect(try bench.ask(wire) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let told = try store([], bench, wire)
    #expect(told.stored == nil)
    #expect(told.end.failure == .locked)
    #expect(told.end.type == .reply)
  }

  /// As many names as take longer to write than to look at.
  private func names(_ folder: String) -> [String] { (1_000..<4_000).map { "\(folder)/\($0)" } }

  /// Stores the names of a folder, and counts the turns after which others of that number are being
  /// written: looking at them takes a third of all.
  private func turnsToMiddle(_ folder: String, _ bench: Bench, _ wire: Wire) throws -> Int {
    try send(names(folder), on: wire)
    for turns in 1...10_000 {
      try bench.turn()
      wire.receive()
      while let frame = try wire.nextFrame() {
        guard frame.type != .progress else { continue }
        #expect(frame.isOK)
        return turns * 2 / 3
      }
    }
    throw TestFailure("no answer came in time")
  }

  /// Whether a client was answered by now.
  private func isAnswered(_ wire: Wire) throws -> Bool {
    wire.receive()
    return try wire.nextFrame() != nil
  }

  @Test func `others read the state before while it is written, and write afterwards`() throws {
    let bench = try Bench()
    let (wire, reader, writer) = (try bench.unlocked(), try bench.client(), try bench.client())
    let middle = try turnsToMiddle("a", bench, wire)
    try send(names("b"), on: wire)
    try bench.turn(middle)
    #expect(try bench.ask(reader) { try $0.get("a/1000") }.isOK)
    #expect(try bench.ask(reader) { try $0.get("b/1000") }.failure == .notFound)
    try writer.send { try $0.put("after", "x") }
    try bench.turn(3)
    #expect(try !isAnswered(writer))
    #expect(try !isAnswered(wire))
    #expect(try answer(bench, wire).stored == 3_000)
    #expect(try bench.reply(on: writer).isOK)
    #expect(try bench.ask(reader) { try $0.get("b/1000") }.isOK)
  }

  @Test func `a lock or a hang-up while it is written leaves nothing of it`() throws {
    let bench = try Bench()
    let (wire, other) = (try bench.unlocked(), try bench.client())
    let middle = try turnsToMiddle("a", bench, wire)
    try send(names("b"), on: wire)
    try bench.turn(middle)
    #expect(try !isAnswered(wire))
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    let told = try answer(bench, wire)
    #expect(told.stored == nil)
    #expect(told.end.failure == .locked)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try bench.status(other)?.itemCount == 3_000)
    var gone: Wire? = try bench.client()
    if let gone { try send(names("b"), on: gone) }
    try bench.turn(middle)
    gone = nil
    #expect(try bench.ask(other) { try $0.put("x", "1") }.isOK)
    #expect(try bench.status(other)?.itemCount == 3_001)
  }
}

/// Many values of which all are stored, or none.
@Suite struct WholeBatchTests {
  private typealias Given = (name: String, value: String, flags: BatchItem.Flags)

  private let whole: PutBatchRequest.Flags = [.whole, .allowEmpty]

  /// What became of one: how many are stored, the second number, and how it ended.
  private func store(
    _ given: [Given], _ flags: PutBatchRequest.Flags, _ bench: Bench, _ wire: Wire
  ) throws -> (stored: Int?, second: Int?, end: Received) {
    var items = try SecretBuffer(capacity: 4_096)
    for (name, value, flags) in given {
      try items.putItem(BatchItem(name: name.utf8.span, flags: flags, value: value.utf8.span))
    }
    try wire.send {
      try $0.putRequest(.putBatch(.init(flags: flags, items: items.bytes, count: given.count)))
    }
    var report: ProgressReport?
    while true {
      let frame = try bench.reply(on: wire)
      guard frame.type == .progress else {
        return (report.map { Int($0.done) }, report.map { Int($0.total) }, frame)
      }
      report = try ProgressReport(frame.payload.span)
    }
  }

  private func count(_ bench: Bench, _ wire: Wire) throws -> Int? {
    try bench.status(wire).map { Int($0.itemCount) }
  }

  @Test func `nothing is stored where one item cannot be, and its place is told`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try store([("b", "old", [])], whole, bench, wire).end.isOK)
    for bad: Given in [("b", "2", []), ("d/", "2", []), ("e", "no URI", .otp)] {
      let told = try store([("a", "1", []), bad, ("c", "3", [])], whole, bench, wire)
      #expect(told.stored == 0 && told.second == 1, "\(bad.name)")
      #expect(told.end.type == .end && !told.end.isOK)
      #expect(try count(bench, wire) == 1)
    }
    #expect(try bench.ask(wire) { try $0.get("a") }.failure == .notFound)
  }

  @Test func `requests that belong together are stored together`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let more = whole.union(.more)
    let first = try store([("a", "1", []), ("b", "2", [])], more, bench, wire)
    #expect(first.stored == 0 && first.second == 2 && first.end.isOK)
    #expect(try count(bench, wire) == 0)
    // What asks anything else has them forgotten.
    #expect(try store([("c", "3", [])], whole, bench, wire).stored == 1)
    #expect(try count(bench, wire) == 1)
    #expect(try store([("a", "1", []), ("b", "2", [])], more, bench, wire).second == 2)
    #expect(try store([("d", "4", [])], more, bench, wire).second == 3)
    let last = try store([("e", "5", [])], whole, bench, wire)
    #expect(last.stored == 4 && last.end.isOK)
    #expect(try count(bench, wire) == 5)
    #expect(try store([("f", "6", [])], more, bench, wire).second == 1)
    let refused = try store([("g", "7", []), ("e", "5", [])], whole, bench, wire)
    #expect(refused.stored == 0 && refused.second == 2 && refused.end.failure == .exists)
    #expect(try count(bench, wire) == 5)
  }

  @Test func `a trial tells what could not be stored, and stores nothing`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let trial = whole.union(.trial)
    let uri = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    #expect(try store([("a", "1", [])], whole.union(.more), bench, wire).end.isOK)
    let held = try store([("b", uri, .otp)], trial, bench, wire)
    #expect(held.stored == 0 && held.second == 2 && held.end.isOK)
    #expect(try store([("a", "1", [])], whole.union(.more), bench, wire).end.isOK)
    let told = try store([("b", "no URI", .otp)], trial, bench, wire)
    #expect(told.stored == 0 && told.second == 1 && told.end.failure == .otpInvalid)
    #expect(try count(bench, wire) == 0)
    // Nobody who writes is kept out after it.
    let other = try bench.client()
    #expect(try store([("a", "1", [])], whole, bench, other).stored == 1)
  }

  @Test func `what came in before a lock is forgotten`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let other = try bench.client()
    #expect(try store([("a", "1", [])], whole.union(.more), bench, wire).end.isOK)
    #expect(try bench.ask(other) { try $0.putRequest(.lock(.init(.asked, scope: .vault))) }.isOK)
    #expect(try bench.ask(other) { try $0.unlock(Bench.passcode) }.isOK)
    #expect(try store([("b", "2", [])], whole, bench, wire).stored == 1)
    #expect(try count(bench, other) == 1)
  }

  @Test func `an item replaces where it says so, and makes codes where it says so`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let uri = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    let told = try store(
      [("a", "1", []), ("a", "2", .replace), ("b", uri, .otp), ("c", "", [])], whole, bench, wire)
    #expect(told.stored == 4 && told.end.isOK)
    #expect(try count(bench, wire) == 3)
    #expect(try bench.ask(wire) { try $0.putRequest(.otp(.init(name: "b".utf8.span))) }.isOK)
    #expect(
      try bench.ask(wire) { try $0.putRequest(.otp(.init(name: "a".utf8.span))) }.failure == .notOTP
    )
    #expect(try store([("a", "3", .replace), ("b", uri, .otp)], whole, bench, wire).second == 1)
  }

  @Test func `parts that are no whole are no request`() throws {
    for flags: PutBatchRequest.Flags in [
      .more, .whole, [.more, .allowEmpty], [.whole, .more], .trial, [.trial, .allowEmpty],
      [.whole, .allowEmpty, .more, .trial],
    ] {
      let bench = try Bench()
      let wire = try bench.unlocked()
      #expect(try store([("a", "1", [])], flags, bench, wire).end.failure == .malformed)
    }
  }
  /// How long a value is.
  private func read(_ name: String, _ bench: Bench, _ wire: Wire) throws -> Int {
    let reply = try bench.ask(wire) { try $0.get(name) }
    let answer = try GetReply(reply: reply.payload.span)
    guard answer.isStream else { return answer.value.bytes.count }
    var count = 0
    while case let frame = try bench.reply(on: wire), frame.type == .data {
      count += frame.payload.count
    }
    return count
  }

  @Test func `a value goes on over items and requests, and no place is counted for that`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let piece = String(repeating: "x", count: ProtocolLimit.inlineValue)
    let more: [Given] = [("", piece, .goesOn), ("", "end", .goesOn)]
    let first = try store([("a", piece, [])] + more, whole.union(.more), bench, wire)
    #expect(first.end.isOK)
    #expect(try store(more + [("b", "2", [])], whole, bench, wire).end.isOK)
    #expect(try read("a", bench, wire) == 3 * piece.utf8.count + 6)
    #expect(try read("b", bench, wire) == 1)
    let refused = try store([("c", piece, [])] + more + [("b", "2", [])], whole, bench, wire)
    #expect(refused.stored == 0 && refused.second == 1 && refused.end.failure == .exists)
    #expect(try count(bench, wire) == 2)
    #expect(try bench.ask(wire) { try $0.get("c") }.failure == .notFound)
  }

  @Test func `what makes codes, or is deleted, does not go on`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    let uri = "otpauth://totp/x?secret=JBSWY3DPEHPK3PXP"
    for item: Given in [("a", uri, .otp), ("a", "", [.delete, .replace])] {
      let told = try store([item, ("", "more", .goesOn)], whole, bench, wire)
      #expect(told.stored == 0 && told.second == 0 && !told.end.isOK)
    }
    #expect(try count(bench, wire) == 0)
  }

  @Test func `what goes on with nothing, or has a name, is no request`() throws {
    let bench = try Bench()
    let wire = try bench.unlocked()
    #expect(try store([("", "x", .goesOn)], whole, bench, wire).end.failure == .malformed)
    for bad: Given in [("b", "x", .goesOn), ("", "x", [.goesOn, .protect])] {
      #expect(throws: ProtocolError.fieldValue) {
        try store([("a", "1", []), bad], whole, bench, wire)
      }
    }
  }
}
