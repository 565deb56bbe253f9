// SPDX-License-Identifier: MIT

internal import KuraCrypto
public import KuraFormat
internal import KuraStorage

/// Finds what a guess at a new passcode is to cost on this machine.
public enum KDFCalibration {
  /// An unlock is not to take longer, in milliseconds.
  private static let mostTime: UInt64 = 750
  /// More is not asked for by itself, in bytes.
  private static let mostMemory: UInt64 = 1 << 30

  /// Measures Argon2id; slow.
  ///
  /// Three passes over 256 MiB, twice as much as long as that takes at most 0.75 s and a quarter of the
  /// memory there is; less on a small machine, but never less than `KDFLimits.floor`.
  ///
  /// - Parameter availableMemory: What the machine leaves, in bytes; nil when it does not say.
  /// - Throws: ``VaultError/outOfMemory``, ``VaultError/entropyUnavailable``.
  public static func run(
    availableMemory: UInt64? = MemoryBudget.available()
  ) throws(VaultError) -> KDFParameters {
    let room = min((availableMemory ?? .max) / 4, mostMemory)
    var memory = KDFLimits.standard.memory
    while memory > room, memory > KDFLimits.floor.memory { memory /= 2 }
    while memory * 2 <= room {
      let time = try measure(memory)
      guard time * 2 <= mostTime else { break }
      memory *= 2
    }
    return KDFParameters(memory: memory, passes: KDFLimits.standard.passes)
  }

  /// How long one derivation takes, in milliseconds.
  private static func measure(_ memory: UInt64) throws(VaultError) -> UInt64 {
    let start = Machine.monotonicMilliseconds()
    do {
      let salt = try RandomBytes.bytes(Argon2id.saltCount)
      _ = try Argon2id.derive(
        salt.span, salt: salt.span, memory: memory, passes: KDFLimits.standard.passes)
    } catch { throw VaultError(error, about: .slot) }
    return Machine.monotonicMilliseconds() - start
  }
}
