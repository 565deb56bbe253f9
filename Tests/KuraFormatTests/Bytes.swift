// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory
import Testing

/// A copy of bytes, to compare.
func bytes(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

/// A copy of a secret's bytes, for a secret that is needed no more.
func bytes(of secret: consuming SecretBytes) -> [UInt8] { bytes(secret.bytes) }

/// A copy of a key's bytes, for a key that is needed no more.
func bytes(of key: consuming Key) -> [UInt8] { bytes(of: key.finish()) }

/// A secret with the UTF-8 of a text.
func secret(_ text: String) throws -> SecretBytes { try secret(Array(text.utf8)) }

func secret(_ bytes: [UInt8]) throws -> SecretBytes { try SecretBytes(copying: bytes.span) }

/// A key whose bytes count up from `first`.
func key(from first: UInt8) throws -> Key { Key(try secret((0..<32).map { first &+ $0 })) }

/// An identifier of 16 times the same byte.
func identifier<Subject>(_ byte: UInt8) -> Identifier<Subject> {
  let bytes = [UInt8](repeating: byte, count: 16)
  return Identifier(bytes.span)
}

func digest(_ byte: UInt8) -> Digest {
  let bytes = [UInt8](repeating: byte, count: 32)
  return Digest(bytes.span)
}

/// `H(key, count; parts…)`, by its definition.
func hash(_ parts: [[UInt8]], key: borrowing Key, count: Int = 32) throws -> [UInt8] {
  var hash = try KeyedHash(key: key, byteCount: count)
  for part in parts { hash.update(part.span) }
  return bytes(of: try hash.finalizeSecret())
}

/// `H(none, 32; part)`.
func plainHash(_ part: [UInt8]) throws -> [UInt8] {
  var hash = try KeyedHash(keyBytes: Span())
  hash.update(part.span)
  return bytes(of: try hash.finalizeSecret())
}

/// An integer's bytes, least significant first.
func little<Integer: FixedWidthInteger>(_ integer: Integer) -> [UInt8] {
  (0..<(Integer.bitWidth / 8)).map { UInt8(truncatingIfNeeded: integer >> Integer(8 * $0)) }
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  let digits = Array("0123456789abcdef")
  return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// What a body throws, when it throws this module's error.
func failure(_ body: () throws -> Void) -> FormatError? {
  do {
    try body()
    return nil
  } catch {
    return error as? FormatError
  }
}

/// Every prefix of a record, each with nothing or one byte added behind the whole.
func cuts(_ record: [UInt8]) -> [[UInt8]] {
  (0..<record.count).map { Array(record[..<$0]) } + [record + [0]]
}

/// Records that are all damaged in one random place or more; the same ones in each run.
struct Mutations: Sequence, IteratorProtocol {
  private let record: [UInt8]
  private var state: UInt64
  private var left: Int

  init(of record: [UInt8], count: Int = 2000) {
    self.record = record
    state = 0x9E37_79B9_7F4A_7C15
    left = count
  }

  private mutating func random(below limit: Int) -> Int {
    state ^= state << 13
    state ^= state >> 7
    state ^= state << 17
    return Int(state % UInt64(limit))
  }

  mutating func next() -> [UInt8]? {
    guard left > 0 else { return nil }
    left -= 1
    var changed = record
    for _ in 0...random(below: 4) where !changed.isEmpty {
      switch random(below: 6) {
      case 0: changed.removeLast(random(below: changed.count) / 4)
      case 1: changed.append(UInt8(random(below: 256)))
      case 2: changed[random(below: changed.count)] = 0xFF
      case 3: changed[random(below: changed.count)] = 0
      default: changed[random(below: changed.count)] ^= 1 << UInt8(random(below: 8))
      }
    }
    return changed
  }
}
