// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import SecureMemory

extension CopyLedger {
  /// Stands for a machine in a vault: from another vault nobody learns that both are on one machine.
  ///
  /// `H(none, 16; label ‖ vault id ‖ the machine's id)`.
  ///
  /// - Parameters:
  ///   - name: The first 32 bytes of `/etc/machine-id`; zero comes of fewer, as where it cannot be read.
  ///   - vault: The vault's id.
  /// - Throws: ``FormatError/outOfMemory``.
  public static func machine(
    named name: [UInt8], in vault: VaultID
  ) throws(FormatError) -> MachineID {
    guard name.count >= 32 else { return .zero }
    do {
      var hash = try KeyedHash(keyBytes: Span(), byteCount: identifierByteCount)
      hash.update(.machine)
      hash.update(vault)
      hash.update(name.span.extracting(first: 32))
      let digest = try hash.finalizeSecret()
      return Identifier(digest.bytes)
    } catch { throw .outOfMemory }
  }
}
