// SPDX-License-Identifier: MIT

internal import SecureMemory

/// Tells how wrong tries of one kind slow down the next ones.
public struct TryReport: Equatable, Sendable {
  /// The ``wait`` of what no time helps: until the passcode has worked.
  public static let untilPasscode = UInt64.max

  /// What is counted.
  public let kind: TryKind
  /// Wrong ones since the last right one.
  public let failures: UInt32
  /// How many may be made before there is a wait.
  public let left: UInt32
  /// Until the next one, in ms; 0 = now.
  public let wait: UInt64

  /// A report as it is shown.
  public init(kind: TryKind, failures: UInt32, left: UInt32, wait: UInt64) {
    self.kind = kind
    self.failures = failures
    self.left = left
    self.wait = wait
  }

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    guard let kind = TryKind(rawValue: try reader.number()) else { throw .fieldValue }
    self.kind = kind
    failures = try reader.number()
    left = try reader.number()
    wait = try reader.number()
  }
}

extension StatusReport {
  /// Until the next passcode may be tried, in ms; 0 = now.
  public var passcodeWait: UInt64 { tries.first { $0.kind == .passcode }?.wait ?? 0 }
}

extension SecretBuffer {
  mutating func put(_ tries: TryReport) throws(ProtocolError) {
    try put(tries.kind.rawValue)
    try put(tries.failures)
    try put(tries.left)
    try put(tries.wait)
  }
}
