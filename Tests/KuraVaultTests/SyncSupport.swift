// SPDX-License-Identifier: MIT

import Foundation
import KuraFormat
import Testing

@testable import KuraVault

/// Keeps files as a store does, and loses, holds back and cuts them as stores do.
final class TestStore {
  var files: [RemotePath: [UInt8]] = [:]
  /// How much of what is asked for is not here yet, of 100.
  var lateness = 0
  var dice = SystemDice(seed: 1)
  /// Whether it loses what was written since the last head where a meeting is killed.
  var forgets = false
  /// After how many bytes it makes what was written last, as well as at a head.
  var batch = Int.max
  private var unsettled = 0
  /// Whose files it lets nobody take away, and what somebody tried to.
  var kept: Set<DeviceID> = []
  private(set) var refused: [RemotePath] = []
  /// Sees each file that is put there.
  var spy: (([UInt8]) -> Void)?
  private var settled: [RemotePath: [UInt8]] = [:]
  private(set) var written: [RemotePath] = []
  private(set) var fetched: [RemotePath] = []
  private(set) var deleted: [RemotePath] = []

  /// What the store has of a device beside its head.
  func objects(of device: DeviceID) -> [RemotePath] {
    files.keys.filter { path in
      if case .object(device, _) = path { true } else { false }
    }
  }

  var heads: [DeviceID] {
    files.keys.compactMap { path in if case .head(let device) = path { device } else { nil } }
  }

  func forgetWrites() { (written, fetched) = ([], []) }

  /// All that was written or deleted since this was asked, in order.
  func takeChanges() -> [RemotePath] {
    defer { (written, deleted) = ([], []) }
    return written + deleted
  }

  func answer(_ wish: SyncWish) -> SyncAnswer {
    switch wish {
    case .heads: return .paths(files.keys.filter { !$0.text.hasPrefix("objects") && !isLate })
    case .objects(let device): return .paths(objects(of: device).filter { _ in !isLate })
    case .file(let path, let most):
      fetched.append(path)
      guard let bytes = files[path], bytes.count <= most, !isLate else { return .missing }
      return .file(isLate ? Array(bytes.prefix(bytes.count / 2)) : bytes)
    case .write(let path, let bytes):
      files[path] = bytes
      spy?(bytes)
      unsettled += bytes.count
      if case .head = path { settle() } else if unsettled >= batch { settle() }
      written.append(path)
      return .done
    case .delete(let path) where kept.contains(path.writer):
      refused.append(path)
      return .kept
    case .delete(let path):
      files[path] = nil
      deleted.append(path)
      return .done
    case .nothing: return .done
    }
  }

  /// Keeps what it has by now, whatever comes.
  func settle() { (settled, unsettled) = (files, 0) }

  /// Tells it that a meeting was killed.
  func leave() { if forgets { files = settled } }

  private var isLate: Bool { lateness > 0 && dice.below(100) < lateness }
}

/// Bytes that are text: others take long to be shown as such.
func letters(_ count: Int, seed: Int = 7) -> [UInt8] {
  pattern(count, seed: seed).map { $0 & 0x3F + 0x20 }
}

extension TestVault {
  /// Begins to share the vault.
  func share() throws {
    try fill { vault throws in try vault.share(label: Array("first".utf8)) }
  }

  /// Has the vault meet a store.
  ///
  /// - Parameters:
  ///   - steps: After how many wishes it is killed; nil for never.
  ///   - isUnheard: Whether it is killed before it hears what came of the last of them.
  ///   - compacts: Whether all is sealed anew.
  ///   - most: How many packs a head may name.
  @discardableResult
  func meet(
    _ store: TestStore, killedAfter steps: Int? = nil, unheard isUnheard: Bool = false,
    compacts: Bool = false, mostPacks most: Int? = nil
  ) throws -> SyncReport {
    var vault = try unlock()
    do {
      var run = try SyncRun(&vault, compacts: compacts)
      if let most { run.mostPacks = most }
      var (answer, count): (SyncAnswer?, Int) = (nil, 0)
      store.settle()
      while let wish = try run.next(answer, in: &vault) {
        let isLast = count == steps
        if !isLast || isUnheard { answer = store.answer(wish) }
        if isLast {
          store.leave()
          break
        }
        count += 1
      }
      let report = run.report
      _ = consume run
      vault.fold()
      return report
    } catch {
      vault.fold()
      throw error
    }
  }

  /// What the last own head says that arrived.
  func told() throws -> (device: DeviceID, report: HeadReport) {
    var vault = try unlock()
    let device = try vault.ownDevice()
    let report = try vault.toldReport(by: device)?.report
    vault.fold()
    return (device, try #require(report))
  }

  /// The packs that it names.
  func packs() throws -> Set<RemotePath> {
    let (device, report) = try told()
    return Set(report.packs.map { .object(device, hash: $0.hash) })
  }

  /// Who has to meet the store before nothing is left there that no vault has.
  func awaited() throws -> Set<DeviceID> {
    var vault = try unlock()
    let awaited = try vault.awaitedDevices()
    vault.fold()
    return awaited
  }

  /// The device that this copy is.
  func settledDevice() throws -> DeviceID {
    var vault = try unlock()
    let device = try vault.ownDevice()
    vault.fold()
    return device
  }
}

extension TestVault {
  /// Gives the vault another key.
  func giveKey(removing removed: Set<DeviceID> = []) throws {
    try fill { vault throws in
      let slots = try RekeySlots.cheap()
      try vault.complete(
        try vault.beginRekey(authorizedBy: key(), slots, removing: removed))
    }
  }

  /// Meets a store, and takes the next step to the key that counts, with the passcode.
  ///
  /// - Returns: What was told before.
  @discardableResult
  func enter(_ store: TestStore) throws -> SyncReport {
    var vault = try unlock()
    var run = try SyncRun(&vault)
    var answer: SyncAnswer?
    while let wish = try run.next(answer, in: &vault) { answer = store.answer(wish) }
    let (report, entrance, unites) = (run.report, run.entrance, run.unites)
    _ = consume run
    vault.fold()
    if let entrance { leftOut = try enter(by: entrance) } else if unites { try giveKey() }
    return report
  }

  /// - Returns: Whose changes were left out.
  @discardableResult
  func enter(by entrance: JoinOffer) throws -> Set<DeviceID> {
    var vault = try unlock()
    let offer = try chosen(of: [entrance] + entrance.others)
    let key = try opened(offer)
    do {
      let rekey = try vault.beginEntering(offer, by: key, authorizedBy: self.key())
      try vault.complete(rekey)
    } catch {
      vault.fold()
      throw error
    }
    let leftOut = vault.leftOut
    vault.fold()
    return leftOut
  }

  /// The first that did not take out who gave another key; where each did, the first.
  private func chosen(of offers: [JoinOffer]) throws -> JoinOffer {
    for offer in offers where try !offer.removesRivals(by: opened(offer)) { return offer }
    return offers[0]
  }

  private func opened(_ offer: JoinOffer) throws -> VaultKey {
    try offer.attempt(stateDirectory: stateDirectory)
      .open(.passcode, secret: secret(TestVault.passcode))
  }

  /// What is known of the machines that share the vault; nil where nobody does.
  func sharing() throws -> DeviceTable? {
    var vault = try unlock()
    _ = try vault.sharingState()
    let table = try vault.deviceTable()
    vault.fold()
    return table
  }

  /// The ids that machines took instead of another one's, as far as this one knows.
  func turned() throws -> Set<DeviceID> {
    var vault = try unlock()
    let memory = try vault.memoryOfShared()
    vault.fold()
    return Set(memory.was.map(\.device))
  }

  /// Whether all that was changed here is in the store by the last own head.
  func isCarried() throws -> Bool {
    var vault = try unlock()
    let told = try vault.toldReport(by: vault.ownDevice())?.report
    let memory = try vault.memoryOfShared()
    let count = vault.trust.root.copy?.counter ?? 0
    vault.fold()
    return told?.count == count && memory.pending == nil && memory.beside.isEmpty
  }

  /// Takes all steps to the key that counts.
  ///
  /// - Returns: What was told.
  @discardableResult
  func enterAll(_ store: TestStore) throws -> [SyncReport.Finding] {
    var told: [SyncReport.Finding] = []
    for _ in 0..<12 {
      let findings = try enter(store).findings
      told += findings
      guard findings.contains(where: { $0.kind.wantsPasscode }) else { break }
    }
    return told
  }
}

/// Some machines with copies of one vault, and a store between them.
struct Machines {
  let store = TestStore()
  let all: [TestVault]

  /// - Parameter count: How many; each but the first is a file that was carried there.
  init(_ count: Int, _ fill: (inout UnlockedVault) throws -> Void = { _ in }) throws {
    all = try (0..<count).map { number in try TestVault.machine(number) }
    try all[0].createOfFirstFormat()
    try all[0].takeOver()
    try all[0].fill(fill)
    try all[0].share()
    try all[0].meet(store)
    for other in all.dropFirst() {
      try Copies.copy(all[0], to: other)
      try other.meet(store)
    }
    try settle()
  }

  /// Everybody meets the store until nobody has anything to say.
  ///
  /// - Returns: What was told.
  @discardableResult
  func settle() throws -> [SyncReport] {
    var told: [SyncReport] = []
    for _ in 0..<8 {
      store.forgetWrites()
      for machine in all { told.append(try machine.meet(store)) }
      if store.written.isEmpty { return told }
    }
    Issue.record("they have no end of things to say")
    return told
  }

  /// Two machines give the vault a key each before they meet, and take each other out where that is wanted.
  func part(
    _ one: Int, _ other: Int, removing removed: [Int: Set<DeviceID>] = [:],
    _ change: (Int) throws -> Void = { _ in }
  ) throws {
    let before = store.files
    try all[one].giveKey(removing: removed[one] ?? [])
    try change(one)
    try all[one].meet(store)
    let first = store.files
    store.files = before
    try all[other].giveKey(removing: removed[other] ?? [])
    try change(other)
    try all[other].meet(store)
    let device = try all[one].settledDevice()
    for (path, bytes) in first {
      if store.files[path] == nil || path == .head(device) { store.files[path] = bytes }
    }
  }

  /// Whether all have the same.
  func agree() throws -> Bool {
    let states = try all.map { try Copies.state($0, opening: false) }
    return states.allSatisfy { $0 == states[0] }
  }
}
