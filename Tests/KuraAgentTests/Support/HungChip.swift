// SPDX-License-Identifier: MIT

import KuraVault
import SecureMemory
import TestChips

/// A TPM that does not answer before it is told to, and fails then.
final class HungChip: SealingChip {
  let gate = Gate()

  private func wait() -> ChipFault {
    gate.run()
    return ChipFault(.programFailed)
  }

  func facts() throws(ChipFault) -> ChipFacts { throw wait() }

  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject { throw wait() }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes { throw wait() }
}

/// One TPM, and another one once the first is busy.
struct SwitchedChip: SealingChip {
  let (first, second): (FakeChip, HungChip)

  init(_ first: FakeChip, _ second: HungChip) { (self.first, self.second) = (first, second) }

  private var isBusy: Bool { first.kept.withLock { $0.fault != nil } }

  func facts() throws(ChipFault) -> ChipFacts {
    isBusy ? try second.facts() : try first.facts()
  }

  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject {
    isBusy ? try second.seal(secret, code: code) : try first.seal(secret, code: code)
  }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    if isBusy { return try second.unseal(object, code: code) }
    return try first.unseal(object, code: code)
  }
}
