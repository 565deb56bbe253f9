// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory

@testable import KuraVault

// Slots as tests make them and look at them.

func passcodeSlot(
  _ text: String, label: String = ""
) throws(VaultError) -> PreparedSlot {
  try PreparedSlot.passcode(
    secret(text), kdf: TestVault.kdf, allowsWeak: true,
    naming: SlotNaming(label: label.utf8.span))
}

func localSlot(_ code: String) throws(VaultError) -> PreparedSlot {
  try PreparedSlot.local(secret(code), kdf: TestVault.kdf, allowsWeak: true)
}

func keyFile(_ byte: UInt8) throws -> SecretBytes {
  try SecretBytes(copying: [UInt8](repeating: byte, count: 40).span)
}

func devices(_ file: TestVault) -> [String] {
  let names = try? FileManager.default.contentsOfDirectory(
    atPath: file.stateDirectory + "/device")
  return (names ?? []).sorted()
}

func label(_ report: SlotReport) -> String {
  String(decoding: report.note?.label ?? [], as: UTF8.self)
}
