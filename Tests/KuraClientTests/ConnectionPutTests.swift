// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraClient

/// What an agent received of a put.
private struct Stored: Equatable, Sendable {
  var isStream = false
  var value: [UInt8] = []
  var largestPart = 0
}

private func store(_ agent: inout FakeAgent) throws -> Stored {
  var stored = Stored()
  let bytes = try agent.greet()
  let request = try Request(bytes.span)
  guard case .put(let put) = request else { throw FakeAgent.Failure.end }
  if !put.isStream {
    stored.value = put.value.bytes.indices.map { put.value.bytes[$0] }
  } else {
    stored.isStream = true
    try agent.say { try $0.putReply() }
    while let part = try? agent.next(.clientData) {
      stored.value += part
      stored.largestPart = max(stored.largestPart, part.count)
    }
  }
  try agent.say { try $0.putReply(PutReply(revision: 3, replaced: 2)) }
  return stored
}

struct ConnectionPutTests {
  private static let sizes = [0, 1, 65_535, 65_536, 65_537, 131_072, 300_001]

  private func value(_ size: Int) -> [UInt8] {
    (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 256) }
  }

  @Test(arguments: sizes)
  func `a value in memory arrives exactly`(_ size: Int) throws {
    let value = value(size)
    let stored = try conversation { agent in
      try store(&agent)
    } client: { connection in
      let reply = try connection.put(PutOrder(name: "a"), value: value.span)
      #expect(reply.revision == 3)
      #expect(reply.replaced == 2)
    }
    #expect(stored.value == value)
    #expect(stored.isStream == (size > 65_536))
    #expect(stored.largestPart <= 65_536)
  }

  @Test(arguments: sizes)
  func `a value from a descriptor arrives exactly`(_ size: Int) throws {
    let value = value(size)
    let stored = try conversation { agent in
      try store(&agent)
    } client: { connection in
      var input = ValueInput(descriptor: pipe(of: value))
      _ = try connection.put(PutOrder(name: "a"), from: &input)
      let count = input.count
      #expect(count == UInt64(size))
    }
    #expect(stored.value == value)
    #expect(stored.isStream == (size > 65_536))
  }

  @Test(arguments: sizes.filter { $0 > 0 }, [1, 2])
  func `one newline at the very end is trimmed when asked`(_ size: Int, _ newlines: Int) throws {
    let value = value(size).map { $0 == 10 ? 11 : $0 } + [UInt8](repeating: 10, count: newlines)
    let stored = try conversation { agent in
      try store(&agent)
    } client: { connection in
      var input = ValueInput(descriptor: pipe(of: value), trimsNewline: true)
      _ = try connection.put(PutOrder(name: "a"), from: &input)
      let endsInNewline = input.endedInNewline
      #expect(endsInNewline)
      let count = input.count
      #expect(count == UInt64(value.count - 1))
    }
    #expect(stored.value == value.dropLast())
  }

  @Test func `newlines everywhere arrive as they are`() throws {
    let value = [UInt8](repeating: 10, count: 200_000)
    for trims in [false, true] {
      let stored = try conversation { agent in
        try store(&agent)
      } client: { connection in
        var input = ValueInput(descriptor: pipe(of: value), trimsNewline: trims)
        _ = try connection.put(PutOrder(name: "a"), from: &input)
      }
      #expect(stored.value.count == value.count - (trims ? 1 : 0))
    }
  }

  @Test func `a value that ends in no newline is left alone`() throws {
    let stored = try conversation { agent in
      try store(&agent)
    } client: { connection in
      var input = ValueInput(descriptor: pipe(of: [65, 10, 66]), trimsNewline: true)
      _ = try connection.put(PutOrder(name: "a"), from: &input)
      let endsInNewline = input.endedInNewline
      #expect(!endsInNewline)
    }
    #expect(stored.value == [65, 10, 66])
  }

  @Test func `what is asked for goes with the value`() throws {
    let order = PutOrder(
      name: "a/b", flags: [.ifRevision, .replaceAttributes], revision: 7,
      attributes: [Attribute(key: "k", value: [1, 2])])
    let request = try conversation { agent in
      let request = try agent.greet()
      try agent.say { try $0.putReply(PutReply(revision: 8, replaced: 7)) }
      return request
    } client: {
      _ = try $0.put(order, value: "v".utf8.span)
    }
    guard case .put(let put) = try Request(request.span) else { return #expect(Bool(false)) }
    #expect(put.flags == order.flags)
    #expect(put.revision == 7)
    put.attributes.forEach { key, value in
      #expect(array(key) == [0x6B])
      #expect(array(value) == [1, 2])
    }
  }

  @Test func `a refusal in the middle of an upload is heard`() throws {
    let value = [UInt8](repeating: 0, count: 20_000_000)
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply() }
      _ = try agent.next(.clientData)
      try agent.say { try $0.putRefusal(.diskFull(.text("/v"))) }
    } client: { connection in
      let error = failure { _ = try connection.put(PutOrder(name: "a"), value: value.span) }
      #expect(error?.exitStatus == .inputOutput)
      guard case .refused = error else { return #expect(Bool(false)) }
    }
  }

  @Test func `an upload that is refused at once sends no value`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putRefusal(.exists(revision: 1, .none)) }
      #expect((try? agent.read()) == nil)
    } client: { connection in
      let value = [UInt8](repeating: 0, count: 100_000)
      let error = failure { _ = try connection.put(PutOrder(name: "a"), value: value.span) }
      #expect(error?.exitStatus == .exists)
    }
  }

  @Test(arguments: [5, 65_536, 65_537, 200_000])
  func `what was refused can be put again`(_ size: Int) throws {
    let value = value(size)
    var input = ValueInput(descriptor: pipe(of: value))
    for _ in 0..<2 {
      try conversation { agent in
        try agent.greet()
        try agent.say { try $0.putRefusal(.locked(LockNote())) }
      } client: { connection in
        let error = failure { _ = try connection.put(PutOrder(name: "a"), from: &input) }
        #expect(error?.exitStatus == .locked)
        let isSpent = input.isSpent
        #expect(!isSpent)
      }
    }
    let stored = try conversation { agent in
      try store(&agent)
    } client: { connection in
      _ = try connection.put(PutOrder(name: "a"), from: &input)
      let isSpent = input.isSpent
      #expect(isSpent)
    }
    #expect(stored.value == value)
    let count = input.count
    #expect(count == UInt64(size))
  }

  @Test func `a source that fails at once sends nothing`() throws {
    let sent = try conversation {
      try? $0.read()
    } client: { connection in
      var input = ValueInput(descriptor: -1)
      let error = failure { _ = try connection.put(PutOrder(name: "a"), from: &input) }
      #expect(error == .input(EBADF))
      let isSpent = input.isSpent
      #expect(isSpent)
    }
    #expect(sent == nil)
  }

  @Test func `a source that fails later abandons the upload`() throws {
    let end = try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply() }
      while (try? agent.next(.clientData)) != nil {}
      return try agent.next(.clientEnd)
    } client: { connection in
      var input = ValueInput(descriptor: terminal(of: [UInt8](repeating: 65, count: 200_000)))
      let error = failure { _ = try connection.put(PutOrder(name: "a"), from: &input) }
      #expect(error == .input(EIO))
    }
    #expect(end == [UploadEnd.abandon.rawValue])
  }
}

/// A terminal's controlling end: it gives what was written, then fails.
private func terminal(of bytes: [UInt8]) -> Int32 {
  var (master, slave) = (Int32(-1), Int32(-1))
  var settings = termios()
  cfmakeraw(&settings)
  guard openpty(&master, &slave, nil, &settings, nil) == 0 else { return -1 }
  fill(slave, with: bytes)
  return master
}

/// The reading end of a pipe that a thread fills; it is left open.
func pipe(of bytes: [UInt8]) -> Int32 {
  var ends: [Int32] = [0, 0]
  guard pipe(&ends) == 0 else { return -1 }
  fill(ends[1], with: bytes)
  return ends[0]
}

/// Writes on a thread, a part at a time, and closes.
private func fill(_ end: Int32, with bytes: [UInt8]) {
  Thread.detachNewThread {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { write(end, $0.baseAddress!, min($0.count, 30_000)) }
      guard count > 0 else { break }
      rest = rest.dropFirst(count)
    }
    close(end)
  }
}
