// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraClient
import KuraProtocol
import KuraStore
import KuraTerms
import TestGround
import Testing

@testable import KuraSync

/// What rclone 1.60 said when each of these went wrong, and what it means.
private let complaints: [(said: String, error: StoreError)] = [
  (
    "2026/11/26 09:25:03 Failed to create file system for \"nope:x\": didn't find section in config file",
    .unknown(path: "p")
  ),
  (
    "2026/11/26 09:27:40 Failed to create file system for \"d:k\": read metadata failed: Unauthorized: 401 Unauthorized",
    .refused(
      path: "p",
      said:
        "Failed to create file system for \"d:k\": read metadata failed: Unauthorized: 401 Unauthorized"
    )
  ),
  (
    "2026/11/26 09:27:40 Failed to rcat with 2 errors: last error was: AccessDenied: Access Denied\n\tstatus code: 403",
    .refused(
      path: "p",
      said: "Failed to rcat with 2 errors: last error was: AccessDenied: Access Denied")
  ),
  (
    "x509: certificate has expired or is not yet valid",
    .untrusted(path: "p", said: "x509: certificate has expired or is not yet valid")
  ),
  (
    "2026/11/26 09:27:39 Failed to create file system for \"d:x\": read metadata failed: Propfind \"http://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused",
    .unreachable(
      path: "p",
      said:
        "Failed to create file system for \"d:x\": read metadata failed: Propfind \"http://127.0.0.1:1/x\": dial tcp 127.0.0.1:1: connect: connection refused"
    )
  ),
  (
    "lookup no.such.invalid: no such host",
    .unreachable(path: "p", said: "lookup no.such.invalid: no such host")
  ),
  (
    "x509: certificate signed by unknown authority",
    .untrusted(path: "p", said: "x509: certificate signed by unknown authority")
  ),
  ("write /s/x: no space left on device", .full(path: "p")),
  ("Put error: Insufficient Storage: 507 Insufficient Storage", .full(path: "p")),
  ("open /s/x: read-only file system", .readOnly(path: "p")),
  ("something new", .other(path: "p", said: "something new")),
  ("", .other(path: "p", said: "rclone ended with status 1")),
]

@Suite struct `A store that rclone reaches` {
  let folder: Folder
  let store: RcloneStore

  init() throws {
    folder = try Folder()
    store = try RcloneStore(
      at: ":local:" + folder.path, of: Sample.vault, makes: true, by: RcloneProgram())
  }

  private var root: String { StorePlace.root(of: Sample.vault) }

  @Test func `keeps what it is given, and stops at the limit`() throws {
    let long = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 >> 9) }
    try store.put(Sample.head, [1, 2, 3])
    try store.put(Sample.object(7), long)
    try folder.write([9], to: root + "/heads/README")
    try folder.write([], to: root + "/" + Sample.object(8).text)
    #expect(try store.get(Sample.head, atMost: 3) == [1, 2, 3])
    #expect(try store.get(Sample.head, atMost: 2) == nil)
    #expect(try store.get(Sample.object(7), atMost: long.count) == long)
    // What is not there, and what has nothing in it, is one to a store without folders.
    #expect(try store.get(Sample.object(1), atMost: 9) == nil)
    #expect(try store.get(Sample.object(8), atMost: 9) == nil)
    #expect(try store.heads() == [Sample.head])
    #expect(Set(try store.objects(of: Sample.device).map(\.text)).count == 2)
    // The same size once more, by which rclone would tell nothing.
    try store.put(Sample.head, [4, 5, 6])
    #expect(try store.get(Sample.head, atMost: 9) == [4, 5, 6])
    let marks = try store.marks(but: [])
    #expect(try store.marks(but: Sample.device) != marks)
    try store.put(Sample.head, [4, 5, 6, 7])
    #expect(try store.marks(but: []) != marks)
    #expect(try store.delete(Sample.object(7)))
    #expect(try store.delete(Sample.object(7)))
    #expect(try store.objects(of: Sample.device) == [Sample.object(8)])
    #expect(try store.objects(of: [UInt8](repeating: 9, count: 16)) == [])
  }

  @Test func `what was seen is looked at again when it is older than its time tells`() {
    let grain = TimeGrain()
    #expect(grain.age(of: [1], now: 5_000) == 0)
    #expect(grain.age(of: [1], now: 6_999) == 0)
    #expect(grain.age(of: [1], now: 7_000) == 1)
    #expect(grain.age(of: [1], now: 66_999) == 1)
    #expect(grain.age(of: [1], now: 67_000) == 2)
    #expect(grain.age(of: [1], now: 9_000_000) == 2)
    #expect(grain.age(of: [2], now: 9_000_001) == 0)
    #expect(grain.age(of: [2], now: 9_002_001) == 1)
  }

  @Test func `one with nothing of the vault is told, unless it begins`() throws {
    #expect(try store.heads() == [])
    let program = try RcloneProgram()
    let place = ":local:" + folder.path
    store.leave()
    let later = try RcloneStore(at: place, of: Sample.vault, makes: false, by: program)
    #expect(throws: StoreError.empty(path: place)) { try later.heads() }
    try folder.write([1], to: root + "/objects/x")
    #expect(try later.heads() == [])
    try folder.write([1], to: "file")
    #expect(throws: StoreError.self) {
      try RcloneStore(at: place + "/file", of: Sample.vault, makes: true, by: program)
    }
  }

  @Test func `what rclone complains of is told, and is never taken for a file`() throws {
    for (said, error) in complaints {
      let outcome = RcloneProgram.Outcome(
        status: 1, content: [], isMore: false, complaints: said + "\n")
      #expect(outcome.error(in: "p") == error)
      #expect(!outcome.isNothing)
      #expect(SyncFailure(error, at: "rclone:p").hint != nil)
    }
    try Script.write(
      "#!/bin/sh\necho warning >&2\nprintf ab\nprintf '%s ' \"$@\" >&2\ncat",
      to: folder.path + "/rclone")
    let program = RcloneProgram(at: folder.path + "/rclone")
    let outcome = try program.run(
      ["cat", "-x y"], input: Array("cd".utf8), atMost: 9, in: "p")
    #expect(outcome.content == Array("abcd".utf8) && outcome.status == 0)
    #expect(outcome.complaints.hasPrefix("warning\n--ask-password=false "))
    #expect(outcome.complaints.hasSuffix(" cat -x y "))
    #expect(
      try program.run([], input: [UInt8](repeating: 0, count: 99_999), atMost: 9, in: "p").isMore)
    try Script.write("#!/bin/sh\necho quota >&2\nexit 1", to: folder.path + "/rclone")
    let store = try RcloneStore(at: "a:", of: Sample.vault, makes: false, by: program)
    #expect(store.path == "a:" + root)
    let head = store.path + "/" + Sample.head.text
    #expect(throws: StoreError.full(path: head)) { try store.put(Sample.head, [1]) }
    #expect(throws: StoreError.full(path: head)) { try store.delete(Sample.head) }
    #expect(throws: StoreError.full(path: store.path + "/heads")) { try store.heads() }
    #expect(throws: StoreError.self) { try store.get(Sample.head, atMost: 9) }
  }

  @Test func `no variable has rclone do what it was not asked for`() async throws {
    let dropped = [
      "DRY_RUN", "PROGRESS", "EXCLUDE", "INCLUDE", "MAX_AGE", "MIN_SIZE", "IMMUTABLE", "LOG_FILE",
      "IGNORE_EXISTING", "FILTER_FROM", "FILES_FROM", "FORMAT", "USE_JSON_LOG", "VERBOSE",
    ]
    for name in dropped { #expect(RcloneVariables.isDropped("RCLONE_" + name), "\(name)") }
    for name in [
      "RCLONE_CONFIG", "RCLONE_CONFIG_BOX_TYPE", "RCLONE_CONFIG_PASS", "RCLONE_PASSWORD_COMMAND",
      "RCLONE_S3_ACCESS_KEY_ID", "RCLONE_SFTP_PASS", "RCLONE_CA_CERT", "RCLONE_HASHER_MAX_AGE",
      "RCLONE_BWLIMIT", "RCLONE", "RCLONE_", "DRY_RUN",
    ] {
      #expect(!RcloneVariables.isDropped(name), "\(name)")
    }
    await #expect(processExitsWith: .success) {
      let folder = try Folder()
      for name in ["RCLONE_DRY_RUN", "RCLONE_PROGRESS"] { setenv(name, "true", 1) }
      setenv("RCLONE_CONFIG_BOX_TYPE", "local", 1)
      let store = try RcloneStore(
        at: "box:" + folder.path, of: Sample.vault, makes: true, by: RcloneProgram())
      try store.put(Sample.head, [1, 2])
      #expect(try store.get(Sample.head, atMost: 9) == [1, 2])
    }
  }

  @Test func `an rclone that does not come to an end is ended`() throws {
    // One holds its output open, the other one has let go of it.
    for end in ["", " > /dev/null"] {
      try Script.write("#!/bin/sh\nexec tail -f /dev/null\(end)", to: folder.path + "/rclone")
      let program = RcloneProgram(at: folder.path + "/rclone", patience: 50)
      #expect(
        throws: StoreError.unreachable(path: "p", said: "rclone does not come to an end there")
      ) {
        try program.run(["lsf"], atMost: 9, in: "p")
      }
    }
  }

  @Test func `no terminal obeys what a store says`() {
    let failure = SyncFailure(.other(path: "p\u{1B}", said: "a\u{1B}[2Jb\u{9B}c\r"), at: "r\u{7}")
    #expect(failure.text == "p\u{FFFD}: a\u{FFFD}[2Jb\u{FFFD}c\u{FFFD}")
  }
}
