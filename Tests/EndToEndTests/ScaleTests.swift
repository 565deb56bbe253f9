// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// The trials of `Tests/scale`: the built programs at size, a vault each. Small ones at each change,
/// those that the manual speaks of when `KURA_NIGHTLY` is set.
///
/// Nothing is timed here: the figures that a trial prints are for people.
@Suite struct ScaleTests {
  struct Trial: Sendable, CustomTestStringConvertible {
    var name: String
    /// What the program is told: of what, and how much.
    var small: [Int]
    var nightly: [Int]
    var testDescription: String { name }

    var sizes: [Int] {
      RunnerVariable.nightly.value == nil ? small : nightly
    }
  }

  static let trials = [
    Trial(name: "operations", small: [2_000, 500], nightly: [1_000_000, 100_000]),
    Trial(name: "value", small: [20], nightly: [4_096]),
    Trial(name: "names", small: [64], nightly: [5_000]),
    Trial(name: "revisions", small: [200, 100], nightly: [10_000, 1_000]),
  ]

  @Test(arguments: trials)
  func `a planted fault is found, and what is so at size is as it has to be`(
    _ trial: Trial
  ) async throws {
    let planted = try await Self.perform(trial, ["--planted"])
    #expect(planted.status == 1, "\(planted.output)")
    #expect(planted.output.contains("wrong: "), "\(planted.output)")
    let outcome = try await Self.perform(trial, trial.sizes.map(String.init))
    #expect(outcome.status == 0, "\(outcome.output)")
    print("\(trial.name): \(outcome.output)", terminator: "")
  }

  struct Outcome: Sendable {
    var status: Int32?
    var output: String
  }

  /// Runs a trial on a stage of its own.
  private static func perform(_ trial: Trial, _ arguments: [String]) async throws -> Outcome {
    try await onStage { Result { try run(trial, arguments) } }.get()
  }

  private static func run(_ trial: Trial, _ arguments: [String]) throws -> Outcome {
    let stage = try Stage(binaries: Repository.binaries)
    let output = stage.captures + "/output"
    let program = "\(Repository.root)/Tests/scale/\(trial.name).py"
    let process = try ChildProcess(
      ["/usr/bin/python3", "-B", program] + arguments, environment: stage.environment,
      directory: stage.directory,
      streams: .files(input: "/dev/null", output: output, messages: stage.captures + "/messages"))
    let status = process.wait(until: .now + .seconds(4 * 3_600))
    process.end()
    var text = ""
    for name in ["output", "messages"] {
      text += (try? String(contentsOfFile: "\(stage.captures)/\(name)", encoding: .utf8)) ?? ""
    }
    let left = stage.strike(patience: .seconds(15))
    return Outcome(status: left.isEmpty ? status : nil, output: text + left.joined(separator: "\n"))
  }
}
