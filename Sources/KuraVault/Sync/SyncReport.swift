// SPDX-License-Identifier: MIT

public import KuraFormat
public import KuraTerms

/// Tells what a meeting with a store came to.
public struct SyncReport: Equatable, Sendable {
  /// Tells something of a device.
  public struct Finding: Hashable, Sendable {
    /// What it is.
    public let kind: SyncNotice
    /// The device.
    public let device: DeviceID
  }

  /// What came.
  public internal(set) var taken = MergeReport()
  /// Heads of others that were taken, all of them.
  public internal(set) var headCount: UInt64 = 0
  /// Items that were written for others.
  public internal(set) var sentCount: UInt64 = 0
  /// Objects that were written, and their bytes.
  public internal(set) var sentObjects: UInt64 = 0
  /// The bytes of all that was written.
  public internal(set) var sentBytes: UInt64 = 0
  /// What there is to tell of devices, each once.
  public internal(set) var findings: [Finding] = []

  /// Nothing yet.
  public init() {}

  mutating func name(_ kind: SyncNotice, _ device: DeviceID) {
    let finding = Finding(kind: kind, device: device)
    if !findings.contains(finding) { findings.append(finding) }
  }

  mutating func withdraw(_ kind: SyncNotice, _ device: DeviceID) {
    findings.removeAll { $0 == Finding(kind: kind, device: device) }
  }
}
