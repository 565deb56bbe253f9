// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import SecureMemory

/// Says how a read or write on a socket ended.
enum Transfer: Equatable {
  case some
  case wouldBlock
  case ended

  init(_ result: Int) {
    if result > 0 {
      self = .some
    } else {
      self = -result == EAGAIN || -result == EINTR ? .wouldBlock : .ended
    }
  }
}

/// Takes in what a client sends, and keeps what was not served yet: guarded memory, wiped as it is used up.
struct Inbox: ~Copyable {
  /// Room for a request of ordinary size.
  private static let room = 4_096
  /// A buffer that grew beyond that is given back when it is empty.
  private static let most = 540_672

  private var buffer: SecretBuffer

  init() throws(SecureMemoryError) { buffer = try SecretBuffer(capacity: Self.room) }

  var isEmpty: Bool { buffer.count == 0 }

  var bytes: Span<UInt8> { @_lifetime(borrow self) borrowing get { buffer.bytes } }

  /// Takes what has arrived, as far as there is room for the frame it belongs to.
  mutating func receive(from socket: Int32) -> Transfer {
    unsafe receive { unsafe kura_server_receive(socket, $0, $1) }
  }

  /// The same of a client's first bytes, with what came beside them.
  mutating func receive(from socket: Int32, _ showing: inout Showing) -> Transfer {
    var (sender, handed) = (Int32(0), Int32(-1))
    let transfer = unsafe receive {
      unsafe kura_server_receive_first(socket, $0, $1, &sender, &handed)
    }
    showing = Showing(sender: sender, handed: handed)
    return transfer
  }

  private mutating func receive(_ take: (UnsafeMutableRawPointer, Int) -> Int) -> Transfer {
    guard let room = makeRoom() else { return .ended }
    var result = 0
    buffer.append(upTo: room) { tail in
      unsafe tail.withUnsafeMutableBytes { bytes in
        guard let start = bytes.baseAddress else { return 0 }
        result = unsafe take(start, bytes.count)
        return max(result, 0)
      }
    }
    return Transfer(result)
  }

  /// The frame at the head; nil until it is whole.
  func nextFrame() throws(ProtocolError) -> Frame? {
    try Frame.next(in: buffer.bytes, sentBy: .client)
  }

  /// Wipes a frame that was served.
  mutating func drop(_ frame: Frame) {
    buffer.removeFirst(frame.byteCount)
    guard buffer.count == 0, buffer.capacity > Self.most else { return }
    if let small = try? SecretBuffer(capacity: Self.room) { buffer = small }
  }

  /// Wipes what was received and is not to be served.
  mutating func wipe() { buffer.removeAll() }

  /// Room for at least a byte; the length of the frame was judged before anything grows for it.
  private mutating func makeRoom() -> Int? {
    do {
      if let count = try wantedCount(), count > buffer.count {
        try buffer.reserve(count - buffer.count)
      }
    } catch { return nil }
    return buffer.capacity - buffer.count
  }

  /// The bytes of the frame that has begun, and the head of the next.
  private func wantedCount() throws(ProtocolError) -> Int? {
    guard let header = try FrameHeader(buffer.bytes, sentBy: .client) else { return nil }
    return header.byteCount + Frame.prefix + 1
  }
}

/// Keeps what is yet to be sent to a client: guarded memory, wiped as soon as it is gone.
struct Outbox: ~Copyable {
  private static let room = 4_096
  /// What a slice of a value takes that a small socket does not, stays for the next one.
  private static let most = 540_672

  /// The client's, which somebody else owns.
  private let socket: Int32
  private var sent = 0
  /// Whether a part of a frame is missing, so that nothing can follow any more.
  private var isBroken = false
  /// Frames are written at its end.
  var frames: SecretBuffer

  init(of socket: Int32) throws(SecureMemoryError) {
    frames = try SecretBuffer(capacity: Self.room)
    self.socket = socket
  }

  var hasPending: Bool { sent < frames.count || isBroken }

  /// Sends what is pending, straight from guarded memory.
  mutating func send() -> Transfer {
    guard !isBroken else { return .ended }
    let result = send(frames.bytes.extracting(droppingFirst: sent))
    if result > 0 { sent += result }
    if sent == frames.count { wipe() }
    return Transfer(result)
  }

  /// Sends a data frame from where its payload stands, behind what is pending; what the socket does not
  /// take becomes pending, too.
  ///
  /// - Parameters:
  ///   - start: Where in the buffer the payload begins, behind room for the head of a frame.
  ///   - buffer: The payload ends with it.
  mutating func send(dataFrom start: Int, of buffer: inout SecretBuffer) {
    do throws(ProtocolError) {
      let start = try buffer.frameData(from: start, sentBy: .agent)
      send(frame: buffer.bytes.extracting(droppingFirst: start))
    } catch { isBroken = true }
  }

  private mutating func send(frame: Span<UInt8>) {
    // Of a client that is gone, the next call hears again.
    let taken = hasPending ? 0 : max(send(frame), 0)
    guard taken < frame.count else { return }
    do {
      // The end of the value has room behind it, so that nothing is taken back of what has begun.
      try frames.reserve(frame.count - taken + Frame.headByteCount)
      try frames.append(frame.extracting(droppingFirst: taken))
    } catch { isBroken = true }
  }

  private func send(_ bytes: Span<UInt8>) -> Int {
    unsafe bytes.withUnsafeBytes { bytes in
      guard let start = bytes.baseAddress else { return 0 }
      return unsafe kura_server_send(socket, start, bytes.count)
    }
  }

  private mutating func wipe() {
    frames.removeAll()
    sent = 0
    guard frames.capacity > Self.most else { return }
    if let small = try? SecretBuffer(capacity: Self.room) { frames = small }
  }
}

// MARK: - Refusals

extension Inbox {
  /// Refuses a request; what the refusal names may be one of its fields.
  func refuse(
    _ refusal: Refusal, _ request: Frame, into outbox: inout Outbox
  ) throws(ProtocolError) {
    try outbox.frames.putRefusal(refusal, of: buffer.bytes.extracting(request.payload))
  }
}
