// SPDX-License-Identifier: MIT

/// Holds changes of several copies of a vault by their counters, each copy's as runs without a gap.
public struct CounterRuns: Equatable, Sendable {
  /// The most copies.
  static let mostDevices = 256

  /// The runs of one copy, ascending; between two of them a counter is missing.
  private struct Runs: Equatable, Sendable {
    let device: DeviceID
    var runs: [ClosedRange<UInt64>]
  }

  /// Ascending by their copies.
  private var all: [Runs] = []

  /// Nothing yet.
  public init() {}

  /// Whether there is none.
  public var isEmpty: Bool { all.isEmpty }

  /// The copies that it has changes of, ascending by their ids.
  public var devices: [DeviceID] { all.map { $0.device } }

  /// The changes of a copy, ascending; between two runs a counter is missing.
  public func runs(of device: DeviceID) -> [ClosedRange<UInt64>] {
    let index = place(of: device)
    return holds(device, at: index) ? all[index].runs : []
  }

  /// Whether a change is among them.
  public func contains(_ entry: RevisionEntry) -> Bool {
    let index = place(of: entry.device)
    guard holds(entry.device, at: index) else { return false }
    let runs = all[index].runs
    let place = CounterRuns.place(of: entry.counter, in: runs)
    return place < runs.count && runs[place].contains(entry.counter)
  }

  /// Adds a change.
  public mutating func insert(_ entry: RevisionEntry) {
    insert(entry.counter...entry.counter, of: entry.device)
  }

  /// Adds all that others have.
  public mutating func formUnion(_ other: CounterRuns) {
    for more in other.all {
      for run in more.runs { insert(run, of: more.device) }
    }
  }

  /// Gives the changes of a copy beyond one of them to another copy, which counts them from 1.
  public mutating func move(_ former: DeviceID, beyond fork: UInt64, to device: DeviceID) {
    let index = place(of: former)
    guard holds(former, at: index) else { return }
    let before = all.remove(at: index)
    for run in before.runs {
      if run.lowerBound <= fork {
        insert(run.lowerBound...min(run.upperBound, fork), of: former)
      }
      if run.upperBound > fork {
        insert((max(run.lowerBound, fork + 1) - fork)...(run.upperBound - fork), of: device)
      }
    }
  }

  private mutating func insert(_ run: ClosedRange<UInt64>, of device: DeviceID) {
    let index = place(of: device)
    if !holds(device, at: index) { all.insert(Runs(device: device, runs: []), at: index) }
    CounterRuns.insert(run, into: &all[index].runs)
  }

  /// Where a copy stands, or would.
  private func place(of device: DeviceID) -> Int {
    all.firstIndex { $0.device >= device } ?? all.count
  }

  private func holds(_ device: DeviceID, at index: Int) -> Bool {
    index < all.count && all[index].device == device
  }

  /// The first run that does not end before a counter.
  private static func place(of counter: UInt64, in runs: [ClosedRange<UInt64>]) -> Int {
    var (low, high) = (0, runs.count)
    while low < high {
      let middle = (low + high) / 2
      if runs[middle].upperBound < counter { low = middle + 1 } else { high = middle }
    }
    return low
  }

  private static func insert(_ run: ClosedRange<UInt64>, into runs: inout [ClosedRange<UInt64>]) {
    // What touches it becomes one with it.
    let first = place(of: max(run.lowerBound, 1) - 1, in: runs)
    var (low, high, end) = (run.lowerBound, run.upperBound, first)
    while end < runs.count, runs[end].lowerBound <= high &+ 1 {
      (low, high) = (min(low, runs[end].lowerBound), max(high, runs[end].upperBound))
      end += 1
    }
    runs.replaceSubrange(first..<end, with: [low...high])
  }
}

// MARK: - Encoding

extension CounterRuns {
  /// Reads `u16 n × (device ‖ u16 m × (u64 first ‖ u64 last))`, ascending.
  ///
  /// - Throws: ``FormatError/damaged``.
  init(_ reader: inout ByteReader) throws(FormatError) {
    all = try reader.list(most: CounterRuns.mostDevices, byteCount: identifierByteCount + 2) {
      reader throws(FormatError) in
      Runs(
        device: try reader.identifier(),
        runs: try reader.list(most: Int(UInt16.max), byteCount: 16) {
          reader throws(FormatError) in
          let (first, last) = (try reader.integer(UInt64.self), try reader.integer(UInt64.self))
          guard first >= 1, first <= last, last <= RevisionEntry.counters.upperBound else {
            throw .damaged
          }
          return first...last
        })
    }
    guard ascend(all, by: { $0.device < $1.device }),
      all.allSatisfy({
        !$0.runs.isEmpty && ascend($0.runs) { $0.upperBound + 1 < $1.lowerBound }
      })
    else { throw .damaged }
  }

  /// - Throws: ``FormatError/valueTooLarge`` for more than there is room for.
  func append(to bytes: inout [UInt8]) throws(FormatError) {
    guard all.count <= CounterRuns.mostDevices,
      all.allSatisfy({ $0.runs.count <= Int(UInt16.max) })
    else { throw .valueTooLarge }
    bytes.append(integer: UInt16(all.count))
    for one in all {
      bytes.append(one.device)
      bytes.append(integer: UInt16(one.runs.count))
      for run in one.runs {
        bytes.append(integer: run.lowerBound)
        bytes.append(integer: run.upperBound)
      }
    }
  }
}
