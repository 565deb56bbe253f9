// SPDX-License-Identifier: MIT

import Foundation
import KuraHardware
import KuraTerms
import SecureMemory
import Testing

/// A secret that a TPM keeps: it comes back for its code, from that TPM, and for nothing else.
@Suite("A secret in a TPM", .enabled(if: SoftwareTPM.works, "swtpm is not here"))
struct TPMTests {
  private let secret = (0..<32).map { UInt8($0 * 7 + 1) }
  private let code = (0..<32).map { UInt8($0 * 5 + 3) }
  private let wrong = (0..<32).map { UInt8($0 * 3 + 2) }

  private func fault(_ body: () throws -> Void) -> ChipFault? {
    do { try body() } catch { return error as? ChipFault }
    return nil
  }

  @Test(arguments: SoftwareTPM.Usual.allCases)
  func `comes back for its code, and a wrong one is counted`(_ usual: SoftwareTPM.Usual) throws {
    let chip = try SoftwareTPM(usual)
    let object = try chip.seal(secret, code)
    #expect(try chip.unseal(object, code) == secret)
    #expect(try chip.look().failures == 0)
    #expect(fault { _ = try chip.unseal(object, wrong) }?.kind == .wrong)
    #expect(try chip.look().failures == 1)
    #expect(try chip.unseal(object, code) == secret)
    // A right one is no reason for a TPM to forget a wrong one.
    #expect(try chip.look().failures == 1)
    let none = try chip.seal(secret, [])
    #expect(try chip.unseal(none, []) == secret)
  }

  @Test func `is not tried for where too few tries are left, until the TPM forgets one`() throws {
    let chip = try SoftwareTPM()
    try chip.tool("dictionarylockout", ["-s", "-n", "4", "-t", "1000", "-l", "1000"])
    let object = try chip.seal(secret, code)
    for _ in 0..<2 { #expect(fault { _ = try chip.unseal(object, wrong) }?.kind == .wrong) }
    #expect(try chip.unseal(object, code) == secret)
    #expect(fault { _ = try chip.unseal(object, wrong) }?.kind == .wrong)
    // One is left, which others may need.
    #expect(fault { _ = try chip.unseal(object, code) } == ChipFault(.lockedOut, 1_000))
    #expect(try chip.look().failures == 3)
    // What takes no code costs nobody a try.
    #expect(try chip.unseal(try chip.seal(secret, []), []) == secret)
    try chip.tool("dictionarylockout", ["-c"])
    #expect(try chip.unseal(object, code) == secret)
  }

  @Test func `does not come for any code while others have locked the TPM`() throws {
    let chip = try SoftwareTPM()
    let object = try chip.seal(secret, code)
    try chip.tool("createprimary", ["-C", "o", "-c", "parent"])
    try "data".write(toFile: chip.directory + "/data", atomically: true, encoding: .utf8)
    try chip.tool(
      "create", ["-C", "parent", "-p", "theirs", "-i", "data", "-u", "pub", "-r", "priv"])
    try chip.tool("flushcontext", ["-t"])
    for _ in 0..<3 {
      try chip.tool("load", ["-C", "parent", "-u", "pub", "-r", "priv", "-c", "loaded"])
      try chip.tool("flushcontext", ["-t"])
      #expect(throws: TPMFailure.self) { try chip.tool("unseal", ["-c", "loaded", "-p", "wrong"]) }
      try? chip.tool("flushcontext", ["-t"])
    }
    let locked = fault { _ = try chip.unseal(object, code) }
    #expect(locked?.kind == .lockedOut)
    try chip.tool("dictionarylockout", ["-c"])
    #expect(try chip.unseal(object, code) == secret)
  }

  @Test func `outlives a power cut, which the TPM counts`() throws {
    let chip = try SoftwareTPM()
    let object = try chip.seal(secret, code)
    #expect(fault { _ = try chip.unseal(object, wrong) }?.kind == .wrong)
    chip.stop()
    try chip.start()
    #expect(try chip.look().failures == 2)
    chip.stop()
    try chip.start()
    #expect(fault { _ = try chip.unseal(object, code) }?.kind == .lockedOut)
    try chip.tool("dictionarylockout", ["-c"])
    #expect(try chip.unseal(object, code) == secret)
  }

  @Test func `is not asked of another TPM, nor of one that was cleared`() throws {
    let (chip, other) = (try SoftwareTPM(.elliptic), try SoftwareTPM(.rsa))
    let object = try chip.seal(secret, code)
    #expect(fault { _ = try other.unseal(object, code) }?.kind == .other)
    #expect(try other.look().failures == 0)
    try chip.tool("clear", ["-c", "p"])
    #expect(fault { _ = try chip.unseal(object, code) }?.kind == .other)
    #expect(try chip.look().failures == 0)
  }

  @Test func `comes back where another key than its own was put at the usual place`() throws {
    let chip = try SoftwareTPM()
    let object = try chip.seal(secret, code)
    try chip.keepStorageKey("rsa")
    #expect(try chip.unseal(object, code) == secret)
    #expect(try chip.look().failures == 0)
  }

  @Test func `needs no password of the owner where a storage key stands`() throws {
    let (chip, bare) = (try SoftwareTPM(.elliptic), try SoftwareTPM())
    for one in [chip, bare] { try one.tool("changeauth", ["-c", "o", "theirs"]) }
    #expect(try chip.unseal(try chip.seal(secret, code), code) == secret)
    #expect(fault { _ = try bare.seal(secret, code) }?.kind == .owned)
  }

  @Test func `leaves nothing in the TPM, however often it is asked for`() throws {
    let chip = try SoftwareTPM()
    let object = try chip.seal(secret, code)
    let count = ProcessInfo.processInfo.environment["KURA_NIGHTLY"] == nil ? 8 : 100
    for _ in 0..<count { #expect(try chip.unseal(object, code) == secret) }
    #expect(fault { _ = try chip.unseal(object, wrong) }?.kind == .wrong)
    // Three more can be loaded only where none was left.
    for _ in 0..<3 { try chip.tool("createprimary", ["-C", "o", "-c", "mine"]) }
  }

  @Test func `comes back after what speaks to the TPM was killed at any command`() throws {
    let chip = try SoftwareTPM(.elliptic)
    try chip.tool("dictionarylockout", ["-s", "-n", "100", "-t", "1000", "-l", "1000"])
    let object = try chip.seal(secret, code)
    let recorder = try chip.record()
    defer { recorder.end() }
    var (cuts, left, spent) = (0, 0, 0)
    for isSealing in [false, true] {
      for number in 0... {
        let shown = try SecretBytes(copying: wrong.span)
        let wish =
          isSealing
          ? HardwareWish.seal(
            SealOrder(secret: try SecretBytes(copying: secret.span), code: shown))
          : .unseal(UnsealOrder(object, code: shown))
        let message = try wish.encoded()
        let cut = try recorder.cut(at: number) { try chip.begin(message) }
        let rest = recorder.clear()
        // TPM2_Unseal: whether anybody hears of it or not, the TPM has counted it.
        if cut.commands.contains(0x15E) { spent += 1 }
        #expect(try chip.unseal(object, code) == secret)
        #expect(Int(try chip.look().failures) == spent)
        guard cut.isHeld else {
          #expect(rest == 0, "a whole one leaves nothing")
          break
        }
        (cuts, left) = (cuts + 1, left + rest)
      }
    }
    #expect(cuts > 10 && left > 0 && spent > 1)
  }

  @Test func `and its code are seen by nobody who records what the TPM is told and tells`() throws {
    let chip = try SoftwareTPM()
    let recorder = try chip.record()
    defer { recorder.end() }
    let object = try chip.seal(secret, code)
    #expect(try chip.unseal(object, code) == secret)
    let said = Data(recorder.bytes)
    // What it has is what was said.
    #expect(said.range(of: Data(object.publicArea.dropFirst(2))) != nil)
    #expect(said.range(of: Data(secret.prefix(8))) == nil)
    #expect(said.range(of: Data(secret.suffix(8))) == nil)
    #expect(said.range(of: Data(code.prefix(8))) == nil)
    #expect(said.range(of: Data(code.suffix(8))) == nil)
  }

  @Test func `is not looked for where there is no TPM`() throws {
    let answer = try Helper.ask(
      try HardwareWish.look.encoded(), ["KURA_TCTI": "swtpm:host=127.0.0.1,port=1"])
    guard case .fault(let fault) = answer else {
      Issue.record("another answer")
      return
    }
    #expect(fault.kind == .noChip)
  }
}
