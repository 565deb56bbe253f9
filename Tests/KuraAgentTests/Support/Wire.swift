// SPDX-License-Identifier: MIT

import Glibc
import KuraProtocol
import SecureMemory

/// What a test cannot go on with.
struct TestFailure: Error, CustomStringConvertible {
  let description: String
  init(_ description: String) { self.description = description }
}

/// A frame as a test looks at it.
struct Received {
  let type: FrameType
  let payload: [UInt8]

  /// The failure of a refusal; nil when it is none.
  var failure: Failure? { refusal?.failure }

  /// The refusal, when it is one.
  var refusal: Refusal? {
    guard case .refused(let refusal) = try? Reply(payload.span) else { return nil }
    return refusal
  }

  /// Whether it is a reply or an end that says that all is well.
  var isOK: Bool {
    guard type == .reply || type == .end, case .ok = try? Reply(payload.span) else { return false }
    return true
  }
}

/// A client's end of a socket, without a client: it sends what a test wants, broken or not.
final class Wire {
  let raw: Int32
  private var received: [UInt8] = []
  private(set) var isAtEnd = false

  /// Takes over a connected socket.
  init(owning raw: Int32) {
    self.raw = raw
    _ = fcntl(raw, F_SETFL, O_NONBLOCK)
  }

  deinit {
    // A child that another test is starting holds a copy until it is another program.
    _ = shutdown(raw, Int32(SHUT_RDWR))
    close(raw)
  }

  /// Writes frames as a client does.
  func send(_ build: (inout SecretBuffer) throws -> Void) throws {
    var buffer = try SecretBuffer(capacity: 4_096)
    try build(&buffer)
    try send(bytes: (0..<buffer.count).map { buffer.bytes[$0] })
  }

  /// Writes bytes as they are; all of them have to fit into the socket.
  func send(bytes: [UInt8]) throws {
    guard try sendSome(bytes[...]) == bytes.count else { throw TestFailure("the socket is full") }
  }

  /// Writes what fits into the socket.
  func sendSome(_ bytes: ArraySlice<UInt8>) throws -> Int {
    let count = bytes.withUnsafeBytes {
      Glibc.send(raw, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
    }
    guard count < 0 else { return count }
    guard errno == EAGAIN else { throw TestFailure("send: \(errno)") }
    return 0
  }

  /// Takes what has arrived.
  func receive(atMost limit: Int = 1 << 20) {
    var chunk = [UInt8](repeating: 0, count: limit)
    let count = recv(raw, &chunk, limit, 0)
    if count > 0 { received += chunk[..<count] }
    if count == 0 || (count < 0 && errno != EAGAIN) { isAtEnd = true }
  }

  /// The next whole frame of those that have arrived.
  func nextFrame() throws -> Received? {
    let bytes = received
    guard let frame = try Frame.next(in: bytes.span, sentBy: .agent) else { return nil }
    let payload = Array(received[frame.payload])
    received.removeFirst(frame.byteCount)
    return Received(type: frame.type, payload: payload)
  }

  /// Waits for the next frame of an agent in another process.
  func frame(within milliseconds: Int32 = 20_000) throws -> Received {
    let deadline = ContinuousClock.now + .milliseconds(Int(milliseconds))
    while true {
      if let frame = try nextFrame() { return frame }
      guard !isAtEnd else { throw TestFailure("the agent hung up") }
      guard ContinuousClock.now < deadline else { throw TestFailure("no frame came in time") }
      _ = waitReadable(milliseconds: 100)
      receive()
    }
  }

  /// Waits until the agent in another process hangs up.
  func awaitEnd(within milliseconds: Int = 20_000) throws {
    let deadline = ContinuousClock.now + .milliseconds(milliseconds)
    while !isAtEnd {
      guard ContinuousClock.now < deadline else { throw TestFailure("no end came in time") }
      _ = waitReadable(milliseconds: 100)
      receive()
    }
  }

  /// Whether something can be read within the time.
  func waitReadable(milliseconds: Int32) -> Bool {
    var one = pollfd(fd: raw, events: Int16(POLLIN), revents: 0)
    return poll(&one, 1, milliseconds) > 0
  }
}

// MARK: - Sockets

extension Wire {
  /// A pair of sockets that programs started meanwhile do not get; the first one is the caller's.
  static func pair() throws -> (Int32, Wire) {
    var ends: [Int32] = [0, 0]
    guard socketpair(AF_UNIX, stream, 0, &ends) == 0 else {
      throw TestFailure("socketpair: \(errno)")
    }
    return (ends[0], Wire(owning: ends[1]))
  }

  private static let stream = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)

  /// A connection to the socket at a path.
  static func connect(to path: String) throws -> Wire {
    let raw = socket(AF_UNIX, stream, 0)
    let wire = Wire(owning: raw)
    let code = withAddress(of: path) { Glibc.connect(raw, $0, $1) }
    guard code == 0 else { throw TestFailure("connect: \(errno)") }
    return wire
  }

  /// A socket that listens at a path; its descriptor is the caller's.
  static func listen(at path: String) throws -> Int32 {
    let raw = socket(AF_UNIX, stream, 0)
    let code = withAddress(of: path) { bind(raw, $0, $1) }
    guard code == 0, Glibc.listen(raw, 16) == 0 else { throw TestFailure("bind: \(errno)") }
    return raw
  }

  private static func withAddress<Result>(
    of path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
  ) -> Result {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
      }
    }
  }
}
