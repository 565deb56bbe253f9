// SPDX-License-Identifier: MIT

import Foundation
import KuraVault
import Testing

/// kill -9 while an engine acknowledges changes: what was acknowledged stays, the rest is all or
/// nothing, and `verify` finds nothing.
@Suite("Killed engines", .serialized)
struct KillTests {
  @Test func `nothing acknowledged is lost when the engine is killed`() throws {
    var run = try KillRun()
    let count = Scale.count(25, nightly: 10_000)
    let failures = try run.trials(count)
    #expect(failures.isEmpty, "\(failures.joined(separator: "\n"))")
    #expect(try run.acknowledged > UInt64(count), "the children were killed before they did much")
  }

  @Test func `an engine that acknowledges too early is found out`() throws {
    var run = try KillRun(acknowledgesEarly: true)
    let failures = try run.trials(60, untilFailure: true)
    #expect(!failures.isEmpty)
  }

  /// Not a test: what the killed processes do.
  @Test(.enabled(if: KillRun.childDirectory != nil))
  func `child of a kill test`() throws {
    try KillChild(directory: KillRun.childDirectory!).work()
  }
}

/// One change of the script that child and parent share; the number says all.
struct KillStep {
  let number: UInt64

  private var dice: Dice { Dice(seed: number) }
  var name: String { "name/\(number.hashed % 7)" }
  var isRemoval: Bool { number.hashed >> 8 % 8 == 0 }

  /// The value says which step wrote it; every tenth or so is a long one in chunks.
  var value: [UInt8] {
    let length = number.hashed >> 16 % 10 == 0 ? 65_536 + 5_000 : number.hashed >> 24 % 3_000
    return withUnsafeBytes(of: number.littleEndian) { Array($0) } + Bytes.pattern(Int(length))
  }

  func apply(to vault: inout UnlockedVault) throws {
    if isRemoval {
      try Engine.remove(name, ifThere: true, in: &vault)
    } else {
      try Engine.put(name, value, in: &vault)
    }
    if number % 5 == 0 { try vault.flushSeen() }
    if number % 7 == 0 { _ = try vault.sweep() }
  }
}

/// What the names hold after the first steps of the script, each walked once: it only goes on.
struct KillScript {
  private(set) var last: UInt64 = 0
  private(set) var state: [String: UInt64] = [:]

  mutating func advance(to number: UInt64) {
    while last < number {
      last += 1
      let step = KillStep(number: last)
      state[step.name] = step.isRemoval ? nil : last
    }
  }
}

extension UInt64 {
  fileprivate var hashed: UInt64 {
    var dice = Dice(seed: self)
    return dice.next()
  }
}

/// The process that is killed: goes on with the script where it stands, and notes each step done.
struct KillChild {
  let directory: String

  func work() throws {
    let acknowledgesEarly = access("\(directory)/early", F_OK) == 0
    let log = open("\(directory)/log", O_WRONLY | O_APPEND | O_CLOEXEC)
    let site = Site(state: "\(directory)/state")
    var vault = try Engine.open("\(directory)/vault.kura", at: site, with: KillRun.secret)
    var number = try KillRun.lastStep(in: "\(directory)/log") + 1
    while true {
      let step = KillStep(number: number)
      if acknowledgesEarly { acknowledge(number, log) }
      try step.apply(to: &vault)
      if !acknowledgesEarly { acknowledge(number, log) }
      number += 1
    }
  }

  private func acknowledge(_ number: UInt64, _ log: Int32) {
    var bytes = number.littleEndian
    _ = Glibc.write(log, &bytes, 8)
  }
}

/// Kills one child after the other over one vault.
struct KillRun {
  static let childDirectory = ProcessInfo.processInfo.environment["KURA_KILL_CHILD"]
  static let secret = Secret.passcode("correct horse battery staple")

  private let scratch: Scratch
  private let specimen: Specimen
  private var script = KillScript()

  init(acknowledgesEarly: Bool = false) throws {
    scratch = try Scratch()
    specimen = try Specimen(vector: "good-empty")
    try Bytes.write(specimen.file, to: scratch.file("vault.kura"))
    try Bytes.write([], to: scratch.file("log"))
    if acknowledgesEarly { try Bytes.write([], to: scratch.file("early")) }
  }

  /// The last acknowledged step, each of which is 8 bytes in the log.
  static func lastStep(in log: String) throws -> UInt64 {
    let log = open(log, O_RDONLY | O_CLOEXEC)
    guard log >= 0 else { throw CocoaError(.fileReadNoSuchFile) }
    defer { close(log) }
    let end = lseek(log, 0, SEEK_END) / 8 * 8
    var number: UInt64 = 0
    return pread(log, &number, 8, end - 8) == 8 ? UInt64(littleEndian: number) : 0
  }

  /// How many steps were acknowledged in all.
  var acknowledged: UInt64 {
    get throws { try KillRun.lastStep(in: scratch.file("log")) }
  }

  mutating func trials(_ count: Int, untilFailure: Bool = false) throws -> [String] {
    var dice = Dice()
    var failures: [String] = []
    for number in 0..<count {
      try killOne(&dice)
      if let failure = try check(sweeping: number % 50 == 49) {
        failures.append("trial \(number), seed \(dice.seed): \(failure)")
      }
      if untilFailure ? !failures.isEmpty : failures.count > 5 { break }
    }
    return failures
  }

  /// Starts a child, lets it get somewhere, and kills it.
  private func killOne(_ dice: inout Dice) throws {
    let log = scratch.file("log")
    let wanted = try KillRun.lastStep(in: log) + UInt64.random(in: 0...12, using: &dice)
    let child = try Child(
      "/proc/self/exe",
      ["--testing-library", "swift-testing", "--filter", "child of a kill test"],
      environment: [
        "KURA_KILL_CHILD=\(scratch.path)", "SWIFT_BACKTRACE=enable=no", "PATH=/usr/bin:/bin",
      ], output: scratch.file("output"))
    while try KillRun.lastStep(in: log) < wanted, !child.hasEnded() { usleep(200) }
    usleep(UInt32.random(in: 0...4_000, using: &dice))
    guard !child.hasEnded() else {
      let text = String(decoding: try Bytes.read(scratch.file("output")), as: UTF8.self)
      throw ChildEnded(output: text)
    }
    child.kill()
  }

  struct ChildEnded: Error { let output: String }

  /// Opens what is left: it must be the state after the last acknowledged step, or after the next.
  private mutating func check(sweeping: Bool) throws -> String? {
    let acknowledged = try KillRun.lastStep(in: scratch.file("log"))
    let site = Site(state: scratch.file("state"))
    var vault: UnlockedVault
    do {
      vault = try Engine.open(scratch.file("vault.kura"), at: site, with: KillRun.secret)
    } catch {
      return "not opened: \(error)"
    }
    var failure = try check(&vault, acknowledged: acknowledged)
    if sweeping, failure == nil { failure = try sweep(&vault) }
    vault.lock().close()
    return failure
  }

  /// What killed uploads left goes, all of it; whether more went the next check tells.
  private func sweep(_ vault: inout UnlockedVault) throws -> String? {
    while try vault.sweep() {}
    let left = try Database(scratch.file("vault.kura")).rows("SELECT count(*) FROM loose")
    return left == [[.integer(0)]] ? nil : "left after a sweep: \(left)"
  }

  private mutating func check(_ vault: inout UnlockedVault, acknowledged: UInt64) throws -> String?
  {
    let found = try Engine.findings(&vault)
    guard found.isEmpty else { return "verify: \(found)" }
    script.advance(to: acknowledged)
    var next = script
    next.advance(to: acknowledged + 1)
    let (now, state) = (script.state, try currentState(&vault))
    if state == now { return nil }
    guard state == next.state else { return "after \(acknowledged): \(state) not \(now)" }
    try note(acknowledged + 1)
    return nil
  }

  /// Which step's value each name holds; a value that is not whole is no step's.
  private func currentState(_ vault: inout UnlockedVault) throws -> [String: UInt64] {
    var state: [String: UInt64] = [:]
    var names: [[UInt8]] = []
    var listing = vault.listing(includingDeleted: false)
    while let item = try listing.next(in: &vault) { names.append(Engine.copied(item.name)) }
    for name in names {
      let value = try Engine.value(name, in: &vault)
      let number = value.prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
      let isWhole = value == KillStep(number: number).value
      state[String(decoding: name, as: UTF8.self)] = isWhole ? number : 0
    }
    return state
  }

  /// A step that was done but not acknowledged is done all the same.
  private func note(_ number: UInt64) throws {
    let log = open(scratch.file("log"), O_WRONLY | O_APPEND | O_CLOEXEC)
    defer { close(log) }
    var bytes = number.littleEndian
    _ = Glibc.write(log, &bytes, 8)
  }
}
