// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura doctor`: tells what of the promised protection holds on this machine.
enum Doctor {
  static let command = Command(
    "doctor", abstract: "tell what of the promised protection holds on this machine",
    options: [Option.json], run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let checks = try examine(try invocation.access())
    if invocation.arguments.has(.json) {
      try writeJSON(checks, &invocation.output)
    } else {
      try write(checks, &invocation.output)
    }
    return checks.contains { $0.verdict == .fail } ? .failure : .ok
  }

  private static func examine(_ access: VaultAccess) throws(CommandError) -> [Check] {
    let clocks = Machine.clocks()
    var checks = MachineChecks(machine: Machine()).all + MachineChecks.clocks(clocks)
    checks += try places(access)
    checks += try engine(access, clocks)
    checks.append(
      MachineChecks.screenLock(
        holder: DesktopMark.holder(), hasSystemd: Machine.place("/run/systemd/system") != nil))
    checks.append(RoomGround().check)
    checks.append(LinkedLibrary.check)
    return checks
  }

  private static func places(_ access: VaultAccess) throws(CommandError) -> [Check] {
    let checks = PlaceChecks(look: { Machine.place($0) })
    do throws(PathError) {
      let (state, runtime) = (try UserDirectory.state(), try UserDirectory.runtime())
      let isSet = runtime != state + "/run"
      return [
        checks.runtime(runtime, isSet: isSet), checks.state(state), checks.vault(access.vault.path),
        checks.copying(access.vault.path) { Machine.names(in: $0) }.advising(about: access.vault),
      ]
    } catch { throw .path(error) }
  }
}

// MARK: - The engine

extension Doctor {
  /// What a running agent says; without one nothing is started unless `--no-agent` asks for it.
  private static func engine(
    _ access: VaultAccess, _ clocks: Machine.Clocks
  ) throws(CommandError) -> [Check] {
    guard var connection = try access.connectAnswering() else {
      return [
        Check(
          "agent", .unknown, "no agent is running, so nothing is known of its memory or the vault",
          "'kura --no-agent doctor' asks an engine of its own")
      ]
    }
    do throws(ClientError) {
      let facts = try connection.agentFacts()
      let agent = AgentChecks(facts: facts, release: connection.release, clocks: clocks)
      let checks = try vault(access, &connection, facts.availableMemory)
      return agent.all + (access.isPrivate ? [] : [agent.confinement])
        + checks.map { $0.advising(about: access.vault) } + (try finger(access).map { [$0] } ?? [])
    } catch { throw .client(error) }
  }

  /// Whether a finger does, which an engine of this command's own cannot tell: it has nothing unlocked.
  private static func finger(_ access: VaultAccess) throws(ClientError) -> Check? {
    guard access.vault.isThere, !access.isPrivate else { return nil }
    let other: Connection?
    do throws(CommandError) { other = try access.connectAnswering() } catch { return nil }
    guard let other = consume other else { return nil }
    return try FingerCheck.check(by: other)
  }

  private static func vault(
    _ access: VaultAccess, _ connection: inout Connection, _ memory: UInt64
  ) throws(ClientError) -> [Check] {
    guard access.vault.isThere else {
      return try ChipCheck.check(&connection, isNeeded: false).map { [$0] } ?? []
    }
    do throws(ClientError) {
      let report = try connection.status()
      let slots = try connection.slots().all.map { $0.facts }
      let store = StoreCheck.check(of: report.vault)
      let chip = try ChipCheck.check(
        &connection, isNeeded: slots.contains { $0.kind == .tpm2 && !$0.isDisabled })
      let key = try KeyCheck.check(
        &connection, isNeeded: slots.contains { $0.kind == .fido2 && !$0.isDisabled })
      return VaultChecks(
        weaknesses: report.weaknesses, neededMemory: slots.map { $0.cost.memory }.max() ?? 0,
        availableMemory: memory
      ).all + (chip.map { [$0] } ?? []) + (key.map { [$0] } ?? []) + (store.map { [$0] } ?? [])
    } catch {
      guard case .refused(let refused) = error, refused.failure.isOfVault else { throw error }
      let diagnostic = Diagnostic(refused)
      return [Check("vault", .fail, diagnostic.message, diagnostic.hint ?? "")]
    }
  }
}

// MARK: - Writing

extension Doctor {
  private static func write(
    _ checks: [Check], _ output: inout Output
  ) throws(CommandError) {
    for check in checks {
      try output.write(
        HelpText.pad(check.verdict.rawValue, 9) + HelpText.pad(check.name, 19) + check.meaning
          + "\n")
      guard !check.advice.utf8.isEmpty else { continue }
      try output.write(HelpText.pad("", 28) + "do: " + check.advice + "\n")
    }
    try output.write("\n")
    try write("not as promised here", checks.filter { $0.verdict == .fail }, &output)
    try write("holds, but look at", checks.filter { $0.verdict == .warn }, &output)
    if !checks.contains(where: { $0.verdict == .fail || $0.verdict == .warn }) {
      try output.write("everything looked at holds here\n")
    }
  }

  private static func write(
    _ title: String, _ checks: [Check], _ output: inout Output
  ) throws(CommandError) {
    guard !checks.isEmpty else { return }
    try output.write(title + ": ")
    for (index, check) in checks.enumerated() {
      try output.write((index > 0 ? ", " : "") + check.name)
    }
    try output.write("\n")
  }

  private static func writeJSON(
    _ checks: [Check], _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.key("checks")
    try output.openArray()
    for check in checks {
      try output.openObject()
      try output.member("name", check.name)
      try output.member("verdict", check.verdict.rawValue)
      try output.member("meaning", check.meaning)
      try output.member("advice", check.advice)
      try output.closeObject()
    }
    try output.closeArray()
    try output.member("holds", !checks.contains { $0.verdict == .fail })
    try output.closeDocument()
  }
}
