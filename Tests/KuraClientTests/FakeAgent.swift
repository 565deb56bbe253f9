// SPDX-License-Identifier: MIT

import Foundation
import KuraProtocol
import SecureMemory
import Synchronization
import TestGround

@testable import KuraClient

/// The other end of a client's socket: a test says, message by message, what an agent does there.
struct FakeAgent: ~Copyable {
  enum Failure: Error {
    case end
    case unexpected(FrameType)
  }

  private let descriptor: Int32
  private var received: [UInt8] = []

  init(descriptor: Int32) { self.descriptor = descriptor }

  deinit {
    // The other end sees it at once, whatever a child being started still has open.
    shutdown(descriptor, Int32(SHUT_RDWR))
    close(descriptor)
  }

  /// What one read gives.
  mutating func read() throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: 1 << 20)
    let count = recv(descriptor, &bytes, bytes.count, 0)
    guard count > 0 else { throw Failure.end }
    return Array(bytes[..<count])
  }

  /// The payload of the client's next frame; one of another type stays.
  mutating func next(_ type: FrameType) throws -> [UInt8] {
    while true {
      if let frame = try Frame.next(in: received.span, sentBy: .client) {
        guard frame.type == type else { throw Failure.unexpected(frame.type) }
        let payload = Array(received[frame.payload])
        received.removeFirst(frame.byteCount)
        return payload
      }
      received += try read()
    }
  }

  /// Takes the hello and a request, and says hello.
  @discardableResult
  mutating func greet() throws -> [UInt8] {
    _ = try next(.clientHello)
    let request = try next(.request)
    try say { try $0.putHelloReply(release: "9.8.7") }
    return request
  }

  /// Sends messages, as one write.
  func say(_ write: (inout SecretBuffer) throws -> Void) throws {
    var buffer = try SecretBuffer(capacity: 64)
    try write(&buffer)
    say(bytes: array(buffer.bytes))
  }

  func say(bytes: [UInt8]) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress!, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

func array(_ span: Span<UInt8>) -> [UInt8] {
  var bytes: [UInt8] = []
  bytes.reserveCapacity(span.count)
  for index in span.indices { bytes.append(span[index]) }
  return bytes
}

/// Lets a client speak with an agent that follows a script on a thread of its own.
///
/// - Returns: What the script gave, after its end.
@discardableResult
func conversation<Seen: Sendable>(
  kind: __socket_type = SOCK_STREAM,
  patience: Patience = Patience(answer: 5_000, derivation: 5_000, stream: 5_000),
  agent script: @escaping @Sendable (inout FakeAgent) throws -> Seen,
  client: (inout Connection) throws -> Void
) throws -> Seen {
  var ends: [Int32] = [0, 0]
  guard socketpair(AF_UNIX, Int32(kind.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
    throw FakeAgent.Failure.end
  }
  _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
  let outcome = Outcome<Seen>()
  let other = ends[1]
  Thread.detachNewThread {
    var agent = FakeAgent(descriptor: other)
    let result = Result { try script(&agent) }
    _ = consume agent
    outcome.set(result)
  }
  do {
    var connection = try Connection.over(
      descriptor: ends[0], vault: VaultPath(at: "/tmp/test.kura"), terminal: "pts/9",
      patience: patience)
    try client(&connection)
  }
  return try outcome.get()
}

/// A value that another thread gives.
final class Outcome<Value: Sendable>: Sendable {
  private let value = Mutex<Result<Value, any Error>?>(nil)
  private let isThere = DispatchSemaphore(value: 0)

  func set(_ result: Result<Value, any Error>) {
    value.withLock { $0 = result }
    isThere.signal()
  }

  func get() throws -> Value {
    guard isThere.wait(timeout: .now() + 20) == .success else { throw FakeAgent.Failure.end }
    return try value.withLock { try $0!.get() }
  }
}

func secret(_ text: String) throws -> SecretBytes { try SecretBytes(copying: text.utf8.span) }

/// A fresh directory, removed at the end.
func withDirectory<Value>(_ body: (String) throws -> Value) throws -> Value {
  let path = try Ground.onDisk.directory("client")
  defer { try? FileManager.default.removeItem(atPath: path) }
  return try body(path)
}
