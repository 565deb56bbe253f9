// SPDX-License-Identifier: MIT

import Dispatch
import Foundation
import KuraVault
import Synchronization

/// Many trials of one kind over all cores, each worker in a directory of its own.
enum Trials {
  /// Runs trials 0..<count and gives what they reported.
  ///
  /// - Parameters:
  ///   - limit: After so many reports no more trials are begun.
  ///   - trial: Gets its number and a private directory; returns what went wrong.
  static func run(
    _ count: Int, limit: Int = 8, _ trial: @escaping @Sendable (Int, Scratch) throws -> String?
  ) -> [String] {
    let next = Atomic(0)
    let failures = Mutex<[String]>([])
    let workers = max(1, min(count, ProcessInfo.processInfo.activeProcessorCount))
    DispatchQueue.concurrentPerform(iterations: workers) { _ in
      do {
        let scratch = try Scratch()
        while true {
          let number = next.wrappingAdd(1, ordering: .relaxed).oldValue
          guard number < count, failures.withLock({ $0.count }) < limit else { return }
          if let failure = try trial(number, scratch) {
            failures.withLock { $0.append("\(number): \(failure)") }
          }
        }
      } catch { failures.withLock { $0.append("\(error)") } }
    }
    return failures.withLock { $0 }
  }
}

/// A vault file in memory, with what must be read from it.
struct Specimen: Sendable {
  let file: [UInt8]
  let secret: Secret
  let expected: [ExpectedLine]

  /// The file that a vector describes.
  init(vector name: String) throws {
    let scratch = try Scratch()
    let vector = try VectorFile(name)
    try vector.build(at: scratch.file("vault.kura"))
    file = try Bytes.read(scratch.file("vault.kura"))
    secret = vector.secret
    expected = vector.lines.map { ExpectedLine($0) }
  }

  init(file: [UInt8], secret: Secret, expected: [ExpectedLine]) {
    self.file = file
    self.secret = secret
    self.expected = expected
  }

  /// What the engine makes of a file that should be this one.
  func reading(of file: [UInt8], in scratch: Scratch, checks: IntegrityChecks = .all) throws
    -> Reading
  {
    let path = scratch.file("vault.kura")
    for suffix in ["-wal", "-shm", "-journal"] { unlink(path + suffix) }
    try Bytes.write(file, to: path)
    let site = Site(state: scratch.file("state"), checks: checks)
    return Reading(path, at: site, with: secret, expected: expected)
  }
}
