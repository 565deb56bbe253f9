// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import TestGround
import Testing

@testable import KuraClient

/// A `kura` that does what a test wants, and notes its arguments.
private struct FakeKura: ~Copyable {
  let path = Ground.onDisk.path("owner")
  private let words: String

  /// - Parameter script: What the shell does after it has noted them.
  init(_ script: String) throws {
    words = path + ".words"
    let text = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \(path).words\n" + script
    try Script.write(text, to: path)
  }

  func owner(of vault: String = "/tmp/test.kura") throws -> Owner {
    Owner(of: try VaultPath(at: vault), program: path)
  }

  /// The arguments that it was given last; nil where it was not started.
  var given: [String]? {
    guard let text = try? String(contentsOfFile: words, encoding: .utf8) else { return nil }
    return text.split(separator: "\n").map(String.init)
  }

  deinit {
    for file in [path, words] { try? FileManager.default.removeItem(atPath: file) }
  }
}

private func ownerFailure(_ body: () throws -> Void) -> OwnerError? {
  do { try body() } catch { return error as? OwnerError }
  return nil
}

@Suite struct OwnerTests {
  @Test func `it hears which vault, what for and which item, and no name as an option`() throws {
    let kura = try FakeKura("exit 0")
    try kura.owner().authenticate(reason: "--yes", item: "-q")
    #expect(
      kura.given == ["authenticate", "--vault=/tmp/test.kura", "--reason=--yes", "--", "-q"])
    try kura.owner().unlock(reason: "start")
    #expect(kura.given == ["unlock", "--vault=/tmp/test.kura", "--reason=start", "--"])
  }

  @Test func `a NUL begins no other word`() throws {
    let kura = try FakeKura("exit 0")
    let error = ownerFailure { try kura.owner().authenticate(reason: "a\0--passcode-fd=0") }
    #expect(error == .client(.system(EINVAL)))
    #expect(kura.given == nil)
  }

  @Test(arguments: [
    (5, OwnerError.wrong), (6, .cancelled), (130, .cancelled), (8, .mustWait), (9, .nobody),
    (4, .failed(.locked, "it is locked")), (13, .failed(.noVault, "it is locked")),
    (77, .failed(.failure, "it is locked")),
  ])
  func `its status is an error of its own`(_ status: Int, _ expected: OwnerError) throws {
    let kura = try FakeKura(
      "echo 'kura: notice: x' >&2; echo 'kura: error: it is locked' >&2; exit \(status)")
    let error = ownerFailure { try kura.owner().authenticate(reason: "test") }
    #expect(error == expected)
    #expect(error?.exitStatus.rawValue == (status == 130 ? 6 : status == 77 ? 1 : UInt8(status)))
  }

  @Test func `one that is killed, or whose end nobody tells, has proved nothing`() throws {
    let kura = try FakeKura("kill -9 $$")
    let error = ownerFailure { try kura.owner().authenticate(reason: "test") }
    #expect(error == .failed(.failure, ""))
    #expect(OwnerError(status: -ECHILD, messages: "") == .client(.system(ECHILD)))
  }

  @Test func `one that is not there is told by its place`() throws {
    let owner = Owner(of: try VaultPath(at: "/tmp/test.kura"), program: "/nowhere/kura")
    let error = ownerFailure { try owner.authenticate(reason: "test") }
    #expect(error == .client(.programUnstartable(path: "/nowhere/kura", errno: ENOENT)))
  }

  /// What a protected value is handed out as, part by part, when the program does this.
  private func read(_ script: String) throws -> (parts: [[UInt8]], error: OwnerError?) {
    let kura = try FakeKura(script)
    let owner = try kura.owner()
    var parts: [[UInt8]] = []
    var error: OwnerError?
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putRefusal(.protected(.text("a"))) }
    } client: { connection in
      error = ownerFailure {
        try connection.get("a", revision: 3, asking: owner, reason: "test") {
          bytes throws(ClientError) in
          parts.append(array(bytes))
          if parts.count == 4 { throw .stopped }
        }
      }
    }
    #expect(
      kura.given == [
        "get", "--vault=/tmp/test.kura", "--reason=test", "--revision=3", "--", "a",
      ])
    return (parts, error)
  }

  @Test func `a protected value arrives as it is, a long one in pieces`() throws {
    let (text, _) = try read("printf 'a\\000\\nb'; printf c")
    #expect(text == [Array("a\0\nbc".utf8)])
    #expect(try read("exit 0").parts == [[]])
    let long = try read("head -c 65536 /dev/zero; printf end")
    #expect(long.parts.map(\.count) == [65_536, 3])
    #expect(long.error == nil)
  }

  @Test func `one that was not read to its end is none`() throws {
    let (parts, error) = try read("printf half; exit 12")
    #expect(parts == [])
    #expect(error == .failed(.integrity, ""))
  }

  @Test func `who wants no more of it ends the program`() throws {
    let (parts, error) = try read("exec cat /dev/zero")
    #expect(parts.count == 4)
    #expect(error == .client(.stopped))
  }

  @Test func `nobody is asked for what takes no word, nor for what no word changes`() throws {
    let kura = try FakeKura("exit 0")
    let owner = try kura.owner()
    try conversation { agent in
      try agent.greet()
      try agent.say { try $0.putRefusal(.locked(LockNote())) }
      for _ in 0..<2 {
        _ = try agent.next(.request)
        try agent.say { try $0.putEnd() }
      }
      _ = try agent.next(.request)
      try agent.say { try $0.putReply(PutReply(revision: 1, replaced: 0)) }
    } client: { connection in
      let error = ownerFailure { try connection.purge("a", .item, asking: owner, reason: "test") }
      #expect(error?.exitStatus == .locked)
      try connection.purge("a", .item, asking: owner, reason: "test")
      try connection.purge("a", .history, asking: owner, reason: "test")
      try connection.move("a", to: "b", asking: owner, reason: "test")
    }
    #expect(kura.given == nil)
  }

  @Test func `what takes his word is done by who asks for it`() throws {
    let kura = try FakeKura("exit 0")
    let owner = try kura.owner()
    var given: [[String]] = []
    try conversation { agent in
      try agent.greet()
      for _ in 0..<5 {
        try agent.say { try $0.putRefusal(.ownerNeeded(.text("a"))) }
        _ = try? agent.next(.request)
      }
    } client: { connection in
      try connection.purge("a", .item, asking: owner, reason: "r")
      given.append(kura.given ?? [])
      try connection.purge("a", .history, asking: owner, reason: "r")
      given.append(kura.given ?? [])
      try connection.purge("a", .revision, revision: 2, asking: owner, reason: "r")
      given.append(kura.given ?? [])
      try connection.move("a", to: "b", replacing: true, asking: owner, reason: "r")
      given.append(kura.given ?? [])
      try connection.unprotect("a", asking: owner, reason: "r")
      given.append(kura.given ?? [])
    }
    let head = ["--vault=/tmp/test.kura", "--reason=r"]
    #expect(
      given == [
        ["purge"] + head + ["--yes", "--", "a"],
        ["purge"] + head + ["--yes", "--history", "--", "a"],
        ["purge"] + head + ["--yes", "--revision=2", "--", "a"],
        ["mv"] + head + ["--replace", "--", "a", "b"], ["unprotect"] + head + ["--", "a"],
      ])
  }
}
