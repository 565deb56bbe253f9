// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import KuraFormat
internal import KuraVault

/// Tells an agent at its start what it may do and where its files are.
public struct AgentConfiguration: Sendable {
  /// Where the newest state seen of each vault is kept.
  public var stateDirectory: String

  /// How much a client may take of the agent's time and memory.
  public var limits = AgentLimits()

  /// Whether a vault may only be unlocked while guarded memory is kept out of swap.
  public var requiresLockedMemory = false

  /// Whether SIGTERM, SIGHUP and SIGINT lock every vault and end the agent; they are blocked then.
  public var endsAtSignals = false

  /// What speaks to this machine's TPM for a client, as long as that is there; a test's own does.
  var chip: @Sendable (HardwareWard) -> any SealingChip = { HardwareProgram(wardedBy: $0) }

  /// The same of security keys.
  var keys: @Sendable (HardwareWard) -> any SecurityKeys = { HardwareProgram(wardedBy: $0) }

  /// Starts what asks for a finger: a socket on which it tells of that, or a negated errno; a test's own does.
  var startFinger: @Sendable () -> Int32 = { kura_helper_start(Int32(KURA_FINGER)) }

  /// Which start of the machine the clocks count from.
  public var origin: ClockOrigin = .current()

  /// Reads the clocks; a test's own does.
  public var clock: @Sendable () -> Moment = Moment.now

  /// Tells of processes; a test's own does.
  var processes: @Sendable (UInt32, ProcessQuestion) -> ProcessLink? = ProcessLink.read

  /// Opens a descriptor that shows a process's end, or tells a negated errno; a test's own does.
  var holdProcess: @Sendable (UInt32) -> Int32 = { kura_process_hold(Int32(clamping: $0)) }
  /// Tells in how many namespaces of process ids a process is; a test's own does.
  var depths: @Sendable (UInt32) -> Int? = ProcessLink.depth

  /// Tells whether the process at the other end of a socket lives; nil where the kernel does not. A test's own does.
  var livesAtEnd: @Sendable (Int32) -> Bool? = {
    let answer = kura_server_peer_is_there($0)
    return answer < 0 ? nil : answer == 1
  }

  /// Tells whether a process does nothing until it is told to go on; a test's own does.
  var isStopped: @Sendable (UInt32) -> Bool = ProcessLink.isStopped

  /// Begins what a vault has to do in a store, or to seal all anew there; a test's own does.
  var beginSync: @Sendable (inout UnlockedVault, Bool) throws(VaultError) -> any StoreDialog = {
    vault, compacts throws(VaultError) in try VaultMeeting(&vault, compacts: compacts)
  }

  /// A configuration with all else at its standard.
  public init(stateDirectory: String) { self.stateDirectory = stateDirectory }
}

/// Limits how much a client takes of the agent's time and memory; times in milliseconds.
public struct AgentLimits: Equatable, Sendable {
  /// Clients that have something under way at once.
  public var seats = 64

  /// Connections at once, those that say nothing among them.
  public var connections = 256

  /// From a frame's first byte to its last, and from the connection to the hello.
  public var frame: UInt64 = 5_000

  /// For a client to take something of its reply.
  public var stall: UInt64 = 30_000

  /// For the file of a vault that was locked to be whole, before who asked is told that it takes longer.
  public var closing: UInt64 = 5_000

  /// For which a busy vault is tried again.
  public var busy: UInt64 = 5_000

  /// Between two tries of a busy vault.
  public var retry: UInt64 = 20

  /// For which clients wait for a seat or a connection, before they are refused.
  public var queue: UInt64 = 1_000

  /// For which keys are held while a person writes a recovery key down.
  public var confirm: UInt64 = 300_000

  /// For who masks to know a value, before who was to be handed it is refused.
  public var mask: UInt64 = 5_000

  /// Those who mask.
  public var masks = 64

  /// Between a change and the note of the newest state.
  public var upkeep: UInt64 = 500

  /// Between an entry for the access log and the file.
  public var log: UInt64 = 900

  /// The limits that the manual states.
  public init() {}
}
