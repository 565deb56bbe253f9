// SPDX-License-Identifier: MIT

import CMemoryScan
import Foundation
import Testing

/// What is left of secrets in the memory of a locked agent, in files and in core files: nothing.
@Suite(
  "Memory", .serialized,
  .enabled(if: Programs.areBuilt && geteuid() == 0, "run make build first; root reads memory"))
struct MemoryTests {
  @Test func `the scanner finds what is planted, in memory, in files, and in the last moment`()
    throws
  {
    let scratch = try Scratch()
    let secret = (0..<48).map { _ in UInt8.random(in: 1...255) }
    let other = (0..<48).map { _ in UInt8.random(in: 1...255) }
    let word = Desk.text(24)
    let canaries = Canaries([
      ("planted", secret), ("other", other), ("word", Array(word.utf8)),
    ])
    // The middle of it: 18 bytes, at no multiple of anything. And a word in its stack, the last of more
    // mappings than the kernel tells in one part.
    let script = """
      import mmap, signal
      maps = [mmap.mmap(-1, 4096, prot=1 + 2 * (number % 2)) for number in range(120)]
      part = bytes.fromhex('\(Bytes.hex(secret[13..<31]))')
      signal.pause()
      """
    let holder = try Child("/usr/bin/python3", ["-c", script], environment: ["WORD=\(word)"])
    try Desk.await("the holder") {
      try Memory(process: holder.id).hits(canaries).hits.contains { $0.hasPrefix("planted") }
    }
    let found = try Memory(process: holder.id).hits(canaries).hits
    #expect(!found.contains { $0.hasPrefix("other") })
    #expect(found.contains { $0.hasPrefix("word in [stack]") })
    let last = try LastMoment(of: holder.id)
    Glibc.kill(holder.id, SIGTERM)
    try last.await()
    #expect(try !Memory(process: holder.id).hits(canaries).hits.isEmpty)
    try Bytes.write(other[7..<30], to: scratch.file("file"))
    let below = try canaries.hits(below: scratch.path)
    #expect(below.count == 1 && below.allSatisfy { $0.hasPrefix("other") })
  }

  @Test func `the search for what a passcode can be guessed by finds a hash and its key`() throws {
    let word = Array(Desk.text(12).utf8)
    // The hash under a key that stands elsewhere, and one without a key, of other words.
    let script = """
      import ctypes, hashlib, os, signal
      key, word = os.urandom(32), bytes.fromhex('\(Bytes.hex(word))')
      page = ctypes.create_string_buffer(key)
      digest = hashlib.blake2b(b'\\1' + word, key=key, digest_size=32).digest()
      other = hashlib.blake2b(word[::-1], digest_size=32).digest()
      pages = [ctypes.create_string_buffer(part, 4096) for part in (digest, other)]
      signal.pause()
      """
    let holder = try Child("/usr/bin/python3", ["-c", script], environment: [])
    let memory = Memory(process: holder.id)
    try Desk.await("the holder") { try memory.hash(of: word) != nil }
    #expect(try memory.hash(of: word)?.contains("its key at -1") == false)
    #expect(try memory.hash(of: word.reversed())?.contains("its key at -1") == true)
    #expect(try memory.hash(of: Array(Desk.text(12).utf8)) == nil)
  }

  @Test func `nothing stays behind a lock, a wrong passcode, a hang-up or the agent's end`() throws
  {
    for round in 0..<Scale.count(1, nightly: 20) {
      let desk = try Desk()
      try desk.fill(100)
      try desk.checkUnlocked()
      try desk.checkLocks()
      try desk.checkHangUp()
      try desk.checkEnd()
      for issue in desk.issues { Issue.record("round \(round): \(issue)") }
      guard desk.issues.isEmpty else { return }
    }
  }

  @Test func `a crash leaves no core file, though its limit was lifted`() throws {
    let desk = try Desk()
    try desk.fill(3)
    try desk.unlock()
    #expect(memory_lift_core_limit(desk.agent.id) == 0)
    Glibc.kill(desk.agent.id, SIGSEGV)
    #expect(desk.agent.wait() == 128 + SIGSEGV)
    #expect(!desk.agent.hasDumped)
    #expect(try desk.hitsInFiles() == [])
    // The same end of a program that does not care leaves one, where the machine makes any.
    let other = try desk.child("ulimit -c unlimited; exec sleep 100")
    usleep(100_000)
    Glibc.kill(other.id, SIGSEGV)
    other.wait()
    if !other.hasDumped { print("memory: no core files on this machine, of no program") }
  }
}

// MARK: - Rounds

extension MemoryTests {
  /// A user with a vault, secrets that can be looked for, and an agent.
  final class Desk {
    enum Kind { case keys, texts, all }

    let scratch: Scratch
    private(set) var agent: Child!
    private(set) var issues: [String] = []
    private var texts: [(name: String, bytes: [UInt8])] = []
    private var keys: [(name: String, bytes: [UInt8])] = []
    private let passcode = Desk.text(32)
    private let big = (0..<1_000_000).map { _ in UInt8.random(in: 0...255) }

    init() throws {
      scratch = try Scratch()
      for name in ["data", "state", "run", "home"] { _ = try scratch.directory(name) }
      try Bytes.write(passcode.utf8, to: file("passcode"))
      try Bytes.write(big, to: file("big"))
      texts.append(("passcode", Array(passcode.utf8)))
      // Every part of a long value, however it was cut.
      for start in stride(from: 0, to: big.count - 32, by: 4_096) {
        texts.append(("big+\(start)", Array(big[start..<(start + 32)])))
      }
      try startAgent()
      try demand(
        [
          "init", "--no-recovery-key", "--passcode-file", file("passcode"), "--kdf-memory", "8MiB",
          "--kdf-passes", "1", "--weak-kdf",
        ])
    }

    deinit { agent?.kill() }

    static func text(_ count: Int) -> String {
      Bytes.hex((0..<count).map { _ in UInt8.random(in: 0...255) })
    }

    func canaries(_ kind: Kind) -> Canaries {
      switch kind {
      case .keys: Canaries(keys)
      case .texts: Canaries(texts)
      case .all: Canaries(keys + texts)
      }
    }
  }
}

extension MemoryTests.Desk {
  /// Stores, reads and lists so many items with values and names that are looked for.
  func fill(_ count: Int) throws {
    try unlock()
    for number in 0..<count {
      let (name, value) = (Self.text(24), Self.text(24))
      texts += [("name \(number)", Array(name.utf8)), ("value \(number)", Array(value.utf8))]
      try Bytes.write(value.utf8, to: file("value"))
      try demand(["put", name, "--file", file("value"), "--attr", "note=\(Self.text(20))"])
      unlink(file("value"))
      try demand(["get", name])
    }
    try demand(["put", "big", "--file", file("big")])
    try demand(["get", "big"])
    try demand(["list", "-l"])
    try learnKeys()
  }

  /// The keys by another way: the independent reader of the format.
  private func learnKeys() throws {
    try demand(["lock"])
    let found = try Python.run(
      "vault_keys.py", [file("data/kura/default.kura"), file("passcode")])
    guard found.status == 0, found.lines.count >= 12 else {
      throw SystemFailure(call: "vault_keys.py: \(found.lines)", number: found.status)
    }
    for (number, line) in found.lines.enumerated() {
      keys.append(("key \(number)", Bytes.fromHex(line)))
    }
  }

  /// While it is unlocked the keys are there, which shows that they would be found.
  func checkUnlocked() throws {
    try unlock()
    let found = try Memory(process: agent.id).hits(canaries(.keys)).hits
    if found.count < 3 { issues.append("unlocked: only \(found)") }
    try expectNothing(.texts, "while unlocked, of what was served")
  }

  func checkLocks() throws {
    try unlock()
    try demand(["lock"])
    try expectNothing(.all, "after lock")
    for option in ["--idle-timeout", "--max-session"] {
      try unlockAndRead(option)
      try Self.await("the lock by \(option)") { try self.kura(["status"]) == 4 }
      try expectNothing(.all, "after the lock by \(option)")
    }
    let wrong = Self.text(32)
    texts.append(("wrong passcode", Array(wrong.utf8)))
    try Bytes.write(wrong.utf8, to: file("wrong"))
    guard try kura(["unlock", "--passcode-file", file("wrong")]) == 5 else {
      throw SystemFailure(call: "a wrong passcode: \(try output())", number: 0)
    }
    try expectNothing(.all, "after a wrong passcode")
    try expectNothingToGuess(wrong, "after a wrong passcode")
    try unlock()
    _ = try kura(["unlock", "--passcode-file", file("wrong")])
    try demand(["lock"])
    try expectNothing(.all, "after a wrong passcode while unlocked, and a lock")
    try expectNothingToGuess(wrong, "after a wrong passcode while unlocked, and a lock")
  }

  /// Reads a value in a session that ends soon: after a second, or as many as this machine needs to read it
  /// first.
  private func unlockAndRead(_ option: String) throws {
    for seconds in [1, 2, 4, 8] {
      try unlock([option, "\(seconds)s"])
      let status = try kura(["get", "big"])
      if status == 0 { return }
      // Locked already.
      guard status == 4 else {
        throw SystemFailure(
          call: "get before the lock by \(option): \(try output())", number: status)
      }
    }
    throw SystemFailure(call: "get within seconds of an unlock", number: ETIMEDOUT)
  }

  /// A reader goes in the middle of a value.
  func checkHangUp() throws {
    try unlock()
    mkfifo(file("pipe"), 0o600)
    let reader = try child("exec 3< '\(file("pipe"))'; exec sleep 100")
    let client = try child(
      "exec '\(Programs.directory)/kura' --no-input get big > '\(file("pipe"))'")
    let texts = canaries(.texts)
    try Self.await("a part of the value in the client") {
      try !Memory(process: client.id).hits(texts).hits.isEmpty
    }
    client.kill()
    reader.kill()
    // What the agent had opened ahead goes as soon as it hears of it.
    try Self.await("an agent without a part of the value") {
      try Memory(process: agent.id).hits(texts).hits.isEmpty
    }
    try demand(["lock"])
    try expectNothing(.all, "after a hang-up and a lock")
  }

  /// SIGTERM to an unlocked agent: its memory is read when it has done everything but vanish.
  func checkEnd() throws {
    try unlock()
    try demand(["get", "big"])
    let last = try LastMoment(of: agent.id)
    Glibc.kill(agent.id, SIGTERM)
    try last.await()
    try expectNothing(.all, "in the last moment after SIGTERM")
    withExtendedLifetime(last) {}
    for hit in try hitsInFiles() { issues.append("files: \(hit)") }
  }

  /// What stands in files of the vault, the state, the runtime directory, or in a core file, when the
  /// test's own are gone.
  func hitsInFiles() throws -> [String] {
    for name in ["passcode", "wrong", "big", "output", "pipe"] { unlink(file(name)) }
    return try canaries(.all).hits(below: scratch.path)
  }

  /// Nothing in the agent shows a guess at the wrong passcode to be right without a key derivation.
  private func expectNothingToGuess(_ passcode: String, _ moment: String) throws {
    guard let found = try Memory(process: agent.id).hash(of: Array(passcode.utf8)) else { return }
    issues.append("\(moment): \(found)")
  }

  private func expectNothing(_ kind: Kind, _ moment: String) throws {
    let found = try Memory(process: agent.id).hits(canaries(kind))
    if found.byteCount < 1 << 20 { issues.append("\(moment): only \(found.byteCount) bytes read") }
    for hit in found.hits.prefix(4) { issues.append("\(moment): \(hit)") }
  }
}

// MARK: - Programs

extension MemoryTests.Desk {
  private func startAgent() throws {
    agent = try child(
      "ulimit -c unlimited 2>/dev/null; exec '\(Programs.directory)/kura-agent' --foreground")
    try Self.await("the agent's socket") { access(self.file("run/kura/agent.sock"), F_OK) == 0 }
  }

  func unlock(_ options: [String] = []) throws {
    try demand(["unlock", "--passcode-file", file("passcode")] + options)
  }

  /// A shell's command in the scratch directory, where a core file would be.
  func child(_ command: String) throws -> Child {
    try Child(
      "/bin/sh", ["-c", "cd '\(scratch.path)'; " + command], environment: environment,
      output: file("agent-output"))
  }

  private var environment: [String] {
    [
      "HOME=\(file("home"))", "XDG_DATA_HOME=\(file("data"))", "XDG_STATE_HOME=\(file("state"))",
      "XDG_RUNTIME_DIR=\(file("run"))", "PATH=/usr/bin:/bin", "LC_ALL=C.UTF-8",
    ]
  }

  func file(_ name: String) -> String { scratch.file(name) }

  private func kura(_ arguments: [String]) throws -> Int32 {
    try Child(
      "\(Programs.directory)/kura", arguments, environment: environment, output: file("output")
    ).wait()
  }

  private func demand(_ arguments: [String]) throws {
    let status = try kura(arguments)
    guard status == 0 else {
      throw SystemFailure(call: "kura \(arguments[0]): \(try output())", number: status)
    }
  }

  private func output() throws -> String {
    String(decoding: try Bytes.read(file("output")), as: UTF8.self)
  }

  /// Waits for something that another process does.
  static func await(_ what: String, _ isThere: () throws -> Bool) throws {
    for _ in 0..<2_000 {
      if try isThere() { return }
      usleep(5_000)
    }
    throw SystemFailure(call: "waiting for \(what)", number: ETIMEDOUT)
  }
}
