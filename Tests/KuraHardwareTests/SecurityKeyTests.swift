// SPDX-License-Identifier: MIT

import Foundation
import KuraHardware
import KuraTerms
import SecureMemory
import Testing

/// What `kura-hardware` has a security key do, by libfido2 as it is.
@Suite("A security key") struct SecurityKeyTests {
  private func fault(_ body: () throws -> Void) -> ChipFault? {
    do { try body() } catch { return error as? ChipFault }
    return nil
  }

  @Test(arguments: [
    ([], "", false), (["--pin", "4711"], "4711", true),
    (["--pin", "4711", "--protocol", "1"], "4711", true), (["--uv"], "", true),
    (["--uv", "--pin", "4711", "--always-uv"], "", true),
    (["--pin", "4711", "--always-uv"], "4711", true),
  ])
  func `gives the same secret for a salt, by the PIN, by a finger, or by a touch alone`(
    options: [String], pin: String, isVerified: Bool
  ) throws {
    let key = try SoftwareKey()
    key.unplug()
    try key.plugIn(options)
    let facts = try key.facts()
    #expect(facts.takesPIN == !pin.isEmpty)
    #expect(facts.verifies == options.contains("--uv"))
    #expect(facts.pinTries == (pin.isEmpty ? 0 : 8))
    let (credential, secret) = try key.enrol(pin)
    #expect(credential.isVerified == isVerified && secret.count == 32)
    #expect(try key.facts(of: credential) == facts)
    key.unplug()
    try key.plugIn(["--protocol", "1"])
    #expect(try key.secret(of: credential, pin) == secret)
    #expect(try key.secret(of: credential, pin, salt: 2) != secret)
    let another = try key.enrol(pin)
    #expect(another.credential != credential && another.secret != secret)
  }

  @Test func `verifies by itself before it is asked for its PIN, which does as well`() throws {
    let key = try SoftwareKey("--uv", "--pin", "4711")
    let (credential, secret) = try key.enrol()
    #expect(!key.log.contains("pin") && key.log.contains("finger"))
    #expect(try key.secret(of: credential, "4711") == secret)
    try key.finger("no")
    #expect(fault { _ = try key.secret(of: credential) }?.kind == .unverified)
  }

  @Test func `gives another secret once it verifies, which is none of the slot's`() throws {
    let key = try SoftwareKey()
    let (credential, secret) = try key.enrol()
    key.unplug()
    try key.plugIn(["--pin", "4711"])
    // As it was made: without its PIN.
    #expect(try key.facts(of: credential).takesPIN == false)
    #expect(try key.secret(of: credential) == secret)
    #expect(key.log.contains("pin") == false)
    let verified = KeyCredential(id: credential.id, isVerified: true)!
    #expect(try key.secret(of: verified, "4711") != secret)
    key.unplug()
    try key.plugIn(["--eager"])
    #expect(fault { _ = try key.secret(of: credential) }?.kind == .otherManner)
    key.unplug()
    try key.plugIn(["--always-uv"])
    #expect(fault { _ = try key.secret(of: credential) }?.kind == .otherManner)
  }

  @Test func `counts wrong PINs, and its last one is not spent`() throws {
    let key = try SoftwareKey("--pin", "4711")
    let (credential, secret) = try key.enrol("4711")
    #expect(fault { _ = try key.secret(of: credential) } == ChipFault(.pinNeeded))
    for left: UInt32 in [7, 6] {
      let fault = fault { _ = try key.secret(of: credential, "0000") }
      #expect(fault == ChipFault(.wrongPIN, left))
    }
    #expect(fault { _ = try key.secret(of: credential, "0000") } == ChipFault(.pinPaused))
    #expect(fault { _ = try key.secret(of: credential, "4711") } == ChipFault(.pinPaused))
    key.unplug()
    try key.plugIn()
    #expect(try key.secret(of: credential, "4711") == secret)
    #expect(try key.facts(of: credential).pinTries == 8)
    for tries in [1, 0] {
      key.unplug()
      try key.plugIn(["--tries", "\(tries)"])
      let count = key.log.count
      for pin in ["4711", "0000"] {
        let fault = fault { _ = try key.secret(of: credential, pin) }
        #expect(fault == ChipFault(.lastPIN, UInt32(tries)))
      }
      #expect(!key.log.dropFirst(count).contains("pin"))
      #expect(try key.facts(of: credential).pinTries == tries)
    }
  }

  @Test func `is found among others without a touch`() throws {
    let (one, other) = (try SoftwareKey("--pin", "4711"), try SoftwareKey())
    let (credential, secret) = try one.enrol("4711")
    let count = other.log.count
    #expect(try other.secret(of: credential, "4711", beside: one) == secret)
    #expect(other.log.count == count)
    #expect(fault { _ = try other.secret(of: credential, "4711") } == ChipFault(.otherKey))
    #expect(fault { _ = try other.facts(of: credential) } == ChipFault(.otherKey))
    guard case .fault(let several) = try SoftwareKey.ask(.meet(nil), of: one, other) else {
      Issue.record("one of two is taken")
      return
    }
    #expect(several.kind == .severalKeys)
  }

  @Test func `that keeps no secrets, or has no PIN to ask for, makes no slot`() throws {
    let old = try SoftwareKey("--old")
    #expect(fault { _ = try old.enrol() } == ChipFault(.noSecrets))
    #expect(fault { _ = try old.facts() } == ChipFault(.noSecrets))
    let bare = try SoftwareKey("--always-uv")
    #expect(fault { _ = try bare.enrol() } == ChipFault(.noPIN))
    #expect(fault { _ = try bare.enrol("4711") } == ChipFault(.noPIN))
    #expect(!old.log.contains("make") && !bare.log.contains("make"))
  }

  @Test(
    arguments: [
      ("no", .declined), ("late", .untouched), ("pull", .keyGone),
    ] as [(String, ChipFault.Kind)])
  func `that nobody touches gives nothing`(word: String, kind: ChipFault.Kind) throws {
    let key = try SoftwareKey()
    let (credential, secret) = try key.enrol()
    try key.finger(word)
    #expect(fault { _ = try key.secret(of: credential) } == ChipFault(kind))
    try key.finger("yes")
    key.unplug()
    #expect(fault { _ = try key.secret(of: credential) } == ChipFault(.noKey))
    try key.plugIn()
    #expect(try key.secret(of: credential) == secret)
  }

  @Test func `blinks no longer once whoever asked is gone`() throws {
    let key = try SoftwareKey()
    let (credential, secret) = try key.enrol()
    try key.finger("wait")
    let (end, child) = try key.begin(credential)
    while !key.log.contains("blinks"), child.isRunning { usleep(2_000) }
    close(end)
    child.waitUntilExit()
    #expect(key.log.last == "cancelled")
    try key.finger("yes")
    #expect(try key.secret(of: credential) == secret)
  }

  @Test(.enabled(if: ProcessInfo.processInfo.environment["KURA_NIGHTLY"] != nil))
  func `blinks for 25 seconds at most`() throws {
    let key = try SoftwareKey()
    let (credential, _) = try key.enrol()
    try key.finger("wait")
    #expect(fault { _ = try key.secret(of: credential) } == ChipFault(.untouched))
    #expect(key.log.last == "cancelled")
  }
}
