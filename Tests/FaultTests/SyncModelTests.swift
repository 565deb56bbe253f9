// SPDX-License-Identifier: MIT

import Testing

/// The model of syncing in Tests/reference, by which what comes is judged: on the same machines for each change, so that what
/// fails is of that change, and on others each night.
@Suite struct SyncModelTests {
  @Test(arguments: [(4, 120, 12), (10, 400, 1)])
  func `the rules of syncing hold over random machines and what carries their files`(
    _ machines: Int, _ steps: Int, _ runs: Int
  ) throws {
    let count = Scale.count(runs, nightly: runs * 100)
    let output = try Python.run(
      "sync_fuzz.py",
      [
        "--runs", "\(count)", "--seed", "\(Scale.isNightly ? Dice().seed : 1)", "--machines",
        "\(machines)", "--steps",
        "\(steps)",
      ])
    #expect(output.status == 0, "\(output.lines.suffix(5).joined(separator: "\n"))")
  }
}
