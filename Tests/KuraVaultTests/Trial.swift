// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import KuraTerms
import Testing

@testable import KuraVault

/// Lives of machines that share a vault by folders which somebody carries: late, by halves, in no order, and not at all
/// to who is away.
final class Trial {
  /// Says what is left out, so that a trial that fails can be seen to fail for it.
  enum Fault {
    /// Files that a machine writes are not carried any more, and nobody is told.
    case carrier
  }

  final class Machine {
    let number: Int
    var file: TestVault
    let folder = TrialFolder()
    /// Till which step nobody is there.
    var away = 0
    var isRemoved = false
    var isReplaced = false
    /// Whether it may have another one's id, and has not met the store since.
    var isStale = false

    init(_ number: Int, _ file: TestVault) {
      self.number = number
      self.file = file
    }
  }

  static let names = ["a", "b", "c", "d", "e", "f"]

  private let seed: UInt64
  var dice: SystemDice
  private var machines: [Machine] = []
  private var hub = TrialHub()
  /// Which machines reach the hub; nil for all.
  private var links: Set<Int>?
  var record = TrialRecord()
  private let fault: Fault?
  /// Whether disks are copied also while nobody knows yet which machine goes on under which id.
  private let copiesAgain: Bool
  /// What was found to be wrong before the end.
  private(set) var faults: [String] = []
  var log: [String] = []
  /// All of a machine's disk, as it was.
  private var backup: (machine: Machine, disk: TestVault)?
  /// What alarms may be told of: machines that were copied, put back or taken out.
  private var causes: Set<SyncNotice> = []
  /// What two machines under one id give rise to: the own head is none as long as half of the other one's stands there,
  /// and two that have the same counts of that id need not have the same.
  private static let twinAlarms: Set<SyncNotice> = [
    .twin, .back, .ownHeadBack, .ownHeadGone, .differs,
  ]
  /// How many machines began with another one's id.
  private var twins = 0

  init(
    _ seed: UInt64, machines count: Int, fault: Fault? = nil, copiesAgain: Bool = false
  ) throws {
    (self.seed, self.fault, self.copiesAgain) = (seed, fault, copiesAgain)
    dice = SystemDice(seed: seed)
    for number in 0..<count { machines.append(Machine(number, try TestVault.machine(number))) }
    let first = machines[0].file
    try first.createOfFirstFormat()
    try first.takeOver()
    try first.fill { vault throws in
      try vault.setPolicy(.historyDepth, to: 50)
      try note("put", "a", on: 0, in: &vault) { try $0.put("a", "a at first") }
    }
    try first.share()
    try meet(machines[0])
    for machine in machines.dropFirst() {
      try Copies.copy(first, to: machine.file)
      try machine.file.fill { vault throws in _ = try vault.ownDevice() }
    }
    for machine in machines + machines.dropLast() {
      carry(machine, portion: 100)
      try meet(machine)
      carry(machine, portion: 100)
    }
  }

  func note(
    _ word: String, _ name: String, to after: String? = nil, setting set: [String: String] = [:],
    on machine: Int, in vault: inout UnlockedVault,
    _ body: (inout UnlockedVault) throws -> Void
  ) throws {
    try record.note(word, name, to: after, setting: set, on: machine, in: &vault, body)
  }

  // MARK: - Steps

  /// Takes the steps, and lets all come together.
  func live(through steps: [Int]) {
    do {
      for number in steps { try step(number) }
      try end()
    } catch { faults.append("an error: \(error)") }
  }

  /// Each step has dice of its own, so that steps can be left out.
  private func step(_ number: Int) throws {
    dice = SystemDice(seed: (seed &* 1_000_003) ^ UInt64(number &+ 1) &* 0x9E37_79B9)
    _ = dice.below(2)
    let present = machines.filter { $0.away <= number && !$0.isRemoved }
    guard let machine = pick(present) else { return }
    switch dice.below(100) {
    case 0..<43: try change(machine, number)
    case 43..<45: try changeSlots(of: machine)
    case 45..<65: try meet(machine, killedAfter: dice.below(3) == 0 ? dice.below(25) : nil)
    case 65..<81: carry(machine, portion: [10, 50, 100][dice.below(3)])
    case 81:
      log.append("\(number) has something back that was gone")
      hub.double(&dice)
    case 82..<85:
      links = links == nil ? Set(machines.indices.filter { _ in dice.below(2) == 0 }) : nil
      log.append("\(number) reached: \(links.map { "\($0.sorted())" } ?? "all")")
    case 85..<88: machine.away = number + [10, 40, 400][dice.below(3)]
    case 88..<91: try mergeFile(into: machine)
    case 91: lose(of: machine)
    case 92: try giveKey(machine, number)
    case 93..<95:
      // Years ahead, or long ago.
      machine.file.setClock(to: [1_000, 1_000_000_000_000, 4_000_000_000_000][dice.below(3)])
    case 95: try machine.file.fill { vault throws in try vault.rotateAll() }
    case 96:
      try machine.file.fill { vault throws in
        try vault.setPolicy(.idleTimeout, to: UInt64(60_000 * (1 + dice.below(20))))
      }
    case 97 where dice.below(2) == 0: try replace(machine, number)
    case 98: try keepDisk(of: machine)
    case 99 where dice.below(2) == 0: try putBack()
    case 99: try remove(by: machine)
    default: break
    }
  }

  private func pick<Element>(_ some: [Element]) -> Element? {
    some.isEmpty ? nil : some[dice.below(some.count)]
  }

  private func meet(_ machine: Machine, killedAfter steps: Int? = nil) throws {
    log.append("\(machine.number) meets\(steps.map { ", killed after \($0)" } ?? "")")
    let told: [SyncReport.Finding]
    if steps == nil, dice.below(2) == 0 || isEnding {
      told = try machine.file.enterAll(machine.folder.store)
    } else {
      let isUnheard = steps != nil && dice.below(2) == 0
      if isUnheard { log.append("unheard") }
      told = try machine.file.meet(
        machine.folder.store, killedAfter: steps, unheard: isUnheard
      ).findings
    }
    if steps == nil { machine.isStale = false }
    if isEnding, !told.isEmpty {
      log.append("\(machine.number) is told \(told.map { "\($0.kind) of \($0.device)" })")
    }
    machine.folder.noteWrites()
    let alarms = told.map(\.kind).filter { $0.isAlarm && !$0.wantsOwner }
    // The folder of who begins with another one's copy is behind what that one had met.
    let excused: Set<SyncNotice> = machine.isReplaced ? [.back, .ownHeadBack, .ownHeadGone] : []
    if !excused.union(causes).isSuperset(of: alarms) {
      faults.append("an alarm that nothing gave rise to: \(alarms)")
    }
  }

  /// Whether all owners are there, with the passcode.
  private var isEnding = false

  // MARK: - Keys, and machines that come twice

  private func epoch(of machine: Machine) throws -> DeviceTable.Epoch {
    let vault = try machine.file.unlock()
    let epoch = try vault.epoch()
    vault.fold()
    return epoch
  }

  /// Whether all others know a machine, and it knows them: who gives the vault a key before that is nobody for them.
  private func isKnown(_ machine: Machine) throws -> Bool {
    let table = try machine.file.sharing()
    return try areAware(of: machine)
      && machines.allSatisfy { other in
        guard other !== machine, !other.isRemoved else { return true }
        return try table?[other.file.settledDevice()]?.key != nil
      }
  }

  /// Whether all others know a machine.
  private func areAware(of machine: Machine) throws -> Bool {
    let device = try machine.file.settledDevice()
    return try machines.allSatisfy { other in
      try other === machine || other.isRemoved || other.file.sharing()?[device]?.key != nil
    }
  }

  private func giveKey(_ machine: Machine, _ number: Int) throws {
    guard !machine.isStale, try areTwinsKnown(), try isKnown(machine) else { return }
    log.append("\(machine.number) gives the vault another key")
    try machine.file.giveKey()
  }

  /// A machine is taken out of which all is here that is known of it; it may go on.
  private func remove(by machine: Machine) throws {
    let state = try machine.file.sharing()
    let others = machines.filter { $0 !== machine && !$0.isRemoved && !$0.isStale }
    guard !machine.isStale, let other = pick(others), others.count > 1, try areTwinsKnown(),
      try isKnown(machine)
    else { return }
    let device = try other.file.settledDevice()
    // Who may still have another one's id is not known from that one.
    let alike = try machines.filter { try !$0.isRemoved && $0.file.settledDevice() == device }
    guard alike.count == 1 else { return }
    guard let note = state?[device], note.removedAt == nil, note.taken == note.heard,
      note.taken != .none
    else { return }
    log.append("\(machine.number) takes \(other.number) out")
    try machine.file.giveKey(removing: [device])
    other.isRemoved = true
    record.add("removed \(other.number)")
  }

  private func keepDisk(of machine: Machine) throws {
    guard try !machine.isStale && (copiesAgain || areTwinsKnown()) else { return }
    if dice.below(2) == 0 || machines.count > 10 {
      log.append("\(machine.number) has its disk kept")
      backup = (machine, try machine.file.copiedDisk())
      return
    }
    log.append("\(machine.number) has its disk copied for \(machines.count)")
    let twin = Machine(machines.count, try machine.file.copiedDisk())
    twin.folder.copy(machine.folder)
    (twin.isReplaced, machine.isStale, twin.isStale) = (machine.isReplaced, true, true)
    machines.append(twin)
    twins += 1
    causes.formUnion(Self.twinAlarms)
  }

  /// What the disk of a machine was is put back, once all that it has is carried.
  private func putBack() throws {
    guard let (machine, disk) = backup, !machine.isRemoved, !machine.isStale, links == nil,
      try areTwinsKnown()
    else { return }
    try meet(machine)
    carry(machine, portion: 100)
    // What it wrote under a key that others have left only it can bring along.
    let now = try epoch(of: machine)
    guard try machine.file.isCarried(),
      try machines.allSatisfy({ try $0.isRemoved || epoch(of: $0) == now })
    else { return }
    log.append("\(machine.number) is put back")
    backup = nil
    machine.file = disk
    machine.isStale = true
    twins += 1
    record.lives[machine.number, default: 0] += 1
    causes.formUnion(Self.twinAlarms)
  }

  /// - Returns: Whether a file was carried.
  @discardableResult
  private func carry(_ machine: Machine, portion: Int) -> Bool {
    if let links, !links.contains(machine.number) { return false }
    if fault == .carrier, machine.number == 1 { return false }
    log.append("\(machine.number) carries")
    return machine.folder.carry(&hub, portion, &dice)
  }

  /// Whether a file may be merged: not as long as two have one id and somebody does not know which of them goes on under it.
  private func mayMerge(_ one: Machine, _ other: Machine) throws -> Bool {
    guard !one.isStale, !other.isStale, try epoch(of: one) == epoch(of: other) else { return false }
    return try areTwinsKnown()
  }

  /// Whether everybody knows which machine goes on under which id.
  private func areTwinsKnown() throws -> Bool {
    guard twins > 0 else { return true }
    let known = try machines.filter { !$0.isRemoved }.map { try $0.file.turned() }
    return known.allSatisfy { $0 == known[0] && $0.count >= twins }
  }

  private func mergeFile(into machine: Machine) throws {
    guard let other = pick(machines.filter { $0 !== machine && !$0.isRemoved && !$0.isStale }),
      try mayMerge(machine, other)
    else { return }
    log.append("\(machine.number) merges the file of \(other.number)")
    _ = try Copies.merge(other.file, into: machine.file)
  }

  /// The store loses an object of a machine that is there to seal it anew.
  private func lose(of machine: Machine) {
    let device = try? machine.file.settledDevice()
    guard let device, let path = pick(hub.paths.filter { $0.isObject(of: device) }) else { return }
    log.append("lost is one of \(machine.number)")
    // Without its record a head of another key than the vault has says nothing.
    causes.insert(.ownHeadGone)
    hub.lose(path)
    for machine in machines { machine.folder.lose(path) }
  }

  /// A machine is lost once its file was merged, and a new one begins with a copy of that.
  private func replace(_ machine: Machine, _ number: Int) throws {
    let others = machines.filter {
      $0 !== machine && $0.away <= number && !$0.isRemoved && !$0.isStale
    }
    guard let other = pick(others), try mayMerge(machine, other) else { return }
    log.append("\(machine.number) is lost, and begins with a copy of \(other.number)")
    machine.isReplaced = true
    // What went on in the file alone since then no head tells of.
    if backup?.machine === machine { backup = nil }
    _ = try Copies.merge(machine.file, into: other.file)
    try FileManager.default.removeItem(atPath: machine.file.stateDirectory)
    try Copies.copy(other.file, to: machine.file)
    try machine.file.fill { vault throws in _ = try vault.ownDevice() }
  }

  // MARK: - The end

  /// All carriers catch up, everybody is there, and all meet until nobody has anything to say.
  private func end() throws {
    (links, isEnding) = (nil, true)
    for _ in 0..<4 {
      for _ in 0..<12 {
        var isQuiet = true
        for machine in machines where !machine.isRemoved {
          if carry(machine, portion: 100) { isQuiet = false }
          try meet(machine)
          if carry(machine, portion: 100) { isQuiet = false }
        }
        if isQuiet { break }
      }
      guard try removeGhosts() else { break }
    }
    for machine in machines where !machine.isRemoved {
      let findings = try machine.file.unlockedFindings()
      if !findings.isEmpty { faults.append("\(machine.number) is not whole: \(findings)") }
      try machine.file.fill { vault throws in
        try vault.takeLooserSettings(by: machine.file.key().origin)
        try record.end(machine.number, &vault)
      }
    }
  }

  /// What an owner does with ids that no machine has any more, where others wait for what they wrote.
  ///
  /// - Returns: Whether there were any.
  private func removeGhosts() throws -> Bool {
    guard let machine = try machines.first(where: { try !$0.isRemoved && areAware(of: $0) }),
      try areTwinsKnown()
    else { return false }
    let devices = try Set(machines.filter { !$0.isRemoved }.map { try $0.file.settledDevice() })
    let known = try machine.file.sharing()?.notes ?? []
    let ghosts = known.filter { $0.removedAt == nil && !devices.contains($0.device) }
    guard ghosts.contains(where: { $0.heard != .none }) else { return false }
    try machine.file.giveKey(removing: Set(ghosts.map(\.device)))
    return true
  }

  /// What the judge says, and what was seen on the way.
  func verdict() throws -> [String] {
    let path = machines[0].file.directory + "/record"
    try Data(record.lines.joined(separator: "\n").utf8).write(to: URL(filePath: path))
    if let kept = ProcessInfo.processInfo.environment["KURA_RECORD"] {
      try Data(record.lines.joined(separator: "\n").utf8).write(to: URL(filePath: kept))
    }
    guard faults.isEmpty else { return faults }
    return (try TrialJudge.faults(inRecord: path))
  }
}
