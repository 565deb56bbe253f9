// SPDX-License-Identifier: MIT

import Foundation
import KuraCrypto
import SecureMemory
import Synchronization
import Testing

/// What proc_pid_status(5) says, such as `0-1`; what is online may not be for this process.
private let mayUseTwoProcessors: Bool = {
  let status = FileHandle(forReadingAtPath: "/proc/self/status")?.readDataToEndOfFile() ?? Data()
  let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
    $0.hasPrefix("Cpus_allowed_list:")
  }
  return line?.contains { $0 == "-" || $0 == "," } ?? true
}()

/// Parts share one helper, and a caller who finds it taken does them alone.
@Suite(.serialized)
struct ForkJoinTests {
  @Test
  func `every part is done once before the call returns`() throws {
    let key = try Key(copying: [UInt8](repeating: 7, count: 32).span)
    for count in [0, 1, 2, 3, 64] {
      let sums = (0..<count).map { Sum(number: $0) }
      ForkJoin.run(sums, with: key) { sum, key in sum.add(key.bytes) }
      #expect(sums.map(\.total) == (0..<count).map { $0 + 7 * 32 })
    }
  }

  @Test(.enabled(if: mayUseTwoProcessors, "with one, every caller is alone"))
  func `two parts are under way at once`() throws {
    let key = try Key(copying: [UInt8](repeating: 7, count: 32).span)
    // Another test's callers may have the helper at any one time.
    let haveMet = (0..<200).contains { _ in
      let meeting = Meeting()
      ForkJoin.run([Guest(meeting), Guest(meeting)], with: key) { guest, _ in guest.meet() }
      return meeting.arrivals.load(ordering: .acquiring) == 2 && !meeting.wasLeft
    }
    #expect(haveMet)
  }

  @Test
  func `what the caller does meanwhile is done once, on its own thread`() throws {
    let key = try Key(copying: [UInt8](repeating: 7, count: 32).span)
    for count in [0, 1, 2, 64] {
      let sums = (0..<count).map { Sum(number: $0) }
      var (own, calls) = (0, 0)
      let caller = pthread_self()
      ForkJoin.run(
        sums, with: key, each: { sum, key in sum.add(key.bytes) },
        meanwhile: { key in
          own += Int(key.bytes[0])
          calls += pthread_equal(pthread_self(), caller) != 0 ? 1 : 100
        })
      #expect(sums.map(\.total) == (0..<count).map { $0 + 7 * 32 })
      #expect((own, calls) == (7, 1))
    }
  }

  @Test
  func `a part may have parts of its own`() throws {
    let key = try Key(copying: [UInt8](repeating: 1, count: 32).span)
    let outer = (0..<4).map { Sum(number: $0) }
    ForkJoin.run(outer, with: key) { sum, key in
      let inner = (0..<3).map { Sum(number: $0) }
      ForkJoin.run(inner, with: key) { sum, key in sum.add(key.bytes) }
      sum.take(inner)
    }
    #expect(outer.map(\.total) == (0..<4).map { $0 + 3 + 3 * 32 })
  }
}

/// One part's result.
///
/// Unchecked: it belongs to one thread at a time, which is what is tested.
private final class Sum: @unchecked Sendable {
  private(set) var total: Int

  init(number: Int) { total = number }

  func add(_ bytes: Span<UInt8>) {
    for index in bytes.indices { total += Int(bytes[index]) }
  }

  func take(_ others: [Sum]) { total += others.reduce(0) { $0 + $1.total } }
}

private final class Meeting: Sendable {
  let arrivals = Atomic(0)
  private let departures = Atomic(0)

  var wasLeft: Bool { departures.load(ordering: .acquiring) > 0 }

  func leave() { departures.add(1, ordering: .acquiringAndReleasing) }
}

/// Waits a while for the other.
private final class Guest: Sendable {
  private let meeting: Meeting

  init(_ meeting: Meeting) { self.meeting = meeting }

  func meet() {
    meeting.arrivals.add(1, ordering: .acquiringAndReleasing)
    for _ in 0..<1_000 {
      if meeting.arrivals.load(ordering: .acquiring) == 2 { return }
      // The other may be waiting for this core.
      usleep(100)
    }
    meeting.leave()
  }
}
