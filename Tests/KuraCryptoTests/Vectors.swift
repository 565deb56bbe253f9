// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import SecureMemory
import Testing

/// A copy of bytes, to compare.
func bytes(_ span: Span<UInt8>) -> [UInt8] { span.indices.map { span[$0] } }

/// A copy of a secret's bytes, for a secret that is needed no more.
func bytes(of secret: consuming SecretBytes) -> [UInt8] { bytes(secret.bytes) }

/// A copy of a key's bytes, for a key that is needed no more.
func bytes(of key: consuming Key) -> [UInt8] { bytes(of: key.finish()) }

/// ``Seal/seal(_:authenticating:under:)`` over arrays.
func seal(_ plaintext: [UInt8], _ associated: [UInt8], under key: borrowing Key) throws -> [UInt8] {
  try Seal.seal(plaintext.span, authenticating: associated.span, under: key)
}

/// ``Seal/open(_:authenticating:under:)`` over arrays, which ``Seal/verify(_:authenticating:under:)`` has to agree with.
func open(_ sealed: [UInt8], _ associated: [UInt8], under key: borrowing Key) throws -> [UInt8] {
  var found: CryptoError?
  do throws(CryptoError) {
    try Seal.verify(sealed.span, authenticating: associated.span, under: key)
  } catch { found = error }
  do throws(CryptoError) {
    let plaintext = try Seal.open(sealed.span, authenticating: associated.span, under: key)
    #expect(found == nil)
    return bytes(of: plaintext)
  } catch {
    #expect(found == error)
    throw error
  }
}

/// A hash over arrays.
func hash(_ parts: [[UInt8]], key: borrowing Key, count: Int = 32) throws -> [UInt8] {
  var hash = try KeyedHash(key: key, byteCount: count)
  for part in parts { hash.update(part.span) }
  return bytes(of: try hash.finalizeSecret())
}

func hexadecimal(_ bytes: [UInt8]) -> String {
  bytes.map { String(format: "%02x", $0) }.joined()
}

/// A key whose bytes count up from `first`.
func key(from first: UInt8) throws -> Key {
  let bytes: [UInt8] = (0..<32).map { first &+ $0 }
  return try Key(copying: bytes.span)
}

/// One case of a vector file: `name: hexadecimal digits` lines.
struct Vector: Sendable, CustomTestStringConvertible {
  let file: String
  let number: Int
  let fields: [String: String]

  var testDescription: String { "\(file) #\(number)" }

  /// A field's bytes.
  func bytes(_ name: String) throws -> [UInt8] {
    let digits = Array((fields[name] ?? "-").utf8)
    guard digits.count.isMultiple(of: 2) else { throw VectorError.field(name) }
    return try stride(from: 0, to: digits.count, by: 2).map { index in
      let pair = String(decoding: digits[index...(index + 1)], as: UTF8.self)
      guard let byte = UInt8(pair, radix: 16) else { throw VectorError.field(name) }
      return byte
    }
  }

  /// A field's number.
  func number(_ name: String) throws -> UInt64 {
    guard let number = UInt64(fields[name] ?? "-") else { throw VectorError.field(name) }
    return number
  }

  /// The cases of a file under `Fixtures/vectors`, which an empty line parts.
  static func all(in file: String) -> [Vector] {
    let root = URL(filePath: #filePath).appending(path: "../../../Fixtures/vectors/").standardized
    guard let text = try? String(contentsOf: root.appending(path: file), encoding: .utf8) else {
      return []
    }
    let blocks = text.components(separatedBy: "\n\n").map(fields).filter { !$0.isEmpty }
    return blocks.enumerated().map { Vector(file: file, number: $0, fields: $1) }
  }

  private static func fields(_ block: String) -> [String: String] {
    var fields: [String: String] = [:]
    for line in block.split(separator: "\n") where !line.hasPrefix("#") {
      let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingPrefix(" ") }
      fields[String(parts[0])] = parts.count > 1 ? String(parts[1]) : ""
    }
    return fields
  }
}

enum VectorError: Error { case field(String) }
