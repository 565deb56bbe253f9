// SPDX-License-Identifier: MIT

public import KuraTerms
public import SecureMemory

/// Speaks to a TPM for the engine, which is shown neither a code nor what Argon2id made of one.
public protocol SealingChip: Sendable {
  /// How the TPM holds against guessing.
  func facts() throws(ChipFault) -> ChipFacts

  /// Has it keep a secret of 32 bytes, and give it back for what a code came to; without bytes for nothing.
  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject

  /// Has it given back.
  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes
}
