// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Checks what the agent, or an engine of this command's own, says of itself.
struct AgentChecks {
  /// What keys, passcodes and values under way take at most in ordinary use.
  private static let neededLock: UInt64 = 4 << 20

  let facts: AgentFacts
  let release: String
  let clocks: Machine.Clocks

  var all: [Check] { [version, lockedMemory, dumps, clock, state] }

  private var version: Check {
    guard release == Release.version else {
      return Check(
        "agent", .warn,
        "the agent is of release " + Diagnostic.shown(release) + ", kura of "
          + Release.version, "run 'kura agent stop'; the next unlock starts the new one")
    }
    return Check("agent", .ok, "the agent is of this release")
  }

  private var lockedMemory: Check {
    let name = "locked-memory"
    let advice = "raise the limit: ulimit -l, or LimitMEMLOCK= in the unit that starts it"
    guard facts.unlockedBytes == 0 else {
      return Check(
        name, .fail,
        sizeText(facts.unlockedBytes) + " of guarded memory could not be locked and may"
          + " reach swap; the limit is " + sizeText(facts.lockLimit), advice)
    }
    guard facts.lockLimit >= Self.neededLock else {
      return Check(
        name, .warn,
        "all is locked now, but the limit of " + sizeText(facts.lockLimit)
          + " is soon reached", advice)
    }
    return Check(
      name, .ok,
      sizeText(facts.lockedBytes) + " are locked, " + sizeText(facts.lockLimit)
        + " may be")
  }

  private var dumps: Check {
    guard facts.coreLimit == 0, !facts.isDumpable else {
      return Check(
        "core-dumps", .fail, "the agent can be traced, or leave a core file with keys in it",
        "run 'kura agent stop', and start it as it was installed")
    }
    return Check("core-dumps", .ok, "the agent cannot be traced and leaves no core file")
  }

  /// Of an agent that stays: an engine of this command's own ends with it.
  var confinement: Check {
    guard facts.isConfined else {
      return Check(
        "confinement", .warn,
        "the agent could start programs and use a network, if somebody made it do so",
        "use a kernel with seccomp filters, and start the agent as it was installed")
    }
    return Check(
      "confinement", .ok, "the agent can gain no privileges, start no program and use no network")
  }

  private var clock: Check {
    let name = "agent-clock"
    let (here, there) = (clocks.boot, facts.bootTime)
    let apart = here > there ? here - there : there - here
    guard apart < 10_000 else {
      return Check(
        name, .warn, "the agent counts another time since the machine's start than this program",
        "start both in the same container")
    }
    guard facts.bootTime >= facts.monotonicTime, facts.bootTime > 0 else {
      return Check(
        name, .fail, "the agent's clock does not count sleep: a vault would outlast it",
        "use a kernel with CLOCK_BOOTTIME")
    }
    return Check(name, .ok, "the agent counts time as this program does")
  }

  private var state: Check {
    guard facts.keepsState else {
      return Check(
        "state-kept", .fail,
        "the agent cannot write to its state directory: older copies of a vault would not be told,"
          + " and wrong tries are not counted",
        "make the state directory writable for you")
    }
    return Check("state-kept", .ok, "what was seen last and wrong tries are kept")
  }
}
