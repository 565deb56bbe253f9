// SPDX-License-Identifier: MIT

import CKuraSystem
import Foundation
import Glibc
import KuraStore
import KuraTerms
import Testing

@testable import KuraPostgres
@testable import KuraSync

/// Keeps what it is given, and rings where a test says.
private final class RingingStore: Store {
  var files: [String: [UInt8]] = [:]
  var settled = 0
  private var ends: [Int32] = [-1, -1]
  /// What came along with an answer, so that it does not ring.
  var quietNews = 0

  var bell: Int32 { ends[0] }

  func heads() throws(StoreError) -> [StorePlace] { files.keys.compactMap { StorePlace($0) } }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    throw .unreachable(path: "p", said: "gone \(device.count)")
  }

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    // It is not for the program to keep to the limit.
    files[place.text]
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) { files[place.text] = bytes }

  /// What is another one's stays.
  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    guard place.device != Sample.vault else { return false }
    files[place.text] = nil
    return true
  }

  func settle() throws(StoreError) { settled += 1 }

  func leave() { files = [:] }

  /// Rings at once.
  func watch() throws(StoreError) {
    guard pipe(&ends) == 0 else { throw .system(errno: errno, path: "p") }
    _ = fcntl(ends[0], F_SETFL, O_NONBLOCK)
    write(ends[1], "x", 1)
  }

  var tellsAll: Bool { ends[0] >= 0 }

  func answerBell() throws(StoreError) -> Bool {
    if quietNews > 0 {
      quietNews -= 1
      return true
    }
    var byte: UInt8 = 0
    return read(ends[0], &byte, 1) == 1
  }

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] {
    if own == Sample.vault { quietNews = 1 }
    return files.keys.filter { StorePlace($0)?.device != own }.sorted().joined().utf8.map { $0 }
  }
}

@Suite struct `A program that speaks to a store` {
  private let errors: [StoreError] = [
    .missing(path: "a"), .notAFolder(path: "a"), .empty(path: "a"), .readOnly(path: "a"),
    .full(path: "a"), .denied(path: "a"), .crowded(path: "a"),
    .noProgram(name: "a", package: "b"), .unknown(path: "a"), .unprepared(path: "a"),
    .unreachable(path: "a", said: "b\0c"), .refused(path: "a", said: ""),
    .untrusted(path: "a", said: "b"), .other(path: "a", said: "b"),
    .system(errno: 5, path: "a"),
  ]

  /// Has a store served on one end of a socket, and takes the other one.
  private func served(
    _ store: RingingStore, _ body: (ProgramStore) throws -> Void
  ) throws {
    var ends: [Int32] = [0, 0]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    #expect(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    let isOver = DispatchSemaphore(value: 0)
    let end = ends[0]
    // It is used by that thread alone while the test waits for its answers.
    nonisolated(unsafe) let served = store
    Thread.detachNewThread {
      var server = StoreServer(StorePipe(from: end, to: end))
      server.run { remote, vault, makes throws(StoreError) in
        guard remote == "pg", vault == Sample.vault, makes else { throw .empty(path: remote) }
        return served
      }
      close(end)
      isOver.signal()
    }
    let child = kura_child(process: 0, descriptor: ends[1])
    do {
      try body(try ProgramStore(by: child, at: "pg", of: Sample.vault, makes: true))
    }
    isOver.wait()
  }

  @Test func `what is wished for and answered comes as it was said`() {
    let wishes: [StoreWish] = [
      .open(remote: "postgres://x", vault: Sample.vault, makes: true),
      .open(remote: "", vault: Sample.vault, makes: false), .heads,
      .objects(device: Sample.device), .get(Sample.head, most: 70_000),
      .put(Sample.object(7), [1, 0, 2]), .put(Sample.head, []), .delete(Sample.head), .settle,
      .leave, .watch, .marks(but: Sample.device), .marks(but: []),
    ]
    for wish in wishes { #expect(StoreFrame(wish).wish == wish) }
    let replies: [StoreReply] =
      [
        .done, .places([]), .places([Sample.head, Sample.object(1)]), .bytes([]), .bytes([9]),
        .nothing, .news,
      ] + errors.map { .failed($0) }
    for reply in replies { #expect(StoreFrame(reply).reply == reply) }
    // Cut off anywhere, or of another kind, it is nothing, or something else.
    for wish in wishes {
      let frame = StoreFrame(wish)
      for count in frame.content.indices {
        #expect(StoreFrame(frame.kind, Array(frame.content[..<count])).wish != wish)
      }
    }
    #expect(StoreFrame(99).wish == nil && StoreFrame(99).reply == nil && StoreFrame(5).reply == nil)
    #expect(StoreFrame(2, Array("heads/../x".utf8)).reply == nil)
    #expect(StoreFrame(6, Array("../x".utf8)).wish == nil)
  }

  @Test func `a store is the same through it`() throws {
    let long = [UInt8](repeating: 7, count: 3_000_000)
    let kept = RingingStore()
    try served(kept) { store in
      #expect(try store.heads() == [])
      try store.put(Sample.object(7), long)
      #expect(try store.get(Sample.object(7), atMost: long.count) == long)
      #expect(try store.get(Sample.object(7), atMost: long.count - 1) == nil)
      #expect(try store.get(Sample.head, atMost: 9) == nil)
      #expect(throws: StoreError.unreachable(path: "p", said: "gone 16")) {
        try store.objects(of: Sample.device)
      }
      try store.put(Sample.head, [1])
      #expect(try store.delete(Sample.object(7)))
      #expect(try !store.delete(.head(device: Sample.vault)))
      #expect(try store.heads() == [Sample.head])
      try store.settle()
      #expect(store.bell == -1 && !store.tellsAll)
      #expect(try store.marks(but: []) == Array(Sample.head.text.utf8))
      #expect(try store.marks(but: Sample.device) == [])
      // What came while nothing was asked is told, and what came meanwhile is no answer.
      try store.watch()
      #expect(store.tellsAll && store.bell >= 0)
      #expect(try store.answerBell())
      #expect(try store.heads() == [Sample.head])
      // What the server told along with an answer is told, too, though nothing rings for it.
      #expect(try store.marks(but: Sample.vault) == Array(Sample.head.text.utf8))
      #expect(try store.answerBell())
    }
    #expect(kept.files == [Sample.head.text: [1]] && kept.settled == 1)
  }

  @Test func `a program that ends, or says nonsense, is told`() throws {
    for said in [[], [9, 0, 0, 0, 0], [1, 255, 255, 255, 255], [2, 0, 0]] as [[UInt8]] {
      var ends: [Int32] = [0, 0]
      #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
      #expect(write(ends[0], said, said.count) == said.count)
      // What was said is read before anything is written, or there is nobody to write to any more.
      if said.isEmpty { close(ends[0]) } else { shutdown(ends[0], Int32(SHUT_WR)) }
      let child = kura_child(process: 0, descriptor: ends[1])
      #expect(
        throws: StoreError.unreachable(path: "pg", said: gone)
      ) {
        try ProgramStore(by: child, at: "pg", of: Sample.vault, makes: true)
      }
      if !said.isEmpty { close(ends[0]) }
    }
  }

  private let gone = "the program that speaks to it has ended, or hangs"

  @Test func `a program that hangs is told`() throws {
    var ends: [Int32] = [0, 0]
    #expect(socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) == 0)
    let child = kura_child(process: 0, descriptor: ends[1])
    #expect(throws: StoreError.unreachable(path: "pg", said: gone)) {
      try ProgramStore(by: child, at: "pg", of: Sample.vault, makes: true, patience: 1)
    }
    close(ends[0])
  }

  @Test func `what a server says is told apart`() {
    func kind(_ text: String) -> StoreError { PostgresWords.error(ofConnecting: text, to: "p") }
    let said = "connection to server at \"localhost\" (127.0.0.1), port 5 failed: "
    #expect(
      kind(said + "FATAL:  password authentication failed for user \"ada\"\n")
        == .refused(path: "p", said: said + "password authentication failed for user \"ada\""))
    #expect(
      kind(said + "SSL error: certificate verify failed")
        == .untrusted(path: "p", said: said + "SSL error: certificate verify failed"))
    #expect(
      kind(said + "Connection refused\n\tIs the server running?")
        == .unreachable(path: "p", said: said + "Connection refused"))
    #expect(
      kind("FATAL:  database \"x\" does not exist")
        == .other(path: "p", said: "database \"x\" does not exist"))
    func code(_ code: String?, isGone: Bool = false) -> StoreError {
      PostgresWords.error(code: code, isGone: isGone, "ERROR:  no", at: "p")
    }
    #expect(code("42P01") == .unprepared(path: "p") && code("53100") == .full(path: "p"))
    #expect(
      code("42501") == .refused(path: "p", said: "no") && code("25006") == .readOnly(path: "p"))
    for gone in [
      code("57P01"), code("08006"), code(nil, isGone: true), code("XX000", isGone: true),
    ] {
      #expect(gone == .unreachable(path: "p", said: "no"))
    }
    #expect(
      code("XX000") == .other(path: "p", said: "no") && code(nil) == .other(path: "p", said: "no"))
  }

  @Test func `a role's name needs no care`() {
    for name in ["desk", "_x", "my-laptop_2"] { #expect(PostgresSchema.isRole(name)) }
    for name in [
      "", "Desk", "2x", "-x", "a b", "a\"", "a;", "é", String(repeating: "a", count: 64),
    ] {
      #expect(!PostgresSchema.isRole(name))
    }
    #expect(PostgresSchema.role("desk").contains("TO \"desk\";"))
  }
}
