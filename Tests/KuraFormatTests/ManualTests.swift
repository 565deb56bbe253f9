// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

/// The worked examples of `man/kura-format.5` are what the code does.
@Suite struct ManualTests {
  private let page: String
  private let vault: VaultID

  init() throws {
    let root = URL(filePath: #filePath).appending(path: "../../..").standardized
    let manual = root.appending(path: "man/kura-format.5")
    page = try String(contentsOf: manual, encoding: .utf8).filter { !$0.isWhitespace }
    let id = (0xA0...0xAF).map { UInt8($0) }
    vault = VaultID(id.span)
  }

  private func subkey(_ purpose: KeyPurpose) throws -> Key {
    let id = vault.bytes
    return try key(from: 0).subkey(purpose, vault: id.span)
  }

  @Test func `the manual's subkeys are ours`() throws {
    #expect(page.contains("ringkey" + hexadecimal(bytes(of: try subkey(.ring)))))
    #expect(page.contains("namekey" + hexadecimal(bytes(of: try subkey(.name)))))
  }

  @Test func `the manual's ciphertext opens`() throws {
    let start = try #require(page.range(of: "sealed404142")?.upperBound)
    let digits = "404142" + page[start...].prefix(152 - 6)
    let sealed = try stride(from: 0, to: 152, by: 2).map { index in
      let pair = digits.dropFirst(index).prefix(2)
      return try #require(UInt8(pair, radix: 16))
    }
    let associated = AssociatedData.ring(vault: vault)
    #expect(page.contains("AD" + hexadecimal(bytes(associated.span))))
    let ring = try subkey(.ring)
    let opened = try Seal.open(sealed.span, authenticating: associated.span, under: ring)
    #expect(bytes(opened.bytes) == Array("kura".utf8))
  }

  @Test func `the manual's tag and recovery key are ours`() throws {
    let typed = Array("com.example.juice/userIdentifier".utf8)
    let tag = try ItemName(typed.span).tag(under: try subkey(.name))
    #expect(page.contains("tag" + tag.hexadecimal))
    let recovery = RecoveryKey(try secret((0..<20).map { UInt8($0) }))
    let text = String(decoding: bytes(of: try recovery.text()), as: UTF8.self)
    #expect(page.contains(text))
  }

  @Test func `the manual's limits are ours`() {
    #expect(KDFLimits.mostPasses == 16 && page.contains("passesoutside1to16"))
    #expect(KDFLimits.mostMemory == 2 << 30 && page.contains("memoryoutside8,192bytesto2GiB"))
    #expect(KDFLimits.mostWork == 8 << 30 && page.contains("passestimesmemoryabove8GiB"))
    #expect(KDFLimits.mostWorkTogether == 16 << 30 && page.contains("above16GiB"))
    for key in Setting.allCases {
      let ends = "\(key.storedRange.lowerBound)" + (key.storedRange.upperBound == 1 ? "or" : "to")
      let range = "default\(key.standard)\(ends)\(key.storedRange.upperBound)"
      #expect(page.contains(range), "\(key)")
    }
  }
}
