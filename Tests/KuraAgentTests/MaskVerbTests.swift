// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory
import Testing

@testable import KuraAgent

/// Who masks what programs write knows a value before one of them has it.
@Suite struct MaskVerbTests {
  /// What a needle says.
  private struct Told: Equatable {
    var number: UInt64 = 0
    var part = Needle.Part.value
    var size: UInt64
    var name: String
    var key = ""
    var value: String
  }

  /// Process 100 masks, 110 is below it, 120 beside; 105 masks below it and has 115.
  private static let links = [
    link(100, below: 5, at: 1), link(105, below: 100, at: 2), link(110, below: 100, at: 2),
    link(115, below: 105, at: 3), link(120, below: 5, at: 2), link(5, below: 1, at: 0, "foot"),
  ]

  private let bench: Bench
  private let processes = Processes(links)

  init() throws {
    let processes = processes
    bench = try Bench { configuration in
      configuration.processes = processes.look
      configuration.livesAtEnd = { _ in true }
    }
    let wire = try bench.unlocked()
    #expect(
      try bench.ask(wire) {
        try $0.put("a", "hunter22", attributes: [("user", "ada-lovelace")])
      }.isOK)
    #expect(try bench.ask(wire) { try $0.put("pin", "0815") }.isOK)
  }

  /// A client that is that process.
  private func client(_ process: Int32) throws -> Wire {
    let before = Set(bench.agent.connections.map { ObjectIdentifier($0) })
    let wire = try bench.client()
    for connection in bench.agent.connections
    where !before.contains(ObjectIdentifier(connection)) {
      connection.process = process
    }
    return wire
  }

  private func masker(_ process: Int32) throws -> Wire {
    let wire = try client(process)
    #expect(try bench.ask(wire) { try $0.putRequest(.mask) }.type == .progress)
    return wire
  }

  private func told(_ wire: Wire) throws -> Told {
    let frame = try bench.reply(on: wire)
    let needle = try Needle(frame.payload.span)
    return Told(
      number: needle.number, part: needle.part, size: needle.size, name: text(needle.name),
      key: text(needle.key), value: text(needle.value))
  }

  private func say(_ number: UInt64, _ isTaken: Bool = true, on wire: Wire) throws {
    try wire.send { try $0.putNeedleWord(NeedleWord(number, isTaken: isTaken)) }
  }

  /// Whether nothing comes.
  private func isSilent(_ wire: Wire) throws -> Bool {
    try bench.turn(3)
    return !wire.waitReadable(milliseconds: 20)
  }

  @Test func `a value waits until who masks it has it`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    try reader.send { try $0.get("a") }
    let told = try told(masker)
    #expect(told == Told(number: told.number, size: 8, name: "a", value: "hunter22"))
    #expect(try isSilent(reader))
    try say(told.number, on: masker)
    #expect(try bench.reply(on: reader).value == "hunter22")
    // The connection goes on.
    #expect(try bench.ask(reader) { try $0.show("a") }.isOK)
  }

  @Test func `so do attributes and codes`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    #expect(try bench.ask(reader) { try $0.put("otp", uri, flags: .otp) }.isOK)
    try reader.send { try $0.attribute("user", of: "a") }
    var news = try told(masker)
    #expect(news.part == .attribute)
    #expect([news.name, news.key, news.value] == ["a", "user", "ada-lovelace"])
    try say(news.number, on: masker)
    #expect(try bench.reply(on: reader).isOK)
    try reader.send { try $0.putRequest(.otp(.init(name: "otp".utf8.span))) }
    news = try told(masker)
    #expect(news.part == .code)
    #expect([news.name, news.value] == ["otp", "755224"])
    try say(news.number, on: masker)
    let code = try bench.reply(on: reader)
    #expect(try text(OTPReply(reply: code.payload.span).code) == "755224")
  }

  @Test func `secret attributes are told of, each`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    for key in ["one", "two"] {
      let value = "secret-" + key
      #expect(
        try bench.ask(reader) {
          try $0.putRequest(
            .setSecret(
              .init(name: "a".utf8.span, key: key.utf8.span, value: value.utf8.span)))
        }.isOK)
    }
    try reader.send { try $0.attribute("one", of: "a") }
    var news = try told(masker)
    #expect([news.key, news.value] == ["one", "secret-one"])
    try say(news.number, on: masker)
    #expect(try bench.reply(on: reader).isOK)
    try reader.send { try $0.putRequest(.getSecrets(.init(name: "a".utf8.span))) }
    news = try told(masker)
    let second = try told(masker)
    #expect([news.value, second.value] == ["secret-one", "secret-two"])
    try say(second.number, on: masker)
    #expect(try isSilent(reader))
    try say(news.number, on: masker)
    #expect(try bench.reply(on: reader).isOK)
  }

  @Test func `a value that is too short or too long is told of, and not sent`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    try reader.send { try $0.get("pin") }
    var news = try told(masker)
    #expect(news == Told(number: news.number, size: 4, name: "pin", value: ""))
    try say(news.number, on: masker)
    #expect(try bench.reply(on: reader).value == "0815")
    #expect(try bench.ask(reader) { try $0.upload("long") }.isOK)
    let long = [UInt8](repeating: 7, count: 65_536)
    try reader.send { try $0.data(long) }
    try reader.send { try $0.data([7]) }
    #expect(try bench.ask(reader) { try $0.putUploadEnd(.commit) }.isOK)
    try reader.send { try $0.get("long") }
    news = try told(masker)
    #expect(news == Told(number: news.number, size: 65_537, name: "long", value: ""))
    #expect(try isSilent(reader))
    try say(news.number, on: masker)
    #expect(try bench.reply(on: reader).isOK)
    #expect(try bench.reply(on: reader).type == .data)
  }

  @Test func `nobody is told of what others are handed`() throws {
    let masker = try masker(100)
    // Beside it, it itself, and one with the number of a process below it.
    for process: Int32 in [120, 100] {
      #expect(try bench.ask(try client(process)) { try $0.get("a") }.value == "hunter22")
    }
    processes.set(link(110, below: 5, at: 9))
    #expect(try bench.ask(try client(110)) { try $0.get("a") }.value == "hunter22")
    // A process that came later, with the number of who masks.
    processes.set(link(100, below: 5, at: 4))
    processes.set(link(111, below: 100, at: 5))
    #expect(try bench.ask(try client(111)) { try $0.get("a") }.value == "hunter22")
    #expect(try isSilent(masker))
  }

  @Test func `whoever is below it in another room, or with other rights, is meant as well`() throws
  {
    let masker = try masker(100)
    processes.set(link(111, below: 110, at: 5, depth: 2, user: 0))
    let reader = try client(111)
    try reader.send { try $0.get("a") }
    try say(try told(masker).number, on: masker)
    #expect(try bench.reply(on: reader).value == "hunter22")
  }

  @Test func `all that are above one have to have it`() throws {
    let (outer, inner) = (try masker(100), try masker(105))
    let reader = try client(115)
    try reader.send { try $0.get("a") }
    let (first, second) = (try told(outer), try told(inner))
    #expect(first.number != second.number)
    // The word of one about what the other was told is none.
    try say(second.number, on: outer)
    try say(second.number, on: inner)
    #expect(try isSilent(reader))
    try say(first.number, on: outer)
    #expect(try bench.reply(on: reader).value == "hunter22")
    // What the inner one is handed itself, the outer one is told of.
    let own = try client(105)
    try own.send { try $0.get("a") }
    try say(try told(outer).number, on: outer)
    #expect(try bench.reply(on: own).isOK)
    #expect(try isSilent(inner))
  }
}

// MARK: - When that fails

extension MaskVerbTests {
  @Test func `a value that cannot be masked is not handed out`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    try reader.send { try $0.get("a") }
    try say(try told(masker).number, false, on: masker)
    #expect(try bench.reply(on: reader).failure == .maskerSilent)
    #expect(try bench.ask(reader) { try $0.show("a") }.isOK)
  }

  @Test func `who masks and says nothing keeps nobody waiting for ever`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    try reader.send { try $0.get("a") }
    let news = try told(masker)
    bench.clock.pass(milliseconds: 4_999)
    #expect(try isSilent(reader))
    bench.clock.pass(milliseconds: 1)
    #expect(try bench.reply(on: reader).failure == .maskerSilent)
    // A word that comes too late is no answer to the next one.
    try say(news.number, on: masker)
    try reader.send { try $0.get("a") }
    let next = try told(masker)
    #expect(try isSilent(reader))
    try say(next.number, on: masker)
    #expect(try bench.reply(on: reader).value == "hunter22")
  }

  @Test func `who masks and is gone is waited for no longer, and nothing is handed out`() throws {
    var gone: Wire? = try masker(100)
    let reader = try client(110)
    try reader.send { try $0.get("a") }
    _ = try told(try #require(gone))
    gone = nil
    #expect(try bench.reply(on: reader).failure == .maskerSilent)
    // Its process lives, and may come anew.
    #expect(try bench.ask(reader) { try $0.get("a") }.failure == .maskerSilent)
    let masker = try masker(100)
    try reader.send { try $0.get("a") }
    try say(try told(masker).number, on: masker)
    #expect(try bench.reply(on: reader).value == "hunter22")
  }

  @Test func `what a process leaves behind that masked is below it no more`() throws {
    var gone: Wire? = try masker(100)
    #expect(gone != nil)
    gone = nil
    try bench.turn(3)
    processes.set(link(110, below: 1, at: 2))
    #expect(try bench.ask(try client(110)) { try $0.get("a") }.value == "hunter22")
  }

  @Test func `a lock ends the wait, and the value with it`() throws {
    let (masker, reader, user) = (try masker(100), try client(110), try client(120))
    try reader.send { try $0.get("a") }
    let news = try told(masker)
    #expect(
      try bench.ask(user) { try $0.putRequest(.lock(LockRequest(.asked, scope: .vault))) }.isOK)
    #expect(try bench.reply(on: reader).failure == .locked)
    try say(news.number, on: masker)
    #expect(try isSilent(reader))
    // Who masks stays.
    #expect(try bench.ask(user) { try $0.unlock(Bench.passcode) }.isOK)
    try reader.send { try $0.get("a") }
    try say(try told(masker).number, on: masker)
    #expect(try bench.reply(on: reader).value == "hunter22")
  }

  @Test func `a refusal comes before a counter moves`() throws {
    let (masker, reader) = (try masker(100), try client(110))
    let uri = "otpauth://hotp/x?secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&counter=0"
    #expect(try bench.ask(reader) { try $0.put("otp", uri, flags: .otp) }.isOK)
    for _ in 0..<MaskRun.most {
      let other = try client(110)
      try other.send { try $0.get("pin") }
      _ = try told(masker)
    }
    let refused = try bench.ask(reader) { try $0.putRequest(.otp(.init(name: "otp".utf8.span))) }
    #expect(refused.failure == .maskerSilent)
    let code = try bench.ask(try client(120)) {
      try $0.putRequest(.otp(.init(name: "otp".utf8.span)))
    }
    #expect(try OTPReply(reply: code.payload.span).counter == 0)
  }

  @Test func `who cannot be placed is refused while somebody masks`() throws {
    let lost = try client(130)
    #expect(try bench.ask(lost) { try $0.get("a") }.value == "hunter22")
    let masker = try masker(100)
    try lost.send { try $0.get("a") }
    #expect(try isSilent(lost))
    bench.clock.pass(milliseconds: 5_000)
    #expect(try bench.reply(on: lost).failure == .busy)
    #expect(try isSilent(masker))
  }

  @Test func `there are so many and no more, and none whose process is not seen`() throws {
    var maskers: [Wire] = []
    for process in 200..<264 {
      processes.set(link(UInt32(process), below: 5, at: 1))
      maskers.append(try masker(Int32(process)))
    }
    processes.set(link(264, below: 5, at: 1))
    #expect(try bench.ask(try client(264)) { try $0.putRequest(.mask) }.failure == .tooBusy)
    maskers.removeLast()
    try bench.turn(3)
    processes.set(link(263, below: 5, at: 7))
    #expect(try bench.ask(try client(264)) { try $0.putRequest(.mask) }.type == .progress)
    #expect(try bench.ask(try client(999)) { try $0.putRequest(.mask) }.failure == .unsupported)
  }

  @Test func `who masks says nothing but whether it has a value`() throws {
    let masker = try masker(100)
    try masker.send { try $0.get("a") }
    try bench.awaitEnd(of: masker)
    let other = try self.masker(100)
    try other.send { try $0.data([1, 2]) }
    try bench.awaitEnd(of: other)
  }
}
