// SPDX-License-Identifier: MIT

import Foundation
import KuraClient
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI

/// Fingers that touch the reader before anybody looks: what comes of them arrives together with the word that it waits.
@Suite struct `A finger that is there at once` {
  private let agent: Int32
  private let client: Int32

  init() throws {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    (client, agent) = (ends[0], ends[1])
  }

  private let asked = Question(label: "passcode", openLabel: "passcode", kind: .passcode)

  /// Says what an agent does, as one write.
  private func say(_ write: (inout SecretBuffer) throws -> Void) throws {
    var buffer = try SecretBuffer(capacity: 64)
    try write(&buffer)
    let bytes = buffer.bytes.indices.map { buffer.bytes[$0] }
    #expect(send(agent, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
  }

  private func offered(
    in question: inout Question, _ script: (inout SecretBuffer) throws -> Void
  ) throws -> FingerWatch {
    try say {
      try $0.putHelloReply(release: "9.8.7")
      try script(&$0)
    }
    var watch = FingerWatch(
      try Connection.over(descriptor: client, vault: VaultPath(at: "/tmp/test.kura")))
    watch.offer(in: &question, Messages())
    return watch
  }

  @Test func `is followed by another one where it does not match`() throws {
    defer { close(agent) }
    var question = asked
    let watch = try offered(in: &question) {
      for left: UInt32 in [4, 3] {
        try $0.putProgress(done: 0, total: 0)
        try $0.putRefusal(.fingerWrong(left: left))
      }
      try $0.putProgress(done: 0, total: 0)
    }
    let hasMatched = watch.hasMatched
    #expect(question.label == "finger or passcode")
    #expect(!hasMatched)
  }

  @Test func `answers the question where it matches`() throws {
    defer { close(agent) }
    var question = asked
    let watch = try offered(in: &question) {
      try $0.putProgress(done: 0, total: 0)
      try $0.putReply()
    }
    let hasMatched = watch.hasMatched
    #expect(hasMatched)
  }

  @Test func `counts as well behind one that was waited for`() throws {
    defer { close(agent) }
    var question = asked
    var watch = try offered(in: &question) { try $0.putProgress(done: 0, total: 0) }
    try say {
      for left: UInt32 in [4, 3, 2] {
        try $0.putRefusal(.fingerWrong(left: left))
        try $0.putProgress(done: 0, total: 0)
      }
    }
    var stands = watch.stands()
    #expect(stands)
    let news = watch.news()
    #expect(news == [4, 3, 2].map { FingerWords.wrong(left: $0) }.joined(separator: " "))
    try say { try $0.putReply() }
    stands = watch.stands()
    #expect(!stands)
  }

  @Test func `ends them where it was the last that is taken`() throws {
    defer { close(agent) }
    var question = asked
    var watch = try offered(in: &question) { try $0.putProgress(done: 0, total: 0) }
    try say {
      try $0.putRefusal(.fingerWrong(left: 1))
      try $0.putProgress(done: 0, total: 0)
      try $0.putRefusal(.fingerWrong(left: 0))
    }
    let stands = watch.stands()
    #expect(stands)
    let (descriptor, news) = (watch.descriptor, watch.news())
    #expect(descriptor == -1)
    #expect(news?.hasSuffix(FingerWords.wrong(left: 0)) == true)
  }
}
