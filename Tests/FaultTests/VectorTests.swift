// SPDX-License-Identifier: MIT

import KuraVault
import Testing

@Suite("Vault vectors")
struct VectorTests {
  @Test func `there are vectors of every layer`() throws {
    let layers = try VectorFile.names.map { try VectorFile($0).layer }
    let wanted = [
      "ok", "file", "header", "slot", "ring", "root", "tree", "item", "history", "chunk", "loose",
      "seen",
    ]
    #expect(Set(layers) == Set(wanted))
    #expect(layers.count >= 250)
  }

  @Test(arguments: VectorFile.names)
  func `each vector reads as it says, or fails in the layer that it names`(name: String) throws {
    let vector = try VectorFile(name)
    let reading = try vector.reading()
    let isAsSaid = vector.expect == "ok" ? reading.isHarmless : vector.isNamed(by: reading)
    if !isAsSaid { Issue.record("\(name): expected \(vector.expect), got \(reading)") }
  }

  @Test(arguments: [
    "protected-later", "protected-otp-long", "otp-long", "otp-chunked", "history-current",
    "history-later", "history-1025", "history-class", "tree-node-zero",
  ])
  func `reading and verifying agree on what only an owner of the key can make`(
    name: String
  ) throws {
    let vector = try VectorFile(name)
    let reading = try vector.reading()
    #expect(name == "tree-node-zero" || !reading.errors.isEmpty, "\(reading)")
    #expect(!reading.findings.isEmpty, "\(reading)")
  }

  @Test func `no item is called absent by a node without children that has a row`() throws {
    let vector = try VectorFile("tree-node-zero")
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    try vector.build(at: path)
    var vault = try Engine.open(path, at: Site(state: scratch.file("state")), with: vector.secret)
    var refusals: [VaultError] = []
    // One of 64 comes to that node.
    for number in 0..<1_000 {
      let name = Array("absent/\(number)".utf8)
      do throws(VaultError) { _ = try vault.item(name.span) } catch { refusals.append(error) }
    }
    #expect(refusals.count == 1_000 && refusals.contains(.damaged(.node)))
    #expect(refusals.allSatisfy { $0 == .notFound || $0 == .damaged(.node) })
    vault.lock().close()
  }

  @Test(arguments: ["loose-live-value", "loose-live-old-value"])
  func `a live value planted among the loose ones keeps its chunks`(name: String) throws {
    let vector = try VectorFile(name)
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    try vector.build(at: path)
    let site = Site(state: scratch.file("state"))
    var vault = try Engine.open(path, at: site, with: vector.secret)
    while try vault.sweep() {}
    vault.lock().close()
    let reading = Reading(
      path, at: site, with: vector.secret, expected: vector.lines.map { ExpectedLine($0) })
    if !reading.errors.isEmpty || !reading.silent.isEmpty { Issue.record("\(name): \(reading)") }
  }

  @Test func `the runner notices a reader that skips a check`() throws {
    for (name, check) in [
      ("row-rolled-back", IntegrityChecks.leaf), ("slot-reverted", .header),
      ("tree-node-flipped", .node), ("tree-bucket-leaf", .bucket), ("row-deleted", .presence),
      ("history-row-body-of-another", .history), ("seen-rolled-back", .seen),
    ] {
      let vector = try VectorFile(name)
      let blind = try vector.reading(checks: .all.subtracting(check))
      let whole = try vector.reading()
      #expect(vector.isNamed(by: whole), "\(name): \(whole)")
      #expect(whole.refusal != blind.refusal || whole.errors != blind.errors, "\(name): \(blind)")
    }
  }
}

extension VectorFile {
  var layer: String { String(expect.prefix { $0 != "/" }) }

  /// What is tried to open it with.
  var secret: Secret {
    if let text = field("recovery-key") { return .recoveryKey(text) }
    if let hex = field("key-file-hex") {
      return Secret(credential: .keyFile, bytes: Bytes.fromHex(hex))
    }
    return hardwareSecret
      ?? Secret(credential: .passcode, bytes: Bytes.fromHex(field("passcode-hex") ?? ""))
  }

  /// Builds the vault somewhere and lets the engine read all of it.
  func reading(checks: IntegrityChecks = .all) throws -> Reading {
    let scratch = try Scratch()
    let path = scratch.file("vault.kura")
    try build(at: path)
    let site = Site(state: try scratch.directory("state"), checks: checks, hardware: hardware)
    if let seen = field("seen-hex") {
      let header = try Database(path).rows("SELECT data FROM part WHERE id = 0")
      guard case .blob(let bytes) = header.first?.first else { throw SystemFailure.malformed }
      try Bytes.write(
        Bytes.fromHex(seen), to: "\(site.state)/\(Bytes.hex(bytes.dropFirst(8))).seen")
    }
    return Reading(path, at: site, with: secret, expected: lines.map { ExpectedLine($0) })
  }

  /// Whether what the engine says names the layer that the vector does.
  func isNamed(by reading: Reading) -> Bool {
    if let refusal = reading.refusal { return accepts(refusal) }
    guard reading.silent.isEmpty, reading.errors.allSatisfy(accepts) else { return false }
    if reading.findings.isEmpty { return !reading.errors.isEmpty }
    return reading.findings.contains(where: accepts)
  }

  private func accepts(_ error: VaultError) -> Bool {
    switch (expect, error) {
    case ("file/not-a-vault", .notAVault), ("file/newer-format", .newerFormat),
      ("header/newer-format", .newerFormat),
      ("slot/kdf-refused", .kdfRefused), ("slot/kdf-refused", .wrongOrRefused),
      ("slot/wrong-passcode", .wrongPasscode),
      ("slot/no-such-slot", .noSuchSlot), ("slot/key-file-short", .keyFileTooShort),
      ("seen/rolled-back", .rolledBack),
      ("seen/forked", .forked):
      true
    case (_, .damaged(let damage)): damages.contains(damage)
    default: false
    }
  }

  private func accepts(_ finding: FindingKind) -> Bool {
    switch expect {
    case "tree/node": finding == .node
    case "tree/bucket": finding == .bucket || finding == .extraTree
    case "tree/leaf": finding == .item || finding == .row
    case "tree/row-missing": finding == .missingItem
    case "tree/stray": finding == .extraItem || finding == .extraTree
    case "tree/count": finding == .count
    case "history/stray": finding == .extraHistory
    case "chunk/stray": finding == .extraChunk
    default:
      switch layer {
      case "file", "header", "root": finding == .header
      case "item": finding == .item || finding == .row || finding == .history
      case "history": finding == .history
      case "chunk": finding == .chunk
      case "loose": finding == .loose
      default: false
      }
    }
  }

  /// Which of the engine's kinds of damage a vector's layer stands for.
  private var damages: [Damage] {
    switch expect {
    case "file/schema": [.schema]
    case "file/stray", "header/damaged", "root/header-digest": [.header]
    case "slot/damaged", "slot/too-many", "slot/none": [.slot]
    case "ring/damaged": [.ring]
    case "root/damaged", "tree/count": [.root]
    case "tree/node": [.node]
    case "tree/bucket": [.bucket]
    case "tree/leaf", "tree/row-missing", "tree/stray": [.item]
    default:
      switch layer {
      case "item": [.item]
      case "history": [.history, .item]
      case "chunk": [.chunk]
      case "loose": [.loose]
      default: []
      }
    }
  }
}

extension SystemFailure {
  static let malformed = SystemFailure(call: "a vector's header", number: 0)
}
