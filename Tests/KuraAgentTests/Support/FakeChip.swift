// SPDX-License-Identifier: MIT

import KuraVault
import SecureMemory
import Synchronization

/// A TPM that gives each secret back for its code, and tells what it was asked for.
final class FakeChip: SealingChip {
  struct Kept {
    var secrets: [(secret: [UInt8], code: [UInt8])] = []
    /// Wrong codes that it has counted.
    var failures: UInt32 = 0
    /// Which TPM it is.
    var name: UInt8 = 1
    var fault: ChipFault?
    /// How often it was asked for a secret.
    var asked = 0
  }

  let kept = Mutex(Kept())

  private func check() throws(ChipFault) {
    if let fault = kept.withLock({ $0.fault }) { throw fault }
  }

  func facts() throws(ChipFault) -> ChipFacts {
    try check()
    return ChipFacts(
      failures: kept.withLock { $0.failures }, mostFailures: 32, interval: 600,
      hasLockoutPassword: false)
  }

  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject {
    try check()
    let (secret, code) = (bytes(secret), bytes(code))
    return kept.withLock { kept in
      kept.secrets.append((secret, code))
      return ChipObject(
        storageKey: [kept.name], publicArea: [9], privateArea: [UInt8(kept.secrets.count)])!
    }
  }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    try check()
    let code = bytes(code)
    let found = kept.withLock { kept -> [UInt8]? in
      kept.asked += 1
      guard object.storageKey == [kept.name] else { return [] }
      let one = kept.secrets[Int(object.privateArea[0]) - 1]
      if one.code != code { kept.failures += 1 }
      return one.code == code ? one.secret : nil
    }
    guard let found, let secret = try? SecretBytes(copying: found.span) else {
      throw ChipFault(.wrong)
    }
    guard secret.count > 0 else { throw ChipFault(.other) }
    return secret
  }

  private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.bytes.indices.map { secret.bytes[$0] }
  }
}
