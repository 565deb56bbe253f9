// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraClient

/// What every conversation has in common.
struct ConnectionTests {
  @Test func `hello and the first request are one write`() throws {
    let written = try conversation(kind: SOCK_SEQPACKET) { agent in
      let bytes = try agent.read()
      try agent.say {
        try $0.putHelloReply(release: "1")
        try $0.putReply()
      }
      return bytes
    } client: {
      try $0.remove("a/b")
    }
    let expected = try frames {
      try $0.putHello(vault: "/tmp/test.kura".utf8.span, terminal: "pts/9".utf8.span)
      try $0.putRequest(.remove(.init(name: "a/b".utf8.span, ifRevision: 0)))
    }
    #expect(written == expected)
  }

  @Test func `the second request has no hello`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply() }
      let request = try agent.next(.request)
      #expect(request.first == Verb.remove.rawValue)
      try agent.say { try $0.putReply() }
    } client: {
      try $0.remove("a")
      #expect($0.release == "9.8.7")
      try $0.remove("b")
    }
  }

  @Test func `an answer is put together from single bytes`() throws {
    try conversation { agent in
      _ = try agent.next(.clientHello)
      _ = try agent.next(.request)
      let answer = try frames {
        try $0.putHelloReply(release: "1")
        try $0.putReply(RevisionReply(7))
      }
      for byte in answer { agent.say(bytes: [byte]) }
    } client: {
      let revision = try $0.setAttributes(of: "a", set: [], delete: [])
      #expect(revision == 7)
    }
  }

  @Test func `a refusal is told with all it says, and the conversation goes on`() throws {
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putRefusal(.exists(revision: 4, .text("a/b"))) }
      _ = try agent.next(.request)
      try agent.say { try $0.putReply() }
    } client: { connection in
      let error = failure { try connection.remove("a/b", ifRevision: 3) }
      #expect(error == .refused(.exists(revision: 4, .text("a/b"))))
      #expect(error?.exitStatus == .exists)
      try connection.remove("a/b")
    }
  }

  @Test func `an agent of another version is told by its release`() throws {
    try conversation { agent in
      _ = try agent.next(.clientHello)
      try agent.say { try $0.putHelloReply(version: 9, release: "9.0.0") }
    } client: { connection in
      let error = failure { try connection.remove("a") }
      #expect(error == .otherVersion(version: 9, release: "9.0.0"))
      #expect(error?.exitStatus == .agent)
    }
  }

  @Test func `an agent without a place says so before its hello`() throws {
    try conversation { agent in
      _ = try agent.next(.clientHello)
      try agent.say { try $0.putRefusal(.busy) }
    } client: { connection in
      let error = failure { try connection.remove("a") }
      #expect(error?.exitStatus == .busy)
    }
  }

  @Test func `an agent that hangs up is told from one that refuses`() throws {
    try conversation { agent in
      _ = try agent.next(.clientHello)
    } client: { connection in
      let error = failure { try connection.remove("a") }
      #expect(error == .hungUp)
    }
  }

  @Test func `an agent that says nothing is given up`() throws {
    try conversation(patience: Patience(answer: 50)) { agent in
      _ = try agent.next(.clientHello)
      _ = try agent.next(.request)
      _ = try? agent.read()
    } client: { connection in
      let error = failure { try connection.remove("a") }
      #expect(error == .timedOut)
      #expect(error?.exitStatus == .busy)
    }
  }

  @Test func `an agent that takes nothing is given up`() throws {
    let value = [UInt8](repeating: 1, count: 10_000_000)
    let end = DispatchSemaphore(value: 0)
    try conversation(patience: Patience(stream: 50)) { agent in
      try agent.greet()
      try agent.say { try $0.putReply() }
      end.wait()
    } client: { connection in
      let error = failure { _ = try connection.put(PutOrder(name: "a"), value: value.span) }
      #expect(error == .timedOut)
      end.signal()
    }
  }

  @Test(
    arguments: [
      [0, 0, 0, 0], [255, 255, 255, 255], Array("HTTP/1.1 200 OK".utf8), [2, 0, 0, 0, 0x10, 1],
      [1, 0, 0, 0, 0x93], [2, 0, 0, 0, 0x90, 0],
    ] as [[UInt8]])
  func `what is no protocol is no answer`(_ bytes: [UInt8]) throws {
    try conversation { agent in
      _ = try agent.next(.clientHello)
      agent.say(bytes: bytes)
      _ = try? agent.read()
    } client: { connection in
      guard case .broken = failure({ try connection.remove("a") }) else {
        return #expect(Bool(false))
      }
    }
  }

  @Test func `a name that no message can hold is not sent`() throws {
    let name = String(repeating: "a", count: 70_000)
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putReply() }
    } client: { connection in
      let error = failure { try connection.remove(name) }
      #expect(error == .tooLong(limit: 65_535))
      try connection.remove("a")
    }
  }
}

/// The error of a conversation, or nil.
func failure(_ body: () throws -> Void) -> ClientError? {
  do { try body() } catch { return error as? ClientError }
  return nil
}

/// What messages are written as.
func frames(_ write: (inout SecretBuffer) throws -> Void) throws -> [UInt8] {
  var buffer = try SecretBuffer(capacity: 64)
  try write(&buffer)
  return array(buffer.bytes)
}
