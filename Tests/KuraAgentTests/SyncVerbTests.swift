// SPDX-License-Identifier: MIT

import Glibc
import KuraFormat
import KuraProtocol
import KuraTerms
import KuraVault
import SecureMemory
import Testing

@testable import KuraAgent

/// Wants what a test says, and keeps what it was told.
/// Unchecked: the test looks at it only where the agent waits for an answer.
private final class Script: StoreDialog, @unchecked Sendable {
  var report = SyncReply()
  /// What it wants; nil ends it. Without any more it ends, too.
  var wishes: [SyncWish?] = []
  var answers: [SyncAnswer?] = []
  var errors: [VaultError] = []
  var begun = 0
  /// What it does with the vault each time.
  var work: ((inout UnlockedVault) throws(VaultError) -> Void)?

  func next(_ answer: SyncAnswer?, in vault: inout UnlockedVault) throws(VaultError) -> SyncWish? {
    if !errors.isEmpty { throw errors.removeFirst() }
    answers.append(answer)
    try work?(&vault)
    report.came.added += 1
    return wishes.isEmpty ? nil : wishes.removeFirst()
  }
}

/// What a vault wants of a store, and what a client tells of it, go over one connection while others are served.
@Suite struct `A meeting with a store` {
  private let script: Script
  private let bench: Bench
  private let wire: Wire
  private let device: DeviceID
  private let hash = [UInt8](repeating: 0xBC, count: 32)

  init() throws {
    let script = Script()
    self.script = script
    bench = try Bench { configuration in
      configuration.beginSync = { _, _ in
        script.begun += 1
        return script
      }
    }
    wire = try bench.unlocked()
    let bytes = [UInt8](repeating: 0x2A, count: 16)
    device = DeviceID(bytes.span)
  }

  private var object: RemotePath { .object(device, hash: hash) }

  /// What the agent answers up to its end: errands, bytes, the report.
  private struct Answer {
    var errand: StoreErrand?
    var bytes: [UInt8] = []
    var report: SyncReply?
    var progress: [UInt64] = []
    var last: Received?
  }

  private func answer(on wire: Wire) throws -> Answer { try answer(of: bench, on: wire) }

  private func answer(of bench: Bench, on wire: Wire) throws -> Answer {
    var answer = Answer()
    while true {
      let frame = try bench.reply(on: wire)
      switch frame.type {
      case .progress: answer.progress.append(try ProgressReport(frame.payload.span).done)
      case .data where answer.errand == nil:
        answer.errand = try StoreErrand(data: frame.payload.span)
      case .data where answer.errand?.kind == StoreErrandKind.none:
        answer.report = try SyncReply(data: frame.payload.span)
      case .data: answer.bytes += frame.payload
      default:
        answer.last = frame
        return answer
      }
    }
  }

  private func begin(_ wire: Wire? = nil) throws -> Answer {
    try (wire ?? self.wire).send { try $0.putRequest(.sync(.init())) }
    return try answer(on: wire ?? self.wire)
  }

  private func give(_ answer: StoreAnswer) throws -> Answer {
    try wire.send { try $0.putRequest(.syncGiven(.init(answer))) }
    return try self.answer(on: wire)
  }

  private func give(names: [String], hasMore: Bool = false) throws -> Answer {
    var list = try SecretBuffer(capacity: 64)
    for name in names { try list.put16(text: name) }
    try wire.send {
      try $0.putRequest(
        .syncGiven(.init(names: KeyFields(list.bytes, count: names.count), hasMore: hasMore)))
    }
    return try answer(on: wire)
  }

  private func give(_ bytes: [UInt8], hasMore: Bool = false) throws -> Answer {
    try wire.send { try $0.putRequest(.syncGiven(.init(bytes: bytes.span, hasMore: hasMore))) }
    return try answer(on: wire)
  }

  @Test func `goes from errand to errand until there is none`() throws {
    script.wishes = [
      .heads, .objects(device), .file(object, most: 10), .delete(object), .delete(object), nil,
    ]
    let head = RemotePath.head(device).text
    var heard = try begin()
    #expect(heard.errand == StoreErrand(.list, "heads") && heard.last?.isOK == true)
    heard = try give(names: [head])
    #expect(heard.errand == StoreErrand(.list, StorePlace.objects(of: device.bytes)))
    heard = try give(names: [])
    #expect(heard.errand == StoreErrand(.fetch, object.text, size: 10))
    heard = try give([1, 2, 3])
    #expect(heard.errand == StoreErrand(.delete, object.text))
    #expect(try give(.kept).errand == StoreErrand(.delete, object.text))
    heard = try give(.done)
    #expect(heard.errand == StoreErrand() && heard.report?.came.added == 6)
    #expect(heard.last?.isOK == true)
    let told: [SyncAnswer?] = [
      nil, .paths([.head(device)]), .paths([]), .file([1, 2, 3]), .kept, .done,
    ]
    #expect(script.answers == told)
    // It is over: what is said then is an answer to nothing.
    #expect(try give(.done).last?.failure == .malformed)
  }

  @Test func `long files go in parts, both ways`() throws {
    let long = (0..<10 * ProtocolLimit.chunk).map { UInt8(truncatingIfNeeded: $0 >> 8) }
    script.wishes = [.write(object, long), .file(object, most: long.count), .heads]
    let heard = try begin()
    #expect(heard.errand == StoreErrand(.write, object.text, size: UInt32(long.count)))
    #expect(heard.bytes == long && heard.last?.isOK == true)
    #expect(try give(.done).errand?.kind == .fetch)
    let piece = ProtocolLimit.chunk
    for start in stride(from: 0, to: long.count, by: piece) {
      let isLast = start + piece == long.count
      let part = Array(long[start..<(start + piece)])
      let said = try give(part, hasMore: !isLast)
      #expect(said.last?.isOK == true)
      #expect(isLast ? said.errand?.kind == .list : said.progress == [UInt64(start / piece + 1)])
    }
    #expect(script.answers == [nil, .done, .file(long)])
    let names = (0..<3).map { "heads/" + StorePlace.hexadecimal([UInt8](repeating: $0, count: 16)) }
    #expect(try give(names: Array(names.prefix(2)), hasMore: true).progress == [1])
    #expect(try give(names: Array(names.suffix(1))).errand?.kind == StoreErrandKind.none)
    #expect(script.answers.last == .paths(names.compactMap { RemotePath($0) }))
  }

  @Test func `an empty file is written, and a missing one is told`() throws {
    script.wishes = [.write(object, []), .file(object, most: 0)]
    #expect(try begin().errand == StoreErrand(.write, object.text))
    #expect(try give(.done).errand == StoreErrand(.fetch, object.text))
    #expect(try give(.missing).report != nil)
    #expect(script.answers == [nil, .done, .missing])
  }

  @Test func `what was not asked for ends the connection`() throws {
    let other = StorePlace.hexadecimal([UInt8](repeating: 1, count: 16))
    let trials: [(SyncWish, (Self) throws -> Answer)] = [
      (.heads, { try $0.give(.done) }), (.write(object, []), { try $0.give(.kept) }),
      (.heads, { try $0.give([1]) }),
      (.heads, { try $0.give(names: [$0.object.text]) }),
      (.heads, { try $0.give(names: ["heads/../x"]) }),
      (.objects(device), { try $0.give(names: ["heads/" + other]) }),
      (
        .objects(device),
        { try $0.give(names: [$0.object.text.replacing($0.idText, with: other)]) }
      ),
      (.file(object, most: 2), { try $0.give([1, 2, 3]) }),
      (
        .file(object, most: 2),
        {
          _ = try $0.give([1, 2], hasMore: true)
          return try $0.give([3])
        }
      ),
      (
        .file(object, most: 2),
        {
          _ = try $0.give([1], hasMore: true)
          return try $0.give(.missing)
        }
      ),
      (.file(object, most: 2), { try $0.give(names: []) }),
      (.write(object, [1]), { try $0.give(.missing) }),
      (.delete(object), { try $0.give([]) }),
    ]
    for (wish, say) in trials {
      let trial = try `A meeting with a store`()
      trial.script.wishes = [wish]
      _ = try trial.begin()
      #expect(try say(trial).last?.failure == .malformed, "\(wish)")
      try trial.bench.awaitEnd(of: trial.wire)
      #expect(trial.script.answers == [nil])
    }
  }

  private var idText: String { StorePlace.hexadecimal(device.bytes) }

  @Test func `a store that fails ends it with what came until then`() throws {
    for wish in [SyncWish.heads, .objects(device), .file(object, most: 9), .delete(object)] {
      script.wishes = [wish]
      _ = try begin()
      let heard = try give(.failed)
      #expect(heard.errand == StoreErrand() && heard.report == script.report)
      #expect(heard.last?.isOK == true)
    }
  }

  @Test func `there is one at a time for a vault, and another request ends it`() throws {
    let other = try bench.client()
    script.wishes = [.heads, .heads, .heads]
    _ = try begin()
    try other.send { try $0.putRequest(.sync(.init())) }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 6_000)
    #expect(try bench.reply(on: other).failure == .busy)
    #expect(script.begun == 1)
    // The client that had it asks for something else.
    #expect(try bench.ask(wire) { try $0.list() }.isOK)
    #expect(try begin(other).errand?.kind == .list)
    #expect(script.begun == 2)
    // That one is gone.
    shutdown(other.raw, Int32(SHUT_RDWR))
    #expect(try begin().errand?.kind == .list)
    #expect(script.begun == 3)
  }

  @Test func `while its client is at work others read and write`() throws {
    let other = try bench.client()
    script.wishes = [.heads]
    _ = try begin()
    #expect(try bench.ask(other) { try $0.put("a", "1") }.isOK)
    #expect(try bench.value("a", other) == "1")
    #expect(try give(names: []).report != nil)
  }

  @Test func `the vault goes on in slices, and is waited for`() throws {
    script.wishes = [.nothing, .nothing, .heads]
    script.errors = [.busy]
    try wire.send { try $0.putRequest(.sync(.init())) }
    try bench.turn(3)
    #expect(script.answers.isEmpty)
    bench.clock.pass(milliseconds: 20)
    let heard = try answer(on: wire)
    #expect(heard.progress == [1, 2] && heard.errand?.kind == .list)
    #expect(script.answers == [nil, nil, nil])
    script.errors = [.busy]
    var list = try SecretBuffer(capacity: 64)
    try list.put16(text: RemotePath.head(device).text)
    try wire.send {
      try $0.putRequest(.syncGiven(.init(names: KeyFields(list.bytes, count: 1), hasMore: false)))
    }
    try bench.turn(3)
    bench.clock.pass(milliseconds: 20)
    #expect(try answer(on: wire).report != nil)
    #expect(script.answers.last == .paths([.head(device)]))
  }

  @Test func `an error of the vault ends it`() throws {
    script.wishes = [.heads, .heads]
    _ = try begin()
    script.errors = [.diskFull]
    #expect(try give(names: []).last?.failure == .diskFull)
    #expect(try give(names: []).last?.failure == .malformed)
  }

  @Test func `a lock ends it`() throws {
    let other = try bench.client()
    script.wishes = [.heads, .heads, .heads, .heads]
    _ = try begin()
    try bench.lock(other)
    #expect(try give(names: []).last?.failure == .locked)
    try bench.unlock(other)
    #expect(try begin().errand?.kind == .list)
    // One that says nothing meanwhile has it no more, either.
    try bench.lock(other)
    try bench.unlock(other)
    #expect(try give(names: []).last?.failure == .malformed)
    #expect(script.answers == [nil, nil])
  }

  @Test func `it is no use of the vault`() throws {
    let clock = bench.clock
    try bench.lock(wire)
    let short = try bench.client()
    #expect(try bench.ask(short) { try $0.unlock(Bench.passcode, idle: 60_000) }.isOK)
    script.wishes = [.heads, .heads]
    _ = try begin()
    clock.pass(milliseconds: 59_000)
    #expect(try give(names: []).errand?.kind == .list)
    clock.pass(milliseconds: 1_500)
    #expect(try give(names: []).last?.failure == .locked)
  }

  @Test func `rooms are served none of it`() throws {
    var names = try SecretBuffer(capacity: 16)
    try names.put16(text: "a")
    #expect(
      try bench.ask(wire) {
        try $0.putRequest(.confine(.init(KeyFields(names.bytes, count: 1))))
      }.isOK)
    #expect(try bench.ask(wire) { try $0.hello(bench.vault) }.type == .agentHello)
    for verb in [Verb.sync, .syncGiven, .syncStatus, .syncStart] {
      let payload: [UInt8] =
        switch verb {
        case .syncGiven: [verb.rawValue, StoreAnswer.done.rawValue, 0]
        case .syncStatus: [verb.rawValue]
        case .syncStart: [verb.rawValue, 0, 0, 0]
        default: [verb.rawValue, 0]
        }
      #expect(
        try bench.ask(wire) { try $0.putRequest(Request(payload.span)) }.failure == .confined)
    }
  }

  @Test func `a locked vault waits, and one that nobody can share says so`() throws {
    let plain = try Bench()
    let wire = try plain.unlocked()
    #expect(try plain.ask(wire) { try $0.putRequest(.sync(.init())) }.failure == .unsupported)
    let reply = try plain.ask(wire) { try $0.putRequest(.syncStatus) }
    #expect(try SyncStatusReply(reply: reply.payload.span) == SyncStatusReply())
    try plain.lock(wire)
    #expect(try plain.ask(wire) { try $0.putRequest(.sync(.init())) }.failure == .locked)
    #expect(try plain.ask(wire) { try $0.putRequest(.syncStatus) }.failure == .locked)
  }

  private func copied(_ reply: Received) throws -> String {
    let taken = try TakeOverReply(reply: reply.payload.span)
    return text(taken.copy)
  }

  @Test func `a vault is shared from then on, and who shares it is told`() throws {
    let plain = try Bench()
    let wire = try plain.unlocked()
    func start(_ flags: SyncStartRequest.Flags) throws -> Received {
      try plain.ask(wire) {
        try $0.putRequest(.syncStart(.init(label: "desk".utf8.span, flags)))
      }
    }
    // A guess at its passcode is cheap.
    #expect(try start([]).failure == .kdfTooWeak)
    #expect(try plain.status(wire)?.format == 1)
    #expect(try copied(try start(.weak)).hasSuffix(".format-1"))
    func told() throws -> SyncStatusReply {
      let reply = try plain.ask(wire) { try $0.putRequest(.syncStatus) }
      return try SyncStatusReply(reply: reply.payload.span)
    }
    let state = try told()
    #expect(state.isShared && state.devices.count == 1 && state.waiting == 0)
    #expect(state.devices[0].isThis && state.devices[0].label == Array("desk".utf8))
    #expect(try plain.ask(wire) { try $0.put("a", "1") }.isOK)
    #expect(try told().waiting == 1)
    // It is shared already, and stays as it is.
    #expect(try start(.weak).isOK)
    #expect(try start(.sparing).failure == .passcodesInStore)
    #expect(try told().epoch == state.epoch && !told().isSparing)
    try wire.send { try $0.putRequest(.sync(.init())) }
    #expect(try answer(of: plain, on: wire).errand == StoreErrand(.list, StorePlace.heads))
  }

  @Test func `a vault is shared by its recovery key alone, or stays as it is`() throws {
    let plain = try Bench()
    let wire = try plain.unlocked()
    func start(_ flags: SyncStartRequest.Flags = .sparing) throws -> Received {
      try plain.ask(wire) {
        try $0.putRequest(.syncStart(.init(label: "desk".utf8.span, flags)))
      }
    }
    func told() throws -> SyncStatusReply {
      let reply = try plain.ask(wire) { try $0.putRequest(.syncStatus) }
      return try SyncStatusReply(reply: reply.payload.span)
    }
    // It has none, and is not even taken over.
    #expect(try start().failure == .recoveryKeyNeeded)
    #expect(try plain.status(wire)?.format == 1)
    #expect(try plain.add(SlotOrder(.recoveryKey), "", on: wire).recoveryKey != nil)
    #expect(try plain.ask(wire) { try $0.putConfirm() }.isOK)
    #expect(try copied(try start()).hasSuffix(".format-1"))
    #expect(try told().isSparing)
    // Nothing that is said later ends it, and how cheap a guess at the passcode is matters to nobody.
    #expect(try start().isOK && start([]).isOK && told().isSparing)
  }
}
