// SPDX-License-Identifier: MIT

import Foundation
import TestGround

/// A private directory of one test, in memory where there is room for it, gone with its owner.
final class Scratch {
  let path: String

  init() throws {
    path = try Ground.inMemory.directory("faults")
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// The path of a file in it.
  func file(_ name: String) -> String { "\(path)/\(name)" }

  /// A new private directory in it.
  func directory(_ name: String) throws -> String {
    guard mkdir(file(name), 0o700) == 0 else { throw SystemFailure(call: "mkdir", number: errno) }
    return file(name)
  }
}

struct SystemFailure: Error {
  let call: String
  let number: Int32
}

/// Whole files, as vaults are kept: 0600.
enum Bytes {
  static func read(_ path: String) throws -> [UInt8] {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw SystemFailure(call: "open", number: errno) }
    defer { close(descriptor) }
    var facts = stat()
    guard fstat(descriptor, &facts) == 0 else { throw SystemFailure(call: "fstat", number: errno) }
    let size = Int(facts.st_size)
    return try [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
      while count < size {
        let part = Glibc.read(descriptor, buffer.baseAddress! + count, size - count)
        guard part > 0 else { throw SystemFailure(call: "read", number: errno) }
        count += part
      }
    }
  }

  static func write(_ bytes: some Collection<UInt8>, to path: String) throws {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw SystemFailure(call: "open", number: errno) }
    defer { close(descriptor) }
    let written = bytes.withContiguousStorageIfAvailable {
      $0.isEmpty ? 0 : Glibc.write(descriptor, $0.baseAddress!, $0.count)
    }
    guard written == bytes.count else { throw SystemFailure(call: "write", number: errno) }
  }

  static func hex(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef".utf8)
    var text: [UInt8] = []
    for byte in bytes {
      text.append(digits[Int(byte >> 4)])
      text.append(digits[Int(byte & 15)])
    }
    return String(decoding: text, as: UTF8.self)
  }

  static func fromHex(_ text: some StringProtocol) -> [UInt8] {
    let digits = text.utf8.map { $0 < 0x40 ? $0 - 0x30 : ($0 | 0x20) - 0x57 }
    return stride(from: 0, to: digits.count - 1, by: 2).map { digits[$0] << 4 | digits[$0 + 1] }
  }

  /// The long test value both sides know: byte i is (31 i + i / 256) mod 256.
  static func pattern(_ count: Int) -> [UInt8] {
    [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
      for index in 0..<count {
        buffer[index] = UInt8(truncatingIfNeeded: index &* 31 &+ index >> 8)
      }
      filled = count
    }
  }
}

/// How much of each suite runs: a part at each change, everything when `KURA_NIGHTLY` is set.
enum Scale {
  static let isNightly = ProcessInfo.processInfo.environment["KURA_NIGHTLY"] != nil

  static func count(_ perChange: Int, nightly: Int) -> Int { isNightly ? nightly : perChange }
}

/// Seeded randomness, so that a failure names a seed that shows it again.
struct Dice: RandomNumberGenerator {
  let seed: UInt64
  private var state: UInt64

  /// `KURA_SEED` in the environment repeats a run; else each run throws other dice.
  init() {
    let given = ProcessInfo.processInfo.environment["KURA_SEED"].flatMap { UInt64($0) }
    self.init(seed: given ?? UInt64.random(in: 0...UInt64(UInt32.max)))
  }

  init(seed: UInt64) {
    self.seed = seed
    state = seed
  }

  /// SplitMix64.
  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var z = state
    z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
    z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
    return z ^ (z >> 31)
  }
}
