// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import Testing

@testable import KuraClient

/// Who is spoken to, and who is not.
struct AgentListenerTests {
  /// A socket that listens in a directory; nobody accepts.
  private func listen(in directory: String, backlog: Int32 = 8) throws -> Int32 {
    let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let here = open(directory, O_RDONLY | O_DIRECTORY)
    defer { close(here) }
    let path = "/proc/self/fd/\(here)/agent.sock"
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
    let bound = withUnsafePointer(to: &address) {
      $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
    try #require(bound == 0)
    try #require(Glibc.listen(descriptor, backlog) == 0)
    return descriptor
  }

  /// Closes a socket, for those who inherited it, too.
  private func end(_ descriptor: Int32) {
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  private func connect(_ directory: String, patience: Patience = .standard) -> ClientError? {
    failure {
      try AgentListener.connect(to: AgentSocket(directory: directory), patience: patience).end()
    }
  }

  @Test func `somebody who listens in a private directory is the agent`() throws {
    try withDirectory { directory in
      let listener = try listen(in: directory)
      #expect(connect(directory) == nil)
      end(listener)
    }
  }

  @Test func `a socket's path may be of any length`() throws {
    try withDirectory { directory in
      let deep = directory + String(repeating: "/" + String(repeating: "d", count: 100), count: 5)
      try FileManager.default.createDirectory(
        atPath: deep, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
      let listener = try listen(in: deep)
      #expect(connect(deep) == nil)
      end(listener)
    }
  }

  @Test func `nobody there, no directory, and a socket left behind are all no agent`() throws {
    try withDirectory { directory in
      #expect(connect(directory) == .noAgent)
      #expect(connect(directory + "/none") == .noAgent)
      end(try listen(in: directory))
      #expect(connect(directory) == .noAgent)
      #expect(connect(directory)?.exitStatus == .locked)
    }
  }

  /// What a request comes to when the listener hangs up before its hello that many times.
  private func hangUp(times: Int) throws -> ClientError? {
    var error: ClientError?
    try withDirectory { directory in
      let listener = try listen(in: directory, backlog: 100)
      let ending = Thread {
        for _ in 0..<times { self.end(accept(listener, nil, nil)) }
        self.end(listener)
      }
      ending.start()
      error = failure {
        var connection = try Connection.open(
          try VaultPath.resolve("/nowhere/x.kura"), engine: .running,
          socket: AgentSocket(directory: directory))
        _ = try connection.status()
      }
    }
    return error
  }

  @Test func `an agent that hangs up before its hello and is gone then was none`() throws {
    #expect(try hangUp(times: 1) == .noAgent)
    #expect(try hangUp(times: 3) == .noAgent)
  }

  @Test func `a listener that hangs up every time is told from none`() throws {
    #expect(try hangUp(times: 200) == .hungUp)
  }

  @Test(arguments: [0o701, 0o710, 0o702, 0o750, 0o755, 0o777])
  func `a directory that others may look into is refused`(_ mode: Int) throws {
    try withDirectory { directory in
      let listener = try listen(in: directory)
      chmod(directory, mode_t(mode))
      #expect(connect(directory) == .agentUnsafe(directory: directory))
      end(listener)
    }
  }

  @Test func `a link to a directory is refused`() throws {
    try withDirectory { directory in
      let listener = try listen(in: directory)
      let link = directory + "/link"
      try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: directory)
      #expect(connect(link) == .agentUnsafe(directory: link))
      end(listener)
    }
  }

  @Test(.enabled(if: getuid() == 0, "giving a directory away takes root"))
  func `a directory of somebody else is refused`() throws {
    try withDirectory { directory in
      let listener = try listen(in: directory)
      chown(directory, 65_534, 65_534)
      #expect(connect(directory) == .agentUnsafe(directory: directory))
      end(listener)
    }
  }

  @Test func `an agent that accepts nobody is given up`() throws {
    try withDirectory { directory in
      let listener = try listen(in: directory, backlog: 0)
      let patience = Patience(connecting: 40)
      let socket = AgentSocket(directory: directory)
      let first = try AgentListener.connect(to: socket, patience: patience)
      #expect(connect(directory, patience: patience) == .timedOut)
      first.end()
      end(listener)
    }
  }

  /// What a listener hears before the first request.
  private func heard(_ engine: Engine) throws -> Int {
    var heard = 0
    try withDirectory { directory in
      let listener = try listen(in: directory)
      let hello = try frames { try $0.putHelloReply(release: "1") }
      let accepted = DispatchSemaphore(value: 0)
      nonisolated(unsafe) var peer: Int32 = -1
      Thread {
        peer = accept(listener, nil, nil)
        _ = send(peer, hello, hello.count, Int32(MSG_NOSIGNAL))
        accepted.signal()
      }.start()
      let connection = try Connection.open(
        try VaultPath(at: "/v"), engine: engine, socket: AgentSocket(directory: directory))
      accepted.wait()
      var bytes = [UInt8](repeating: 0, count: 100)
      heard = max(recv(peer, &bytes, 100, Int32(MSG_DONTWAIT)), 0)
      connection.close()
      end(peer)
      end(listener)
    }
    return heard
  }

  @Test func `the hello waits for the first request, unless a person may be asked first`() throws {
    #expect(try heard(.running) == 0)
    #expect(try heard(.started) == 4 + 1 + 8 + 2 + 2 + 2)
  }

  @Test func `an agent is looked for beside the program, not by PATH`() throws {
    let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let directory = URL(filePath: program).deletingLastPathComponent().path
    let beside = directory + "/kura-agent"
    guard FileManager.default.isExecutableFile(atPath: beside) else {
      #expect(throws: ClientError.agentMissing(directory: directory)) {
        _ = try AgentProgram.find()
      }
      return
    }
    #expect(try AgentProgram.find() == beside)
  }
}
