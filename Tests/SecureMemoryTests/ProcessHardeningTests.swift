// SPDX-License-Identifier: MIT

import CKuraSystem
import Foundation
import Glibc
import SecureMemory
import Testing

@Suite struct ProcessHardeningTests {
  @Test func `a hardened process leaves no core file and creates private files`() async {
    await #expect(processExitsWith: .success) {
      ProcessHardening.apply()
      let limits = try String(contentsOfFile: "/proc/self/limits", encoding: .utf8)
      let core = limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") }
      let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
      precondition(core?.split(separator: " ").dropFirst(4).first == "0")
      precondition(status.contains("Umask:\t0077"))
      precondition(ProcessHardening.apply() == 0o077)
    }
  }

  @Test func `a hardened process cannot be traced by its user, nor dumped`() async {
    await #expect(processExitsWith: .success) {
      precondition(isDumpable())
      ProcessHardening.apply()
      precondition(!isDumpable())
    }
  }

  @Test func `a secret's pages are locked, out of core dumps and wiped in children`() async {
    await #expect(processExitsWith: .success) {
      let secret = try SecretBytes(copying: [1].span)
      let address = secret.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) }
      let flags = try mappingFlags(at: address)
      precondition(flags.contains("dd") && flags.contains("wf"))
      precondition(flags.contains("lo") == (LockedMemory.status.unlockedByteCount == 0))
    }
  }

  @Test func `a child that goes on with the arena locks it anew`() async {
    await #expect(processExitsWith: .exitCode(7)) {
      let secret = try SecretBytes(copying: [1].span)
      let large = try SecretBytes(count: 1 << 20)
      let isLocked = LockedMemory.status.unlockedByteCount == 0
      var channel: Int32 = -1
      let reader = kura_relay_part(&channel)
      precondition(reader >= 0)
      guard reader == 0 else { kura_relay_stand_in(reader, channel) }
      for address in [
        secret.withUnsafeBytes({ UInt(bitPattern: $0.baseAddress) }),
        large.withUnsafeBytes({ UInt(bitPattern: $0.baseAddress) }),
      ] where isLocked {
        let flags = try mappingFlags(at: address)
        precondition(flags.contains("lo"))
      }
      precondition(secret.bytes[0] == 0)
      exit(7)
    }
  }

  @Test func `the pages around a secret's cannot be touched`() async {
    await #expect(processExitsWith: .failure) {
      let secret = try SecretBytes(count: 200_000)
      let end = secret.withUnsafeBytes { $0.baseAddress! + 200_000 }
      let page = UInt(bitPattern: end) / 4096 * 4096 + 4096
      print(UnsafeRawPointer(bitPattern: page)!.load(as: UInt8.self))
    }
  }

  @Test func `what is locked is counted, and a large secret only while it lives`() async {
    await #expect(processExitsWith: .success) {
      let before = heldByteCount()
      do {
        let large = try SecretBytes(count: 300_000)
        precondition(heldByteCount() >= before + large.count)
      }
      precondition(heldByteCount() == before)
    }
  }

  @Test(.enabled(if: dlsym(nil, "__asan_init") == nil, "AddressSanitizer replaces mlock"))
  func `memory that cannot be locked is used and counted`() async {
    await #expect(processExitsWith: .success) {
      // Root may lock what it likes, so that the child becomes nobody.
      var none = rlimit(rlim_cur: 0, rlim_max: 0)
      let memlock = __rlimit_resource_t(8)
      precondition(setrlimit(memlock, &none) == 0 && (getuid() != 0 || setuid(65534) == 0))
      let secret = try SecretBytes(count: 10)
      precondition(secret.count == 10 && LockedMemory.status.unlockedByteCount > 0)
    }
  }
}

/// What prctl(2) says to PR_GET_DUMPABLE; Swift does not import what takes any number of arguments.
private func isDumpable() -> Bool {
  typealias Call = @convention(c) (Int32, UInt, UInt, UInt, UInt) -> Int32
  let prctl = unsafeBitCast(dlsym(nil, "prctl"), to: Call.self)
  return prctl(3, 0, 0, 0, 0) == 1
}

/// What the arena holds, locked or not.
private func heldByteCount() -> Int {
  LockedMemory.status.lockedByteCount + LockedMemory.status.unlockedByteCount
}

/// The kernel's flags of the mapping that an address is in.
private func mappingFlags(at address: UInt) throws -> [Substring] {
  var isInside = false
  // A String of a file in /proc ends after the first few kilobytes.
  let file = FileHandle(forReadingAtPath: "/proc/self/smaps")
  let maps = String(decoding: try file?.readToEnd() ?? Data(), as: UTF8.self)
  for line in maps.split(separator: "\n") {
    let range = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
    if range.count == 2 {
      isInside = range[0] <= address && address < range[1]
    } else if isInside, line.hasPrefix("VmFlags:") {
      return line.split(separator: " ")
    }
  }
  return []
}
