// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Readers of what others wrote, fed with what was made from right inputs: the same ones in each run,
/// more of them with `KURA_NIGHTLY`. libFuzzer does the same with an eye on what is reached: `.ci/fuzz`.
@Suite struct FuzzTests {
  private static let count =
    ProcessInfo.processInfo.environment["KURA_NIGHTLY"] == nil ? 1_500 : 1_000_000

  @Test(arguments: FuzzTarget.all)
  func `a right input is taken`(_ target: FuzzTarget) throws {
    #expect(!target.seeds.isEmpty)
    for seed in target.seeds {
      #expect(try target.read(seed), "\(target.name): \(shown(seed))")
    }
  }

  @Test(arguments: FuzzTarget.all)
  func `nothing makes a reader trap, or take it for something else`(_ target: FuzzTarget) {
    let outcome = Outcome(of: target, count: Self.count)
    for flaw in outcome.flaws.prefix(3) {
      Issue.record("\(target.name): \(flaw.text): \(shown(flaw.input))")
    }
    #expect(outcome.taken > 0, "\(target.name): nothing was taken, so nothing was shown")
    #expect(outcome.refused > 0, "\(target.name): nothing was refused")
  }

  @Test func `no two targets have the same name`() {
    #expect(Set(FuzzTarget.all.map(\.name)).count == FuzzTarget.all.count)
  }
}

/// The fuzzer itself: it finds what is planted.
@Suite struct FuzzerTests {
  /// What a reader of counted bytes gets wrong: it believes the count.
  private static func counted(believing: Bool) -> FuzzTarget {
    FuzzTarget(name: "counted", seeds: [[3, 1, 2, 3]]) { input throws(Flaw) in
      guard let count = input.first.map(Int.init) else { return false }
      guard believing || count < input.count else { return false }
      return input[1..<(count + 1)].count == count
    }
  }

  @Test func `a reader that believes a count is trapped`() async {
    await #expect(processExitsWith: .failure) {
      _ = Outcome(of: FuzzerTests.counted(believing: true), count: 3_000)
    }
    #expect(Outcome(of: Self.counted(believing: false), count: 3_000).flaws.isEmpty)
  }

  @Test func `a reader that forgets what it read is told of`() {
    let target = FuzzTarget(name: "forgetful", seeds: [[1, 0, 2]]) { input throws(Flaw) in
      guard input.count == 3, input[0] == 1 else { return false }
      // The second byte is neither kept nor refused.
      try hold([1, 0, input[2]] == input, "it is written otherwise than it was read")
      return true
    }
    let outcome = Outcome(of: target, count: 3_000)
    #expect(!outcome.flaws.isEmpty)
    #expect(outcome.flaws.allSatisfy { $0.input[1] != 0 })
  }

  @Test func `words come deep into a reader`() {
    let target = FuzzTarget(name: "deep", seeds: [[]], words: bytes("one=", "two=")) {
      input throws(Flaw) in
      try hold(!input.starts(with: Array("one=two=".utf8)), "found")
      return true
    }
    #expect(!Outcome(of: target, count: 3_000).flaws.isEmpty)
  }

  @Test func `inputs are the same in each run`() {
    func some() -> [[UInt8]] {
      var mutation = Mutation(of: FuzzTarget.all[0], seed: 5)
      return (0..<100).map { _ in mutation.next() }
    }
    #expect(some() == some())
    #expect(Set(some()).count > 50)
  }
}

/// What a target made of its inputs.
private struct Outcome {
  private(set) var taken = 0
  private(set) var refused = 0
  private(set) var flaws: [(text: String, input: [UInt8])] = []

  init(of target: FuzzTarget, count: Int) {
    var mutation = Mutation(of: target, seed: 0x6B75_7261)
    for _ in 0..<count {
      let input = mutation.next()
      do throws(Flaw) {
        if try target.read(input) {
          taken += 1
          mutation.keep(input)
        } else {
          refused += 1
        }
      } catch { flaws.append((error.text, input)) }
    }
  }
}

extension FuzzTarget: CustomTestStringConvertible {
  var testDescription: String { name }
}

/// An input as base64: enough to have it again.
private func shown(_ input: [UInt8]) -> String { Data(input).base64EncodedString() }
