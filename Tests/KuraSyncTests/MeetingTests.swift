// SPDX-License-Identifier: MIT

import Foundation
import KuraClient
import KuraProtocol
import KuraStore
import KuraTerms
import SecureMemory
import Synchronization
import Testing

@testable import KuraSync

/// An agent that says one thing after another, and keeps what it is told.
private final class ScriptedAgent: Sendable {
  private let said = Mutex<[String]>([])
  private let isOver = DispatchSemaphore(value: 0)
  private let descriptor: Int32

  /// - Parameter errands: What is to be done, with the bytes that are written; then it is over.
  init(_ descriptor: Int32, _ errands: [(StoreErrand, [UInt8])], _ report: SyncReply) {
    self.descriptor = descriptor
    Thread.detachNewThread { [self] in
      try? run(errands, report)
      shutdown(descriptor, Int32(SHUT_RDWR))
      close(descriptor)
      isOver.signal()
    }
  }

  /// What it was told, once the client has gone.
  var heard: [String] {
    isOver.wait()
    return said.withLock { $0 }
  }

  private func run(_ errands: [(StoreErrand, [UInt8])], _ report: SyncReply) throws {
    var received: [UInt8] = []
    func next(_ type: FrameType) throws -> [UInt8] {
      while true {
        if let frame = try Frame.next(in: received.span, sentBy: .client) {
          let payload = Array(received[frame.payload])
          received.removeFirst(frame.byteCount)
          return frame.type == type ? payload : []
        }
        var bytes = [UInt8](repeating: 0, count: 1 << 20)
        let count = recv(descriptor, &bytes, bytes.count, 0)
        guard count > 0 else { throw CocoaError(.fileReadUnknown) }
        received += bytes[..<count]
      }
    }
    _ = try next(.clientHello)
    try say { try $0.putHelloReply(release: "9.8.7") }
    guard try next(.request).first == Verb.sync.rawValue else { return }
    for (errand, bytes) in errands {
      try say { buffer in
        try buffer.putProgress(done: 1, total: 0)
        try buffer.putErrand(errand)
        for start in stride(from: 0, to: bytes.count, by: ProtocolLimit.chunk) {
          let end = min(start + ProtocolLimit.chunk, bytes.count)
          try buffer.putData(bytes.span.extracting(start..<end), from: .agent)
        }
        try buffer.putEnd()
      }
      let answer = try hear(next)
      said.withLock { $0.append(answer) }
      if answer == "failed" { break }
    }
    try say { buffer in
      try buffer.putErrand(StoreErrand())
      try buffer.putSync(report)
      try buffer.putEnd()
    }
    // Until the client is gone.
    while true { _ = try next(.request) }
  }

  /// An answer with all its parts, as a line.
  private func hear(_ next: (FrameType) throws -> [UInt8]) throws -> String {
    var names: [String] = []
    var count = 0
    var sum = 0
    while true {
      let payload = try next(.request)
      guard case .syncGiven(let given) = try Request(payload.span) else { return "another request" }
      given.names.forEach { name in
        names.append(String(decoding: name.bytes.indices.map { name.bytes[$0] }, as: UTF8.self))
      }
      count += given.bytes.bytes.count
      for index in given.bytes.bytes.indices { sum &+= index * Int(given.bytes.bytes[index]) }
      if !given.hasMore {
        switch given.answer {
        case .names: return "names " + names.sorted().joined(separator: " ")
        case .bytes: return "bytes \(count) \(sum)"
        case .missing: return "missing"
        case .done: return "done"
        case .failed: return "failed"
        case .kept: return "kept"
        }
      }
      try say { buffer in
        try buffer.putProgress(done: 1, total: 0)
        try buffer.putEnd()
      }
    }
  }

  private func say(_ write: (inout SecretBuffer) throws -> Void) throws {
    var buffer = try SecretBuffer(capacity: 64)
    try write(&buffer)
    var rest = buffer.bytes.indices.map { buffer.bytes[$0] }[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard count > 0 else { return }
      rest = rest.dropFirst(count)
    }
  }
}

/// Keeps what it is given, and fails where a test says.
private final class MemoryStore: Store {
  var files: [String: [UInt8]] = [:]
  var failure: StoreError?
  /// The names of heads that are listed.
  var listed: [StorePlace] = []

  private func check() throws(StoreError) { if let failure { throw failure } }

  func heads() throws(StoreError) -> [StorePlace] {
    try check()
    return listed
  }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    try check()
    return files.keys.compactMap { StorePlace($0) }
  }

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    try check()
    return files[place.text].flatMap { $0.count <= most ? $0 : nil }
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    try check()
    files[place.text] = bytes
  }

  /// What is another one's.
  var kept: Set<String> = []

  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    try check()
    guard !kept.contains(place.text) else { return false }
    files[place.text] = nil
    return true
  }

  var settled = 0

  func settle() throws(StoreError) {
    try check()
    settled += 1
  }

  func leave() { files = [:] }

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] { [] }
}

@Suite struct `A meeting` {
  private let store = MemoryStore()
  private let report: SyncReply = {
    var report = SyncReply()
    (report.came.added, report.sent) = (2, 1)
    return report
  }()

  /// Has an agent say its errands, and runs them.
  private func meet(
    _ errands: [(StoreErrand, [UInt8])], progress: (Int) -> Void = { _ in }
  ) throws -> (meeting: Meeting, heard: [String]) {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw CocoaError(.fileReadUnknown) }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    let agent = ScriptedAgent(ends[1], errands, report)
    let meeting: Meeting
    do {
      var connection = try Connection.over(
        descriptor: ends[0], vault: VaultPath(at: "/tmp/test.kura"))
      meeting = try Meeting(&connection, store, progress: progress)
    }
    return (meeting, agent.heard)
  }

  private let head = Sample.head.text
  private let object = Sample.object(7).text

  @Test func `does what the agent wants, and tells what came of it`() throws {
    store.listed = [Sample.head]
    store.files[object] = [1, 2, 3]
    let objects = StorePlace.objects(of: Sample.device)
    var moved: [Int] = []
    store.kept = [object]
    let (meeting, heard) = try meet(
      [
        (StoreErrand(.list, StorePlace.heads), []), (StoreErrand(.list, objects), []),
        (StoreErrand(.fetch, object, size: 3), []), (StoreErrand(.fetch, object, size: 2), []),
        (StoreErrand(.write, head, size: 2), [7, 8]), (StoreErrand(.write, object), []),
        (StoreErrand(.delete, head), []), (StoreErrand(.delete, object), []),
      ], progress: { moved.append($0) })
    #expect(
      heard == [
        "names \(head)", "names \(object)", "bytes 3 8", "missing", "done", "done", "done",
        "kept",
      ])
    #expect(meeting.report == report && meeting.failure == nil && store.settled == 1)
    #expect(store.files == [object: []])
    #expect(moved == [0, 0, 3, 3, 5, 5, 5, 5])
  }

  @Test func `what is long goes in parts, both ways`() throws {
    let long = (0..<3 * ProtocolLimit.storePiece / 2).map { UInt8(truncatingIfNeeded: $0 >> 8) }
    var sum = 0
    for start in stride(from: 0, to: long.count, by: ProtocolLimit.storePiece) {
      let part = long[start..<min(start + ProtocolLimit.storePiece, long.count)]
      for (index, byte) in part.enumerated() { sum &+= index * Int(byte) }
    }
    store.listed = (0..<1_500).map {
      .head(device: [UInt8($0 >> 8), UInt8($0 & 255)] + [UInt8](repeating: 1, count: 14))
    }
    let (meeting, heard) = try meet([
      (StoreErrand(.write, object, size: UInt32(long.count)), long),
      (StoreErrand(.fetch, object, size: UInt32(long.count)), []),
      (StoreErrand(.list, StorePlace.heads), []),
    ])
    #expect(meeting.failure == nil && store.files[object] == long)
    #expect(heard.prefix(2) == ["done", "bytes \(long.count) \(sum)"])
    let names = store.listed.map { $0.text }.sorted().joined(separator: " ")
    #expect(heard.last == "names " + names)
  }

  @Test func `a store that fails ends it, with what came until then`() throws {
    store.failure = .full(path: "/x")
    #expect(try meet([]).meeting.failure == .full(path: "/x"))
    let kinds: [StoreErrand] = [
      StoreErrand(.list, StorePlace.heads), StoreErrand(.fetch, object, size: 9),
      StoreErrand(.write, head), StoreErrand(.delete, head),
    ]
    for errand in kinds {
      let (meeting, heard) = try meet([(errand, []), (errand, [])])
      #expect(heard == ["failed"])
      #expect(meeting.report == report && meeting.failure == .full(path: "/x"))
    }
  }

  @Test func `a name that is none is not looked for`() throws {
    for errand in [
      StoreErrand(.list, "objects"), StoreErrand(.list, "objects/.."),
      StoreErrand(.fetch, "../secret", size: 9), StoreErrand(.write, "/etc/passwd"),
      StoreErrand(.delete, "heads/../x"),
    ] {
      let (_, heard) = try meet([(errand, [])])
      #expect(heard == ["failed"], "\(errand)")
    }
    #expect(store.files.isEmpty)
  }

  @Test func `an answer that does not hold together is none`() throws {
    for size in [1, 3] as [UInt32] {
      #expect(throws: SyncFailure.self) {
        try meet([(StoreErrand(.write, head, size: size), [1, 2])])
      }
    }
    #expect(store.files.isEmpty)
  }
}
