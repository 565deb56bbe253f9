// SPDX-License-Identifier: MIT

import KuraVault
import Testing

/// Rows changed by SQL without a key: always detected at access or by `verify`.
@Suite("Rows of the file", .serialized)
struct RowAttackTests {
  @Test(arguments: ["good-small", "good-depth-2"])
  func `an untouched vault is harmless`(beginning: String) throws {
    let life = try VaultLife(vector: beginning)
    let reading = try life.specimen.reading(of: life.specimen.file, in: Scratch())
    #expect(reading.isHarmless, "\(reading)")
  }

  @Test(arguments: ["good-small", "good-depth-2"])
  func `attacks on rows are always detected`(beginning: String) throws {
    let dice = Dice()
    let life = try VaultLife(vector: beginning)
    let failures = life.attack(count: Scale.count(200, nightly: 100_000), seed: dice.seed)
    #expect(failures.isEmpty, "seed \(dice.seed): \(failures.joined(separator: "\n"))")
  }

  @Test(arguments: [IntegrityChecks.node, .bucket, .leaf, .presence, .history])
  func `a reader without one of its checks lets an attack through`(
    check: IntegrityChecks
  ) throws {
    let life = try VaultLife(vector: "good-small")
    let failures = life.attack(count: 2_000, seed: 1, limit: 1, checks: .all.subtracting(check))
    #expect(!failures.isEmpty)
  }

  @Test func `a reader that compares no header digest serves what it should refuse`() throws {
    let (specimen, attacks) = try { ($0.specimen, $0.attacks) }(VaultLife(vector: "good-small"))
    let served = Trials.run(500, limit: 1) { number, scratch in
      var dice = Dice(seed: UInt64(number))
      let rows = attacks.attacked(&dice).rows
      let file = try VaultLife.file(specimen.file, attacks.rows, changedTo: rows, in: scratch)
      let blind = try specimen.reading(of: file, in: scratch, checks: .all.subtracting(.header))
      let whole = try specimen.reading(of: file, in: scratch)
      return whole.refusal != nil && blind.refusal == nil && blind.errors.isEmpty ? "" : nil
    }
    #expect(!served.isEmpty)
  }

  @Test func `every whole earlier state is refused where a later one was seen`() throws {
    let life = try VaultLife(vector: "good-small")
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    let site = Site(state: scratch.file("state"))
    let specimen = life.specimen
    try Bytes.write(specimen.file, to: path)
    var vault = try Engine.open(path, at: site, with: specimen.secret)
    try vault.flushSeen()
    vault.lock().close()
    for (number, rows) in life.attacks.earlier.enumerated() {
      let old = try life.file(with: rows, in: scratch)
      try Bytes.write(old, to: path)
      let reading = Reading(path, at: site, with: specimen.secret, expected: specimen.expected)
      guard case .rolledBack = reading.refusal else {
        Issue.record("state \(number): \(reading)")
        continue
      }
    }
  }
}

extension VaultLife {
  /// What attacks got through.
  func attack(
    count: Int, seed: UInt64, limit: Int = 8, checks: IntegrityChecks = .all
  ) -> [String] {
    let (specimen, attacks) = (specimen, attacks)
    return Trials.run(count, limit: limit) { number, scratch in
      var dice = Dice(seed: seed &* 1_000_003 &+ UInt64(number))
      let (rows, deeds) = attacks.attacked(&dice)
      let file = try VaultLife.file(specimen.file, attacks.rows, changedTo: rows, in: scratch)
      let reading = try specimen.reading(of: file, in: scratch, checks: checks)
      let mayPass = rows.differsInLeftoversOnly(from: attacks.rows)
      let isNoticed = reading.isDetected || mayPass && reading.isHarmless
      // Under an earlier root, what belongs to it reads as it was then: rolling back a whole file is
      // for the seen file to tell. Under the right root nothing may read otherwise.
      let isRightRoot = rows.root == attacks.rows.root
      return isNoticed && (reading.silent.isEmpty || !isRightRoot) ? nil : "\(deeds): \(reading)"
    }
  }
}

/// A vault that lived for a while, with every state it went through.
struct VaultLife: Sendable {
  let specimen: Specimen
  let attacks: RowAttacks

  /// - Parameter vector: What it begins as.
  init(vector: String) throws {
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    let beginning = try Specimen(vector: vector)
    try Bytes.write(beginning.file, to: path)
    let site = Site(state: scratch.file("state"))
    var vault = try Engine.open(path, at: site, with: beginning.secret)
    var states = [try Rows(of: Database(path))]
    for (number, step) in VaultLife.steps.enumerated() {
      try step(&vault)
      if number == 5 {
        try Engine.changePasscode(
          to: VaultLife.passcode, of: path, at: site, with: beginning.secret, in: &vault)
      }
      states.append(try Rows(of: Database(path)))
    }
    let expected = try Engine.lines(&vault).map { ExpectedLine($0) }
    vault.lock().close()
    let isChanged = beginning.secret.credential == .passcode
    specimen = Specimen(
      file: try Bytes.read(path),
      secret: isChanged ? .passcode(VaultLife.passcode) : beginning.secret, expected: expected)
    attacks = RowAttacks(
      rows: states.removeLast(), earlier: states,
      foreign: [
        try VaultLife.fork(of: beginning),
        try VaultLife.rows(of: Specimen(vector: "good-history")),
        try VaultLife.rows(of: Specimen(vector: "good-small-changed")),
      ])
  }

  /// Its passcode from the sixth change on.
  private static let passcode = "another one"

  /// The changes that it goes through.
  private static let steps: [@Sendable (inout UnlockedVault) throws -> Void] = [
    { try Engine.put("c", [1, 2, 3], in: &$0) },
    { try Engine.put("a/b", Array("third".utf8), ["key": "other"], in: &$0) },
    { try Engine.put("d", Array("fresh".utf8), in: &$0) },
    { try Engine.put("large", Bytes.pattern(65_537), in: &$0) },
    { try Engine.remove("d", in: &$0) },
    { try Engine.put("d", Array("back".utf8), in: &$0) },
    { try Engine.put("large", Bytes.pattern(70_000), ["k": "v"], in: &$0) },
    { try $0.setPolicy(.idleTimeout, to: 60_000, by: nil) },
    { try Engine.put("a/b", Array("fourth".utf8), in: &$0) },
    { try Engine.put("a/b", Array("fifth".utf8), in: &$0) },
  ]

  /// The beginning, gone another way.
  private static func fork(of beginning: Specimen) throws -> Rows {
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    try Bytes.write(beginning.file, to: path)
    var vault = try Engine.open(
      path, at: Site(state: scratch.file("state")), with: beginning.secret)
    for word in ["one", "two", "three"] {
      try Engine.put("c", Array(word.utf8), in: &vault)
      try Engine.put("a/b", Array(word.utf8), in: &vault)
      try Engine.put("e", Array(word.utf8), in: &vault)
    }
    vault.lock().close()
    return try Rows(of: Database(path))
  }

  private static func rows(of specimen: Specimen) throws -> Rows {
    let scratch = try Scratch()
    try Bytes.write(specimen.file, to: scratch.file("vault.kura"))
    return try Rows(of: Database(scratch.file("vault.kura")))
  }

  /// The vault's file with other rows in it.
  func file(with rows: Rows, in scratch: Scratch) throws -> [UInt8] {
    try VaultLife.file(specimen.file, attacks.rows, changedTo: rows, in: scratch)
  }

  static func file(
    _ file: [UInt8], _ old: Rows, changedTo rows: Rows, in scratch: Scratch
  ) throws -> [UInt8] {
    let path = scratch.file("attacked.kura")
    try Bytes.write(file, to: path)
    do {
      let database = try Database(path)
      try database.run("PRAGMA synchronous = OFF")
      try rows.store(in: database, over: old)
    }
    return try Bytes.read(path)
  }
}
