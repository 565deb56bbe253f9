// SPDX-License-Identifier: MIT

/// Names what opens a key slot.
public enum SlotKind: UInt8, Sendable, CaseIterable {
  case passcode = 1
  case recoveryKey = 2
  case keyFile = 3
  /// A short code beside a secret of one machine.
  case local = 4
  case tpm2 = 5
  case fido2 = 6
  /// One that its owner put out of use: what it was is sealed.
  case disabled = 7
  /// One that only a later release knows.
  case later = 255

  /// Whether this release can open such a slot; others it keeps as they are.
  public var isKnown: Bool {
    switch self {
    case .passcode, .recoveryKey, .keyFile, .local, .tpm2, .fido2: true
    case .disabled, .later: false
    }
  }

  /// The word for it on the command line.
  public var name: String {
    switch self {
    case .passcode: "passcode"
    case .recoveryKey: "recovery-key"
    case .keyFile: "key-file"
    case .local: "local"
    case .tpm2: "tpm"
    case .fido2: "fido2"
    case .disabled: "disabled"
    case .later: "unknown"
    }
  }
}

/// Says whether a slot could be opened on this machine, apart from whether it is enabled.
public enum SlotAvailability: UInt8, Sendable, CaseIterable {
  /// Only whoever has the key file knows.
  case unknown = 0
  /// Nothing that this machine must have is missing.
  case here = 1
  /// The machine's secret or the key file is not here.
  case missing = 2

  /// The word for it.
  public var name: String {
    switch self {
    case .unknown: "unknown"
    case .here: "yes"
    case .missing: "no"
    }
  }
}

/// Names what somebody shows to open a vault, and what a key slot takes.
public enum Credential: UInt8, Sendable, CaseIterable {
  /// A passcode, as typed: it is prepared in the engine.
  case passcode = 1
  /// A recovery key, as typed.
  case recoveryKey = 2
  /// The bytes of a key file.
  case keyFile = 3
  /// A short code, as typed, which opens a slot only beside a secret of one machine.
  ///
  /// To unlock, what is typed goes as a passcode, which may be such a code as well.
  case local = 4
  /// A short code, as typed, which opens a slot only by the TPM of one machine; or none, for a slot that takes none.
  ///
  /// It is never tried but where it was asked for: each wrong one counts for the whole TPM.
  case tpm = 5
  /// The PIN of a security key, as typed, which opens a slot only by that key and a touch; or none, for a key that takes none.
  ///
  /// It is never tried but where it was asked for: the key counts wrong ones.
  case fido2 = 6

  /// A key file with fewer bytes is guessable.
  public static let leastKeyFile = 32
  /// The fewest and the most characters of a code for one machine; what is longer is a passcode.
  public static let codeLengths = 4...16
  /// The fewest characters of one for a TPM that does not limit how often codes are tried.
  public static let leastUnlimited = 12

  /// The kind of slot that it opens.
  public var slotKind: SlotKind {
    switch self {
    case .passcode: .passcode
    case .recoveryKey: .recoveryKey
    case .keyFile: .keyFile
    case .local: .local
    case .tpm: .tpm2
    case .fido2: .fido2
    }
  }
}

/// Names what is tried at a vault often enough to be counted; the numbers are those of the slot kinds.
public enum TryKind: UInt8, CaseIterable, Sendable {
  case passcode = 1
  /// It never takes the passcode's place for good.
  case keyFile = 3
  /// A short code that goes with this machine's device secret.
  case local = 4
  /// A code for this machine's TPM; like a key file it never takes the passcode's place for good.
  case tpm = 5

  /// The kind of slot that it is tried at.
  public var slotKind: SlotKind {
    switch self {
    case .passcode: .passcode
    case .keyFile: .keyFile
    case .local: .local
    case .tpm: .tpm2
    }
  }
}

/// Says what a guess at a passcode costs.
public struct KDFParameters: Equatable, Sendable {
  /// Memory in bytes, a multiple of 1,024; in a request, zero leaves it to the agent.
  public let memory: UInt64
  /// Passes over that memory; in a request, zero leaves it to the agent.
  public let passes: UInt32

  /// The agent chooses, by measuring this machine.
  public static let calibrated = KDFParameters(memory: 0, passes: 0)

  /// Any cost, whether it is possible or not.
  public init(memory: UInt64, passes: UInt32) {
    self.memory = memory
    self.passes = passes
  }
}
