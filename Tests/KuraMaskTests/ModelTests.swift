// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraMask

/// What the model in `Tests/reference/mask_model.py` says of texts, held against the masker, which sees them in pieces.
@Suite struct ModelTests {
  struct Case {
    let values: [[UInt8]]
    let text: [UInt8]
    let shown: [UInt8]
  }

  private static let isNightly = ProcessInfo.processInfo.environment["KURA_NIGHTLY"] != nil
  private static let repository =
    URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

  @Test func `what the model shows is shown, however a text is cut`() throws {
    let seed = UInt64.random(in: 0..<1_000_000)
    var random = SplitMix(state: seed)
    var count = 0
    for each in try Self.cases(seed: seed, count: Self.isNightly ? 50_000 : 200) {
      let set = try finding(each.values)
      for _ in 0..<20 {
        let shown = try masked(Self.cut(each.text, &random), set)
        #expect(
          Self.agrees(shown, each.shown),
          "seed \(seed): \(hex(each.text)) of \(each.values.map(hex)) became \(hex(shown)), not \(hex(each.shown))"
        )
        count += 1
      }
    }
    #expect(count == (Self.isNightly ? 1_000_000 : 4_000))
  }

  @Test func `another text than the model's is told apart`() {
    #expect(Self.agrees(Array("a[kura: v1]b".utf8), Array("a[kura: v0|v1]b".utf8)))
    #expect(!Self.agrees(Array("a[kura: v2]b".utf8), Array("a[kura: v0|v1]b".utf8)))
    #expect(!Self.agrees(Array("a[kura: v1]".utf8), Array("a[kura: v0|v1]b".utf8)))
    #expect(!Self.agrees(Array("ab".utf8), Array("a[kura: v0|v1]b".utf8)))
  }

  /// Whether a text is one of those that the model allows: where several values begin at one place, each may be named.
  static func agrees(_ shown: [UInt8], _ allowed: [UInt8]) -> Bool {
    var (left, right) = (shown[...], allowed[...])
    let mark = Array("[kura: v".utf8)
    while let next = right.first {
      guard right.starts(with: mark), let end = right.firstIndex(of: 0x5D) else {
        guard left.first == next else { return false }
        (left, right) = (left.dropFirst(), right.dropFirst())
        continue
      }
      guard left.starts(with: mark), let close = left.firstIndex(of: 0x5D) else { return false }
      let names = right[right.startIndex..<end].dropFirst(7).split(separator: 0x7C)
      let name = left[left.startIndex..<close].dropFirst(7)
      guard names.contains(where: { $0.elementsEqual(name) }) else { return false }
      (left, right) = (left[(close + 1)...], right[(end + 1)...])
    }
    return left.isEmpty
  }

  private static func cut(_ text: [UInt8], _ random: inout SplitMix) -> [[UInt8]] {
    let most = [1, 3, 16, 1_000].randomElement(using: &random)!
    var pieces: [[UInt8]] = []
    var rest = text[...]
    while !rest.isEmpty {
      pieces.append(Array(rest.prefix(.random(in: 1...most, using: &random))))
      rest = rest.dropFirst(pieces[pieces.count - 1].count)
    }
    return pieces
  }

  private static func cases(seed: UInt64, count: Int) throws -> [Case] {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(filePath: "/usr/bin/python3")
    process.arguments = [
      "-B", repository.appending(path: "Tests/reference/mask_model.py").path, "--seed", "\(seed)",
      "--count", "\(count)",
    ]
    process.standardOutput = output
    try process.run()
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    #expect(process.terminationStatus == 0)
    return String(decoding: data, as: UTF8.self).split(separator: "\n").map { line in
      let parts = line.split(separator: " ", omittingEmptySubsequences: false)
      return Case(
        values: parts[0].split(separator: ",", omittingEmptySubsequences: false).map(bytes),
        text: bytes(parts[1]), shown: bytes(parts[2]))
    }
  }

  private static func bytes(_ digits: Substring) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = digits
    while !rest.isEmpty {
      bytes.append(UInt8(rest.prefix(2), radix: 16)!)
      rest = rest.dropFirst(2)
    }
    return bytes
  }
}

private func hex(_ bytes: [UInt8]) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

/// Makes the same numbers of the same seed (Steele, Lea and Flood, 2014).
struct SplitMix: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}
