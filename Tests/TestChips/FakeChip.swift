// SPDX-License-Identifier: MIT

package import KuraVault
package import SecureMemory
package import Synchronization

/// A TPM that gives each secret back for its code, and remembers what it was shown.
package final class FakeChip: SealingChip {
  /// Holds what it knows, and how it behaves.
  package struct Kept: Sendable {
    package var secrets: [[UInt8]: (secret: [UInt8], code: [UInt8])] = [:]
    package var shown: [[UInt8]] = []
    /// Wrong codes that it has counted.
    package var failures: UInt32 = 0
    package var most: UInt32 = 32
    /// Which TPM it is.
    package var name: UInt8 = 1
    package var fault: ChipFault?
    /// How often it was asked for a secret.
    package var asked = 0
    /// Whether it gives back what it was not given.
    package var lies = false
  }

  package let kept = Mutex(Kept())

  package init() {}

  package func facts() throws(ChipFault) -> ChipFacts {
    let kept = kept.withLock { $0 }
    if let fault = kept.fault { throw fault }
    return ChipFacts(
      failures: kept.failures, mostFailures: kept.most, interval: 600, hasLockoutPassword: false)
  }

  package func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject {
    let (secret, code) = (bytes(secret), bytes(code))
    let (fault, object) = kept.withLock { kept in
      let number = [UInt8(kept.secrets.count + 1)]
      kept.secrets[number] = (secret, code)
      kept.shown.append(code)
      return (
        kept.fault,
        ChipObject(storageKey: [kept.name], publicArea: [9], privateArea: number)
      )
    }
    guard let object, fault == nil else { throw fault ?? ChipFault(.failed) }
    return object
  }

  package func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    let code = bytes(code)
    let answer = try kept.withLock { $0.answer(for: object, code) }.get()
    do { return try SecretBytes(copying: answer.span) } catch { throw ChipFault(.failed) }
  }

  private func bytes(_ secret: borrowing SecretBytes) -> [UInt8] {
    secret.bytes.indices.map { secret.bytes[$0] }
  }
}

extension FakeChip.Kept {
  fileprivate mutating func answer(
    for object: ChipObject, _ code: [UInt8]
  ) -> Result<[UInt8], ChipFault> {
    if let fault { return .failure(fault) }
    asked += 1
    guard object.storageKey == [name] else { return .failure(ChipFault(.other)) }
    shown.append(code)
    guard let one = secrets[object.privateArea], one.code == code else {
      failures += 1
      return .failure(ChipFault(.wrong))
    }
    return .success(lies ? one.secret.reversed() : one.secret)
  }
}
