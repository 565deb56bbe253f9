// SPDX-License-Identifier: MIT

import KuraVault
import Testing

/// The engine against the second implementation in Tests/reference, on one file by turns.
@Suite("Reference", .serialized)
struct ReferenceTests {
  private static let passcode = "a passcode of both"

  @Test(arguments: [
    "test_reference.py", "test_taken.py", "test_log.py", "test_merge.py", "test_sync.py",
    "test_remote.py",
  ])
  func `the reference stands its own tests`(_ tests: String) throws {
    let output = try Python.run(tests, [])
    #expect(output.status == 0, "\(output.lines.suffix(20).joined(separator: "\n"))")
  }

  @Test func `the vectors are what their generator writes`() throws {
    let scratch = try Scratch()
    let output = try Python.run("make_vectors.py", ["--unchecked", scratch.file("vectors")])
    #expect(output.status == 0, "\(output.lines)")
    for name in VectorFile.names {
      let written = try Bytes.read("\(scratch.file("vectors"))/\(name).sql")
      #expect(written == (try Bytes.read("\(Repository.vectors)/\(name).sql")), "\(name)")
    }
  }

  @Test func `the reference reads what the engine writes`() throws {
    let desk = try Desk()
    try desk.createWithEngine()
    var vault = try desk.open()
    try Engine.put("plain", Array("value".utf8), ["user": "mary", "url": "https://"], in: &vault)
    try Engine.put("empty", [], in: &vault)
    try Engine.put("cafe\u{301}/\u{212b}", [0, 255, 10], in: &vault)
    try Engine.put(String(repeating: "n", count: 1024), [1], in: &vault)
    for size in [254, 255, 4095, 5000, 65_536, 65_537, 300_000] {
      try Engine.put("size/\(size)", Bytes.pattern(size), in: &vault)
    }
    for number in 0..<14 { try Engine.put("often", [UInt8(number)], in: &vault) }
    try Engine.put("gone", [7], in: &vault)
    try Engine.remove("gone", in: &vault)
    try Engine.put("back", [7], in: &vault)
    try Engine.remove("back", in: &vault)
    try Engine.put("back", [8], in: &vault)
    var edits = AttributeEdits()
    let key = Array("k".utf8)
    try edits.set(key.span, to: key.span)
    let large = Array("size/300000".utf8)
    for _ in 0..<12 { _ = try vault.setAttributes(large.span, edits) }
    let owner: OwnerProof? = try Engine.owner(of: desk.path, at: desk.site, with: desk.secret)
    try vault.setPolicy(.historyDepth, to: 5, by: owner)
    try Engine.put("often", [99], in: &vault)
    while try vault.sweep() {}
    try vault.flushSeen()
    let lines = try Engine.lines(&vault)
    #expect(try Engine.findings(&vault).isEmpty)
    vault.lock().close()
    try desk.agrees(with: lines)
  }

  @Test func `the reference reads a vault of 4,100 items, two levels deep`() throws {
    let desk = try Desk()
    try desk.createWithEngine()
    var vault = try desk.open()
    for number in 0..<4_100 { try Engine.put("item/\(number)", [UInt8(number & 255)], in: &vault) }
    let lines = try Engine.lines(&vault)
    vault.lock().close()
    try desk.agrees(with: lines)
    #expect(try desk.reference("dump").lines.contains(" \"depth\": 2,"))
  }

  @Test func `both write the same vault by turns`() throws {
    let desk = try Desk()
    #expect(try desk.reference("create").status == 0)
    var dice = Dice(seed: 7)
    for round in 0..<12 {
      var vault = try desk.open()
      for number in 0..<6 {
        let value = Bytes.pattern([3, 300, 70_000].randomElement(using: &dice)! + round)
        try Engine.put("name/\(Int.random(in: 0..<9, using: &dice))", value, in: &vault)
        guard number == round % 6 else { continue }
        try Engine.remove("name/\(round % 9)", ifThere: true, in: &vault)
      }
      try vault.flushSeen()
      let lines = try Engine.lines(&vault)
      vault.lock().close()
      try desk.agrees(with: lines)
      let name = "name/\(round % 9)"
      let puts = try desk.reference("put", "\(name)=\(Bytes.hex([UInt8(round)]))", "python=")
      #expect(puts.status == 0, "\(puts.lines)")
      if round % 4 == 3 { #expect(try desk.reference("rm", "python").status == 0) }
    }
    var vault = try desk.open()
    #expect(try Engine.findings(&vault).isEmpty)
    vault.lock().close()
  }

  @Test func `each goes on with a rotation that the other began`() throws {
    let desk = try Desk()
    try desk.createWithEngine()
    var vault = try desk.open()
    for number in 0..<200 { try Engine.put("item/\(number % 150)", [UInt8(number)], in: &vault) }
    try Engine.put("large", Bytes.pattern(70_000), in: &vault)
    let lines = try Engine.lines(&vault)
    try vault.beginRotation()
    for _ in 0..<2 { _ = try vault.rotate() }
    try vault.flushSeen()
    vault.lock().close()
    try desk.agrees(with: lines)
    #expect(try desk.reference("generations").lines == ["1", "2"])
    let ended = try desk.reference("rotate")
    #expect(ended.status == 0, "\(ended.lines)")
    #expect(try desk.reference("generations").lines == ["2"])
    #expect(try desk.reference("rotate", "--until", String(repeating: "7f", count: 16)).status == 0)
    vault = try desk.open()
    while try vault.rotate() {}
    #expect(try Engine.lines(&vault) == lines)
    vault.lock().close()
    try desk.agrees(with: lines)
    #expect(try desk.reference("generations").lines == ["3"])
  }

  @Test(arguments: [false, true])
  func `the reference reads what two copies of a vault come to`(isRekeyed: Bool) throws {
    let desk = try Desk()
    try desk.createWithEngine()
    var vault = try desk.open()
    for name in ["both", "here", "there", "gone", "late"] {
      try Engine.put(name, Array(name.utf8), ["k": "1"], in: &vault)
    }
    try Engine.put("large", Bytes.pattern(70_000), in: &vault)
    _ = try vault.takeOver()
    vault.lock().close()
    let other = desk.scratch.file("other.kura")
    try Bytes.write(try Bytes.read(desk.path), to: other)
    let site = Site(state: desk.scratch.file("other-state"))
    var second = try Engine.open(other, at: site, with: desk.secret)
    for name in ["both", "there", "new"] { try Engine.put(name, Bytes.pattern(300), in: &second) }
    try Engine.put("larger", Bytes.pattern(90_000), in: &second)
    _ = try second.purge(Array("gone".utf8).span, .item)
    _ = try second.purge(Array("late".utf8).span, .item)
    if isRekeyed { try rekey(&second, at: other, site, desk.secret) }
    second.lock().close()
    vault = try desk.open()
    for name in ["both", "here", "new", "late"] { try Engine.put(name, [1, 2, 3], in: &vault) }
    let report: MergeReport
    if isRekeyed {
      let key = try vault.attempt(atCopy: other).open(
        .passcode, secret: Engine.secretBytes(desk.secret.bytes))
      report = try vault.merge(try vault.openCopy(at: other, by: key))
    } else {
      report = try vault.merge(try vault.openCopy(at: other))
    }
    #expect(report.conflicting == 2 && report.purged == 1 && report.renamed == 1)
    try vault.flushSeen()
    let lines = try Engine.lines(&vault)
    #expect(try Engine.findings(&vault).isEmpty)
    vault.lock().close()
    try desk.agrees(with: lines)
  }

  /// Puts a copy under a key of its own, as its owner may have done on another machine.
  private func rekey(
    _ vault: inout UnlockedVault, at path: String, _ site: Site, _ secret: Secret
  ) throws {
    let passcode = try Engine.secretBytes(secret.bytes)
    var locked = try LockedVault(at: path, options: site.options)
    let fresh = try locked.attempt().open(.passcode, secret: passcode)
    let slots = RekeySlots(
      passcode: try PreparedSlot.passcode(passcode, kdf: Engine.cheap, allowsWeak: true),
      keyFile: nil, keyFileNumber: 0, recovery: nil)
    var rekey = try vault.beginRekey(authorizedBy: fresh, slots)
    while try rekey.step() {}
    try vault.finish(rekey)
  }

  @Test func `the reference finds the engine's seen file in order`() throws {
    let desk = try Desk()
    try desk.createWithEngine()
    for word in ["one", "two", "three"] {
      var vault = try desk.open()
      try Engine.put("a", Array(word.utf8), in: &vault)
      try vault.flushSeen()
      let (id, epoch, mark) = (vault.id.hexadecimal, vault.summary.epoch, vault.summary.fingerprint)
      vault.lock().close()
      let output = try desk.reference("seen", "--seen", "\(desk.site.state)/\(id).seen")
      #expect(output.lines == ["\(epoch) \(Bytes.hex(mark))"])
    }
  }

  /// A vault file that both work on.
  private struct Desk {
    let scratch: Scratch
    let path: String
    let site: Site
    let secret = Secret.passcode(ReferenceTests.passcode)

    init() throws {
      scratch = try Scratch()
      path = scratch.file("vault.kura")
      site = Site(state: scratch.file("state"))
    }

    func createWithEngine() throws {
      let passcode = try Engine.secretBytes(secret.bytes)
      let draft = try VaultDraft.make(
        at: path, options: site.options, passcode: passcode,
        kdf: Engine.cheap, allowsWeak: true, wantsRecoveryKey: true)
      try draft.commit()
    }

    func open() throws -> UnlockedVault { try Engine.open(path, at: site, with: secret) }

    func reference(_ verb: String, _ more: String...) throws -> Python.Output {
      try Python.run(
        "kura_ref.py", [verb, path, "--passcode-hex", Bytes.hex(secret.bytes)] + more)
    }

    /// The reference reads the same lines, and finds nothing wrong.
    func agrees(with lines: [String]) throws {
      let theirs = try reference("lines").lines.filter {
        !($0.hasPrefix("old: ") && $0.contains(" kind=1 "))
      }
      #expect(Set(theirs) == Set(lines))
      #expect(theirs.count == lines.count)
      let verified = try reference("verify")
      #expect(verified.status == 0, "\(verified.lines)")
    }
  }
}
