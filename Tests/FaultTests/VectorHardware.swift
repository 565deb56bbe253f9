// SPDX-License-Identifier: MIT

import KuraVault
import SecureMemory

/// The TPM, or the security key, that a vector says it is opened by: it gives one thing for one thing.
struct VectorHardware: SealingChip, SecurityKeys {
  /// What it has to be shown, a code's hash or a salt; nothing for a TPM that takes no code.
  let shown: [UInt8]
  let gives: [UInt8]

  private func given(for bytes: Span<UInt8>) -> SecretBytes? {
    guard bytes.indices.map({ bytes[$0] }) == shown else { return nil }
    return try? SecretBytes(copying: gives.span)
  }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    guard let secret = given(for: code.bytes) else { throw ChipFault(.wrong) }
    return secret
  }

  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    // A key gives something for every salt.
    if let secret = given(for: salt.bytes) { return secret }
    guard let other = try? SecretBytes(count: 32) else { throw ChipFault(.keyFailed) }
    return other
  }

  func facts() throws(ChipFault) -> ChipFacts { throw ChipFault(.failed) }

  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject { throw ChipFault(.failed) }

  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts {
    throw ChipFault(.keyFailed)
  }

  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> EnrolledKey { throw ChipFault(.keyFailed) }
}

extension VectorFile {
  private func bytes(_ key: String) -> [UInt8] { field(key).map(Bytes.fromHex) ?? [] }

  /// The code of a TPM's slot; nil where no such slot is to be opened.
  private var code: [UInt8]? {
    field("tpm-code-hex").map { $0 == "none" ? [] : Bytes.fromHex($0) }
  }

  /// What it is opened by beside what is typed; nil for nothing.
  var hardware: VectorHardware? {
    if let code {
      return VectorHardware(
        shown: code.isEmpty ? [] : bytes("tpm-shown-hex"), gives: bytes("tpm-kept-hex"))
    }
    guard field("fido2-salt-hex") != nil else { return nil }
    return VectorHardware(shown: bytes("fido2-salt-hex"), gives: bytes("fido2-gives-hex"))
  }

  /// What is typed for it.
  var hardwareSecret: Secret? {
    if let code { return Secret(credential: .tpm, bytes: code) }
    return hardware.map { _ in Secret(credential: .fido2, bytes: []) }
  }
}
