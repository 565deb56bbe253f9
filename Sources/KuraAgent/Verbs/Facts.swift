// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraProtocol
internal import KuraVault
internal import SecureMemory

extension Agent {
  /// Tells what protects this process.
  func agentFacts(_ connection: Connection) throws(Refusal) {
    var limits = kura_limits()
    unsafe kura_limits_read(&limits)
    let (memory, now) = (LockedMemory.status, configuration.clock())
    var facts = AgentFacts()
    facts.lockLimit = limits.lock
    facts.hardLockLimit = limits.hard_lock
    facts.coreLimit = limits.core
    facts.isDumpable = limits.dumpable != 0
    facts.lockedBytes = UInt64(memory.lockedByteCount)
    facts.unlockedBytes = UInt64(memory.unlockedByteCount)
    (facts.bootTime, facts.monotonicTime) = (now.boot, now.monotonic)
    facts.availableMemory = MemoryBudget.available() ?? 0
    facts.isConfined = Confinement.holds
    facts.keepsState = canWrite(configuration.stateDirectory)
    try wire { () throws(ProtocolError) in
      try connection.outbox.frames.putAgentFactsReply(facts)
    }
  }

  /// Whether files can be made in a directory; one that is missing counts as what it is made in.
  private func canWrite(_ directory: String) -> Bool {
    var path = directory
    while !path.isEmpty {
      if unsafe access(path, W_OK | X_OK) == 0 { return true }
      guard errno == ENOENT, let slash = path.lastIndex(of: "/") else { return false }
      path = String(path[..<slash])
    }
    return false
  }
}
