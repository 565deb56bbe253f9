// SPDX-License-Identifier: MIT

import Foundation
import KuraClient
import KuraProtocol
import TestGround
import Testing

@testable import KuraCLI

/// Checks of a machine whose kernel's files a test has written.
@Suite struct DoctorTests {
  /// A directory that stands before /proc and /sys.
  final class Files {
    let root = Ground.onDisk.path("doctor")

    init(_ files: [String: String]) throws {
      for (path, text) in files {
        let url = URL(filePath: root + path)
        try FileManager.default.createDirectory(
          at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: root) }
  }

  private func verdict(_ name: String, _ files: [String: String]) throws -> Check.Verdict? {
    let files = try Files(files)
    return MachineChecks(machine: Machine(root: files.root)).all.first { $0.name == name }?.verdict
  }

  private static let swaps = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n"

  @Test func `swap is fine where there is none, in memory, or encrypted`() throws {
    #expect(try verdict("swap", [:]) == .unknown)
    #expect(try verdict("swap", ["/proc/swaps": Self.swaps]) == .ok)
    let zram = Self.swaps + "/dev/zram0                              partition\t1\t0\t-2\n"
    #expect(try verdict("swap", ["/proc/swaps": zram]) == .ok)
    let mapped = Self.swaps + "/dev/dm-1                               partition\t1\t0\t-2\n"
    #expect(try verdict("swap", ["/proc/swaps": mapped]) == .warn)
    let encrypted = ["/proc/swaps": mapped, "/sys/block/dm-1/dm/uuid": "CRYPT-PLAIN-swap\n"]
    #expect(try verdict("swap", encrypted) == .ok)
    #expect(try verdict("swap", ["/proc/swaps": zram + "/swap\\040file file\t1\t0\t-2\n"]) == .warn)
  }

  @Test func `hibernation matters where it would reach a disk in the clear`() throws {
    let swap = Self.swaps + "/dev/sda2 partition\t1\t0\t-2\n"
    let states = "freeze mem disk\n"
    #expect(try verdict("hibernation", [:]) == .ok)
    #expect(try verdict("hibernation", ["/sys/power/state": "freeze mem\n"]) == .ok)
    #expect(try verdict("hibernation", ["/sys/power/state": states]) == .ok)
    let all = ["/sys/power/state": states, "/proc/swaps": swap, "/sys/power/disk": "[platform]\n"]
    #expect(try verdict("hibernation", all) == .warn)
    let off = all.merging(["/sys/power/disk": "[disabled]\n"]) { $1 }
    #expect(try verdict("hibernation", off) == .ok)
  }

  @Test func `without Yama every program may be traced`() throws {
    #expect(try verdict("ptrace-scope", [:]) == .warn)
    #expect(try verdict("ptrace-scope", ["/proc/sys/kernel/yama/ptrace_scope": "0\n"]) == .warn)
    #expect(try verdict("ptrace-scope", ["/proc/sys/kernel/yama/ptrace_scope": "1\n"]) == .ok)
  }

  @Test func `core files of others are no fault`() throws {
    #expect(try verdict("core-files", [:]) == .unknown)
    #expect(try verdict("core-files", ["/proc/sys/kernel/core_pattern": "core\n"]) == .ok)
    #expect(try verdict("core-files", ["/proc/sys/kernel/core_pattern": "|/bin/x %p\n"]) == .ok)
  }

  @Test func `clocks have to run, and the date to be of this time`() {
    var clocks = Machine.Clocks(
      boot: 10, monotonic: 5, wall: 1_760_000_000_000, isSynchronised: true)
    #expect(MachineChecks.clocks(clocks).map(\.verdict) == [.ok, .ok])
    clocks.isSynchronised = false
    #expect(MachineChecks.clocks(clocks).map(\.verdict) == [.ok, .warn])
    clocks.wall = 1_000
    #expect(MachineChecks.clocks(clocks).map(\.verdict) == [.ok, .fail])
    clocks.boot = 4
    #expect(MachineChecks.clocks(clocks).map(\.verdict) == [.fail, .fail])
  }
}

// MARK: - Places, agent and vault

extension DoctorTests {
  private static let memory: UInt64 = 0x0102_1994

  private func place(_ kind: UInt64 = 0xEF53, _ mode: UInt32 = 0o700, own: Bool = true)
    -> Machine.Place
  {
    Machine.Place(fileSystem: kind, mode: mode, isOwn: own)
  }

  @Test func `a runtime directory is in memory and its owner's alone`() {
    let session = ["/run/user/1": place(Self.memory), "/run/user/1/kura": place(Self.memory)]
    #expect(runtime(session) == .ok)
    #expect(runtime(["/run/user/1": place(Self.memory)]) == .ok)
    #expect(runtime(["/run/user/1": place()]) == .warn)
    #expect(runtime(session, isSet: false) == .warn)
    let open = session.merging(["/run/user/1/kura": place(Self.memory, 0o755)]) { $1 }
    #expect(runtime(open) == .fail)
    let others = session.merging(["/run/user/1/kura": place(Self.memory, own: false)]) { $1 }
    #expect(runtime(others) == .fail)
  }

  private func runtime(_ places: [String: Machine.Place], isSet: Bool = true) -> Check.Verdict {
    PlaceChecks { places[$0] }.runtime("/run/user/1/kura", isSet: isSet).verdict
  }

  @Test(arguments: [
    (UInt64(0xEF53), Check.Verdict.ok), (0x6969, .warn), (0xFF53_4D42, .warn),
    (0x0102_1994, .warn),
  ])
  func `a vault and its state belong on a local disk`(_ kind: UInt64, _ expected: Check.Verdict) {
    let checks = PlaceChecks { _ in place(kind) }
    #expect(checks.vault("/home/a/x.kura").verdict == expected)
    #expect(checks.state("/home/a/state").verdict == expected)
  }

  @Test(arguments: [
    (".git", "under git"), (".stfolder", "by Syncthing"), (".dropbox", "by Dropbox"),
    (".dropbox.cache", "by Dropbox"), (".nextcloudsync.log", "by Nextcloud"),
    (".owncloudsync.log", "by ownCloud"), (".sync_01ab.db", "by Nextcloud"),
    ("._sync_01ab.db", "by Nextcloud"),
  ])
  func `a folder that is synced, or under git, is told by its marks`(mark: String, by: String) {
    let checks = PlaceChecks(look: { _ in nil })
    let found = checks.copying("/home/a/sync/deep/x.kura") { directory in
      directory == "/home/a/sync" ? [Array(mark.utf8)] : []
    }
    #expect(found.verdict == .warn)
    #expect(found.meaning.contains(by) && found.meaning.contains("/home/a/sync"))
    #expect(found.advice.contains("kura backup --to"))
    let beside = checks.copying("/home/a/x.kura") { directory in
      directory == "/home/a/sync" ? [Array(mark.utf8)] : [Array("sync_01ab.db".utf8)]
    }
    #expect(beside.verdict == .ok)
  }

  @Test func `what is not there yet is no fault, what others can enter is one`() {
    let nothing = PlaceChecks { _ in nil }
    #expect(nothing.vault("/a/b").verdict == .ok)
    #expect(nothing.state("/a").verdict == .ok)
    #expect(PlaceChecks { _ in place(0xEF53, 0o755) }.state("/a").verdict == .ok)
    #expect(PlaceChecks { _ in place(0xEF53, 0o770) }.state("/a").verdict == .fail)
  }

  private func agent(
    release: String = Release.version, _ change: (inout AgentFacts) -> Void = { _ in }
  ) -> [String] {
    var facts = AgentFacts()
    (facts.lockLimit, facts.lockedBytes, facts.keepsState) = (8 << 20, 65_536, true)
    facts.isConfined = true
    (facts.bootTime, facts.monotonicTime) = (60_000, 30_000)
    change(&facts)
    let clocks = Machine.Clocks(boot: 61_000, monotonic: 31_000, wall: 0, isSynchronised: true)
    let checks = AgentChecks(facts: facts, release: release, clocks: clocks)
    return (checks.all + [checks.confinement])
      .filter { $0.verdict != .ok }.map { "\($0.name) \($0.verdict)" }
  }

  @Test func `an agent that is as it should be has nothing to report`() {
    #expect(agent() == [])
    #expect(agent(release: "0.0.1") == ["agent warn"])
    #expect(agent { $0.unlockedBytes = 4_096 } == ["locked-memory fail"])
    #expect(agent { $0.lockLimit = 65_536 } == ["locked-memory warn"])
    #expect(agent { $0.lockLimit = AgentFacts.unlimited } == [])
    #expect(agent { $0.isDumpable = true } == ["core-dumps fail"])
    #expect(agent { $0.coreLimit = 1 } == ["core-dumps fail"])
    #expect(agent { $0.bootTime = 600_000 } == ["agent-clock warn"])
    #expect(agent { $0.monotonicTime = 60_001 } == ["agent-clock fail"])
    #expect(agent { $0.keepsState = false } == ["state-kept fail"])
    #expect(agent { $0.isConfined = false } == ["confinement warn"])
  }

  @Test func `a vault's weaknesses are told with what to do`() {
    func faults(_ weaknesses: Weaknesses, _ memory: UInt64) -> [String] {
      VaultChecks(weaknesses: weaknesses, neededMemory: 256 << 20, availableMemory: memory).all
        .filter { $0.verdict != .ok }.map { "\($0.name) \($0.verdict)" }
    }
    #expect(faults([], 1 << 30) == [])
    let both = faults([.weakKDF, .noRecoveryKey], 1 << 30)
    #expect(both == ["passcode-cost warn", "recovery-key warn"])
    #expect(faults(.triesNotKept, 1 << 30) == ["wrong-tries fail"])
    #expect(faults([], 1 << 20) == ["derivation-memory fail"])
    #expect(faults([], 0) == ["derivation-memory unknown"])
  }

  @Test func `what is to be done about a screen that locks nothing is what the machine has`() {
    let running = MachineChecks.screenLock(holder: 7, hasSystemd: true)
    #expect(
      running.verdict == .ok && running.meaning.contains("process 7") && running.advice.isEmpty)
    for hasSystemd in [true, false] {
      let check = MachineChecks.screenLock(holder: nil, hasSystemd: hasSystemd)
      #expect(check.verdict == .warn)
      #expect(check.advice.contains("systemctl --user") == hasSystemd)
      #expect(check.advice.contains("'kura lock --reason screen-lock'"))
    }
  }

  @Test func `a TPM is told with its count, who may use it, and whether others set that back`() {
    func check(_ finding: ChipCheck.Finding, isNeeded: Bool = true) -> Check {
      ChipCheck(finding: finding, isNeeded: isNeeded).check
    }
    func facts(_ failures: UInt32, of most: UInt32 = 32, hasPassword: Bool = true) -> Check {
      check(
        .facts(
          ChipFacts(
            failures: failures, mostFailures: most, interval: 600, hasLockoutPassword: hasPassword))
      )
    }
    #expect(facts(3).verdict == .ok)
    #expect(facts(3).meaning.contains("3 of 32 wrong codes"))
    let open = facts(0, hasPassword: false)
    #expect(open.verdict == .warn && open.meaning.contains("set the count back"))
    #expect(facts(20).verdict == .warn && facts(20).advice.contains("min"))
    #expect(facts(0, of: 0).verdict == .warn && facts(0, of: 0).advice.contains("12 characters"))
    let denied = check(.fault(ChipFault(.denied, 54_321)))
    #expect(denied.verdict == .warn && denied.meaning.contains("of group 54321"))
    #expect(check(.fault(ChipFault(.denied))).advice.contains("a group, mostly tss"))
    #expect(check(.fault(ChipFault(.busy))).meaning.contains("somebody else has"))
    #expect(check(.fault(ChipFault(.owned))).meaning.contains("owner's password"))
    #expect(check(.fault(ChipFault(.noChip)), isNeeded: false).verdict == .unknown)
    #expect(check(.fault(ChipFault(.noChip))).verdict == .warn)
  }

  @Test func `a security key is told with what it asks for, and whether this user may use it`() {
    func check(_ finding: KeyCheck.Finding, isNeeded: Bool = true) -> Check {
      KeyCheck(finding: finding, isNeeded: isNeeded).check
    }
    func facts(pin: UInt8 = 0, verifies: Bool = false) -> Check {
      check(
        .facts(SecurityKeyFacts(takesPIN: pin > 0, verifies: verifies, pinTries: pin)))
    }
    #expect(facts(pin: 8).verdict == .ok && facts(pin: 8).meaning.contains("8 wrong ones"))
    let few = facts(pin: 3)
    #expect(few.verdict == .warn && few.advice.contains("'kura unlock --fido2'"))
    #expect(facts(verifies: true).meaning.contains("by itself"))
    #expect(facts().meaning.contains("so does its thief"))
    // One that is left at home is no fault; one that this user may not use is, whether it is needed or not.
    for kind in [ChipFault.Kind.noKey, .otherKey] {
      #expect(check(.fault(ChipFault(kind))).verdict == .unknown)
    }
    for isNeeded in [true, false] {
      let denied = check(.fault(ChipFault(.keyDenied, 3)), isNeeded: isNeeded)
      #expect(denied.verdict == .warn && denied.meaning.contains("/dev/hidraw3"))
      #expect(denied.advice.contains("ID_SECURITY_TOKEN"))
    }
    let missing = ChipFault(.noProgram)
    #expect(check(.fault(missing)).verdict == .warn)
    #expect(check(.fault(missing), isNeeded: false).verdict == .unknown)
  }

  @Test func `a finger is told apart: wanted or not, and taken or not, and why`() {
    func check(_ finding: FingerCheck.Finding) -> Check { FingerCheck(finding: finding).check }
    #expect(check(.waited).verdict == .ok && check(.locked).verdict == .unknown)
    #expect(check(.fault(.off)).verdict == .ok && check(.fault(.off)).meaning.contains("is off"))
    for fault in FingerFault.allCases where fault != .off {
      let found = check(.fault(fault))
      #expect(found.verdict == .warn && found.meaning.contains(fault.text))
      #expect(!found.advice.isEmpty)
    }
    #expect(check(.fault(.noFinger)).advice.contains("fprintd-enroll"))
  }
}
