// SPDX-License-Identifier: MIT

internal import KuraClient
internal import SecureMemory

/// Draws random numbers from the kernel, in guarded memory.
struct RandomSource: ~Copyable {
  private var pool: SecretBytes
  /// The first byte of the pool that was not used.
  private var next: Int

  init() throws(CommandError) {
    pool = try allocating { () throws(SecureMemoryError) in try SecretBytes(count: Self.poolCount) }
    next = Self.poolCount
  }

  private static let poolCount = 256

  /// A number below a bound, each as likely as any other: a byte that would favour the small ones is
  /// drawn again.
  ///
  /// - Parameter bound: 1 to 256.
  mutating func number(below bound: Int) throws(CommandError) -> Int {
    precondition((1...256).contains(bound), "one byte is drawn")
    let fair = 256 - 256 % bound
    while true {
      let byte = Int(try byte())
      if byte < fair { return byte % bound }
    }
  }

  private mutating func byte() throws(CommandError) -> UInt8 {
    if next == Self.poolCount { try refill() }
    defer { next += 1 }
    return pool.bytes[next]
  }

  private mutating func refill() throws(CommandError) {
    var room = pool.mutableBytes
    let failed = System.random(into: &room)
    guard failed == 0 else { throw .client(.system(-failed)) }
    next = 0
  }
}
