// SPDX-License-Identifier: MIT

public import SecureMemory

/// Says whether a vault's keys are in the agent.
public enum SessionState: UInt8, Sendable, CaseIterable {
  case locked = 0
  /// A key is being derived from a passcode.
  case unlocking = 1
  case unlocked = 2
}

/// The answer to `status`. Nothing in it is a secret.
///
/// Durations are in ms. What only an unlocked vault can tell is zero while it is locked.
public struct StatusReport: Equatable, Sendable {
  /// Whether the vault's keys are in the agent.
  public var state: SessionState
  /// Why it is locked; nil while it is not.
  public var lockReason: LockReason?
  /// Since when, in ms of Unix time.
  public var since: UInt64 = 0
  /// Until it locks when it is not used.
  public var idleLeft: UInt64 = 0
  /// Until it locks in any case.
  public var sessionLeft: UInt64 = 0
  /// The idle timeout that applies, or applied when it locked.
  public var idleTimeout: UInt64 = 0
  /// The longest session that applies, or applied when it locked.
  public var maxSession: UInt64 = 0
  /// How many changes the vault has seen.
  public var epoch: UInt64 = 0
  /// Stands for all that is in the vault: 32 bytes.
  public var fingerprint: [UInt8] = []
  /// The items there are, without deleted ones.
  public var itemCount: UInt64 = 0
  /// What the vault or this machine lacks, for people to mend.
  public var weaknesses: Weaknesses = []
  /// The agent's CLOCK_BOOTTIME.
  public var bootTime: UInt64 = 0
  /// How wrong tries slow down the next ones, for each kind of slot that has such a count.
  public var tries: [TryReport] = []
  /// How far a rotation is, in parts of a thousand; nil when none is under way.
  public var rotation: UInt16?
  /// When this machine last made a backup, in ms of Unix time; 0 for none that is known.
  public var backupTime: UInt64 = 0
  /// Where that was; without bytes for none.
  public var backupPath: [UInt8] = []
  /// The vault's id, which stands in clear in its file.
  public var vault = [UInt8](repeating: 0, count: Self.vaultCount)
  /// The format that the vault has, 1 or 2.
  public var format: UInt16 = 0

  /// A report to be filled in.
  public init(state: SessionState, lockReason: LockReason? = nil) {
    self.state = state
    self.lockReason = lockReason
    fingerprint = [UInt8](repeating: 0, count: Self.fingerprintCount)
  }

  static let fingerprintCount = 32
  static let vaultCount = 16
  static let noRotation = UInt16.max

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    guard let state = SessionState(rawValue: try reader.number()) else { throw .fieldValue }
    self.state = state
    let reason: UInt8 = try reader.number()
    lockReason = LockReason(rawValue: reason)
    guard reason == 0 || lockReason != nil else { throw .fieldValue }
    since = try reader.number()
    idleLeft = try reader.number()
    sessionLeft = try reader.number()
    idleTimeout = try reader.number()
    maxSession = try reader.number()
    epoch = try reader.number()
    let field = try reader.field(Self.fingerprintCount)
    for index in field { fingerprint.append(payload[index]) }
    itemCount = try reader.number()
    weaknesses = Weaknesses(rawValue: try reader.number())
    bootTime = try reader.number()
    let count: UInt8 = try reader.number()
    for _ in 0..<count { tries.append(try TryReport(&reader)) }
    rotation = try Self.rotation(&reader)
    backupTime = try reader.number()
    let place = try reader.field16(limit: ProtocolLimit.path)
    for index in place { backupPath.append(payload[index]) }
    let id = try reader.field(Self.vaultCount)
    vault = []
    for index in id { vault.append(payload[index]) }
    format = try reader.number()
    try reader.finish()
  }

  private static func rotation(_ reader: inout FieldReader) throws(ProtocolError) -> UInt16? {
    let parts: UInt16 = try reader.number()
    guard parts != noRotation else { return nil }
    guard parts <= 1_000 else { throw .fieldValue }
    return parts
  }
}

/// The answer to `agent-status`.
public struct AgentReport: Equatable, Sendable {
  /// The agent's process.
  public let processID: UInt32
  /// The agent's release: where it stands in the payload.
  public let release: Range<Int>
  /// Vaults that are unlocked.
  public let sessionCount: UInt16
  /// Bytes of guarded memory that cannot reach swap.
  public let lockedBytes: UInt64
  /// Bytes of guarded memory that can.
  public let unlockedBytes: UInt64

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload, from: 2)
    processID = try reader.number()
    release = try reader.field16()
    sessionCount = try reader.number()
    lockedBytes = try reader.number()
    unlockedBytes = try reader.number()
    try reader.finish()
  }
}

/// One setting in the answer to `config`.
public struct SettingValue: Equatable, Sendable {
  /// A ``Setting``; raw, since a newer agent may know more of them.
  public var key: UInt8
  /// In the unit of the setting: ms, bytes, a count, or 0 and 1.
  public var value: UInt64

  /// A setting and its value.
  public init(key: UInt8, value: UInt64) {
    self.key = key
    self.value = value
  }

  /// Reads a reply's payload that ``Reply`` found to be ok.
  public static func all(_ payload: Span<UInt8>) throws(ProtocolError) -> [SettingValue] {
    var reader = FieldReader(payload, from: 2)
    let count: UInt8 = try reader.number()
    var settings: [SettingValue] = []
    for _ in 0..<count {
      settings.append(SettingValue(key: try reader.number(), value: try reader.number()))
    }
    try reader.finish()
    return settings
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Answers `status`.
  public mutating func putStatusReply(_ report: StatusReport) throws(ProtocolError) {
    precondition(report.fingerprint.count == StatusReport.fingerprintCount)
    precondition(report.vault.count == StatusReport.vaultCount)
    let frame = try openReply()
    try put(report.state.rawValue)
    try put(report.lockReason?.rawValue ?? 0)
    try put(report.since)
    try put(report.idleLeft)
    try put(report.sessionLeft)
    try put(report.idleTimeout)
    try put(report.maxSession)
    try put(report.epoch)
    try put(report.fingerprint.span)
    try put(report.itemCount)
    try put(report.weaknesses.rawValue)
    try put(report.bootTime)
    guard let count = UInt8(exactly: report.tries.count) else { throw .fieldTooLong(limit: 255) }
    try put(count)
    for tries in report.tries { try put(tries) }
    try put(report.rotation ?? StatusReport.noRotation)
    try put(report.backupTime)
    try put16(report.backupPath.span, limit: ProtocolLimit.path)
    try put(report.vault.span)
    try put(report.format)
    try closeFrame(frame)
  }

  /// Answers `agent-status`.
  public mutating func putAgentReply(
    processID: UInt32, release: String, sessionCount: Int, lockedBytes: UInt64,
    unlockedBytes: UInt64
  ) throws(ProtocolError) {
    let frame = try openReply()
    try put(processID)
    try put16(text: release)
    try put(UInt16(clamping: sessionCount))
    try put(lockedBytes)
    try put(unlockedBytes)
    try closeFrame(frame)
  }

  /// Answers `config`: all settings, or the one asked for or set.
  public mutating func putConfigReply(_ settings: [SettingValue]) throws(ProtocolError) {
    guard let count = UInt8(exactly: settings.count) else { throw .fieldTooLong(limit: 255) }
    let frame = try openReply()
    try put(count)
    for setting in settings {
      try put(setting.key)
      try put(setting.value)
    }
    try closeFrame(frame)
  }
}
