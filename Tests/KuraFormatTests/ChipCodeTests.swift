// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

/// What comes of a code for a TPM; the values are those of the second implementation of the format's functions, in
/// Tests/reference/kura_format.py.
@Suite("A code for a TPM") struct ChipCodeTests {
  private let cost = KDFParameters(memory: 8_192, passes: 1)
  private let vault: VaultID = identifier(2)
  private let slot: SlotID = identifier(3)
  private let salt: Salt = identifier(1)
  private let chip = [UInt8](repeating: 4, count: 32)

  private func header(_ kdf: KDFParameters?) -> SlotHeader {
    SlotHeader(
      kind: .tpm2, kdf: kdf, salt: salt, id: slot,
      chip: ChipObject(storageKey: [1, 2], publicArea: [3], privateArea: [4, 5, 6]))
  }

  private func hex(_ bytes: [UInt8]) -> String {
    bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  }

  @Test func `is shown to it as a hash that is of one slot`() throws {
    let code = try ChipCode(code: "4711".utf8.span, salt: salt, cost: cost)
    let shown = bytes(of: try code.shown(vault: vault, slot: slot))
    #expect(hex(shown) == "000e4516b0c09808e3f33de208ef03ed92c19129f2fc277b279aab6ff25ecfeb")
    #expect(bytes(of: try code.shown(vault: vault, slot: identifier(4))) != shown)
    #expect(bytes(of: try code.shown(vault: identifier(4), slot: slot)) != shown)
  }

  @Test func `of a security key there is none: what it gives for the slot's salt opens`() throws {
    let asked = bytes(of: try SlotSecret.salt(salt, of: slot, vault: vault))
    #expect(hex(asked) == "abdd01b2fb585c57554b34355f279070c7e29c389f23992a041d0f9d4a4ed285")
    let header = SlotHeader(
      kind: .fido2, kdf: nil, salt: salt, id: slot,
      credential: KeyCredential(id: [7, 8, 9], isVerified: true))
    let secret = try SlotSecret(securityKey: chip.span)
    let key = bytes(of: try secret.keyEncryptionKey(vault: vault, header: header))
    #expect(hex(key) == "0c4854ee677095a0de4b3b708965a2df79b2b6f3efd9a471de2720dead1c3605")
  }

  @Test func `opens by the TPM's secret and by itself`() throws {
    let code = try ChipCode(code: "4711".utf8.span, salt: salt, cost: cost)
    let secret = try SlotSecret(chip: chip.span, code: code, vault: vault, slot: slot)
    let key = bytes(of: try secret.keyEncryptionKey(vault: vault, header: header(cost)))
    #expect(hex(key) == "f456de087b7f9e362632aa1e43ef592d38b3ba7e3124a879965f8bf6cf8e67e5")
    let alone = try SlotSecret(chip: chip.span, salt: salt)
    let other = bytes(of: try alone.keyEncryptionKey(vault: vault, header: header(nil)))
    #expect(hex(other) == "54197b6dd277500d38f3dd1b1a34589faa1adc0ca78020f47ff64100e73d6d85")
  }
}
