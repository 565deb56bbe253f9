// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Checks what the kernel's files say of swap, sleep and the programs of this user.
struct MachineChecks {
  let machine: Machine

  var all: [Check] { [swap, hibernation, corePattern, ptraceScope] }

  // MARK: - Swap

  /// The swap areas that are on, without those in memory or under encryption that can be seen.
  private var openSwaps: [String] {
    machine.lines("/proc/swaps").dropFirst().compactMap { line in
      guard let name = line.words.first, !isGuarded(name) else { return nil }
      return name.text
    }
  }

  private func isGuarded(_ name: ArraySlice<UInt8>) -> Bool {
    if name.starts("/dev/zram") { return true }
    guard name.starts("/dev/dm-") else { return false }
    let identity = machine.words("/sys/block/" + name.dropFirst(5).text + "/dm/uuid")?.first
    return identity?.starts("CRYPT-") ?? false
  }

  private var swap: Check {
    guard machine.file("/proc/swaps") != nil else {
      return Check("swap", .unknown, "the kernel does not say whether swap is on")
    }
    if machine.lines("/proc/swaps").count < 2 { return Check("swap", .ok, "no swap is on") }
    guard let name = openSwaps.first else {
      return Check("swap", .ok, "swap is in compressed memory, or on an encrypted device")
    }
    return Check(
      "swap", .warn,
      "swap on " + Diagnostic.shown(name) + " is not encrypted as far as can be seen; locked memory"
        + " never goes there, but what a terminal or another program shows may",
      "encrypt swap, or use zram")
  }

  private var hibernation: Check {
    let name = "hibernation"
    guard let states = machine.words("/sys/power/state"),
      states.contains(where: { $0.equals("disk") })
    else { return Check(name, .ok, "this machine does not hibernate") }
    let modes = machine.words("/sys/power/disk") ?? []
    if modes.contains(where: { $0.equals("[disabled]") }) {
      return Check(name, .ok, "hibernation is switched off")
    }
    if openSwaps.isEmpty {
      return Check(name, .ok, "there is no unencrypted swap to hibernate to")
    }
    return Check(
      name, .warn, "hibernating writes all memory to unencrypted swap, locked memory, too",
      "run 'kura lock' before, or encrypt swap")
  }

  // MARK: - Other programs

  private var corePattern: Check {
    let name = "core-files"
    guard let pattern = machine.words("/proc/sys/kernel/core_pattern") else {
      return Check(name, .unknown, "the kernel does not say where core files go")
    }
    let isProgram = pattern.first?.starts("|") ?? false
    return Check(
      name, .ok,
      isProgram
        ? "a program collects core files; kura and its agent leave none"
        : "core files are written where programs crash; kura and its agent leave none")
  }

  private var ptraceScope: Check {
    let name = "ptrace-scope"
    // Without Yama it is as if it said 0.
    let scope = machine.number("/proc/sys/kernel/yama/ptrace_scope") ?? 0
    guard scope == 0 else {
      return Check(name, .ok, "programs of yours can trace only what they started")
    }
    return Check(
      name, .warn,
      "any program of yours can trace another, such as the shell and terminal that you type a"
        + " passcode in; kura and its agent cannot be traced",
      "set the sysctl kernel.yama.ptrace_scope to 1")
  }
}

// MARK: - Leaving

extension MachineChecks {
  /// - Parameters:
  ///   - holder: The process of `kura-desktop`; nil where none runs.
  ///   - hasSystemd: Whether systemd runs this machine.
  static func screenLock(holder: Int32?, hasSystemd: Bool) -> Check {
    let name = "screen-lock"
    if let holder {
      return Check(
        name, .ok,
        "kura-desktop (process \(holder)) has the agent lock with the screen, at sleep and at logout"
      )
    }
    return Check(
      name, .warn,
      "kura-desktop does not run, so a locked screen and a logout lock nothing: the clocks, sleep and"
        + " 'kura lock' do",
      (hasSystemd
        ? "run 'systemctl --user enable --now kura-desktop.service'"
        : "have the session start kura-desktop")
        + ", or let the screen locker run 'kura lock --reason screen-lock'")
  }
}

// MARK: - Clocks

extension MachineChecks {
  /// The start of 2024: no release is older.
  private static let leastTime: UInt64 = 1_704_067_200_000

  static func clocks(_ clocks: Machine.Clocks) -> [Check] {
    let runs = clocks.boot > 0 && clocks.monotonic > 0 && clocks.boot >= clocks.monotonic
    let lock =
      runs
      ? Check("lock-clock", .ok, "the clock that locks vaults runs, and counts sleep")
      : Check(
        "lock-clock", .fail, "CLOCK_BOOTTIME does not work here: vaults would not lock in time",
        "use a kernel that has it")
    return [lock, wall(clocks)]
  }

  private static func wall(_ clocks: Machine.Clocks) -> Check {
    let name = "wall-clock"
    if clocks.wall < leastTime {
      return Check(
        name, .fail, "the date is wrong: times of items and locks will be, too",
        "set the clock; locking does not depend on it")
    }
    guard clocks.isSynchronised else {
      return Check(
        name, .warn, "nothing seems to keep the date right; locking does not depend on it",
        "run a time service, if times shown matter")
    }
    return Check(name, .ok, "the date is kept right")
  }
}
