// SPDX-License-Identifier: MIT

internal import KuraStorage

/// Hands an engine what it is given from outside: where this machine's state stands, and the time.
public struct VaultOptions: Sendable {
  /// Where the seen file and the upload lock stand; absolute, made with mode 0700 when missing.
  public var stateDirectory: String

  /// The wall clock, in milliseconds since 1970.
  public var now: @Sendable () -> UInt64

  /// Looks what stands where a key file is kept; nil where nobody can tell in time: its file system is the owner's
  /// choice, and may be one that does not answer.
  public var look: @Sendable ([UInt8]) -> KeyFileLook? = { KeyFileLook(at: $0) }

  /// What speaks to this machine's TPM; nil where nothing does.
  public var chip: (any SealingChip)?

  /// What speaks to security keys; nil where nothing does.
  public var keys: (any SecurityKeys)?

  /// What tells this machine from others; fewer than 32 bytes tell nothing.
  public var machine: [UInt8] = Machine.machineID()

  /// What the engine remembers of vaults that it has locked; nil for one that ends with its command.
  public var memory: VaultMemory?

  /// Which comparisons are made; tests take one out to show that nothing else hides its absence.
  package var checks = IntegrityChecks.all

  /// How many bytes of the tree a merge keeps in memory.
  package var mostHeld = HeldBuckets.most

  /// - Parameters:
  ///   - stateDirectory: `$XDG_STATE_HOME/kura`, mostly.
  ///   - now: The system's wall clock unless a test gives another.
  public init(stateDirectory: String, now: (@Sendable () -> UInt64)? = nil) {
    self.stateDirectory = stateDirectory
    self.now = now ?? { Machine.milliseconds() }
  }
}

/// Names the comparisons that tie what is read to the sealed root.
package struct IntegrityChecks: OptionSet, Sendable {
  package let rawValue: UInt16

  package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// A changed root has a higher epoch.
  package static let epoch = IntegrityChecks(rawValue: 1)
  /// Header, ring and slots come to the root's header digest.
  package static let header = IntegrityChecks(rawValue: 2)
  /// A node comes to the digest that its parent, or the root, has of it.
  package static let node = IntegrityChecks(rawValue: 4)
  /// A bucket comes to the digest that its node has of it.
  package static let bucket = IntegrityChecks(rawValue: 8)
  /// An item's row comes to its leaf.
  package static let leaf = IntegrityChecks(rawValue: 16)
  /// An item that has a leaf has a row.
  package static let presence = IntegrityChecks(rawValue: 32)
  /// A history row comes to its entry.
  package static let history = IntegrityChecks(rawValue: 64)
  /// The root is no older than what this machine saw.
  package static let seen = IntegrityChecks(rawValue: 128)
  /// The vault is the one that was last unlocked at its path.
  package static let place = IntegrityChecks(rawValue: 256)

  /// Every one of them.
  package static let all = IntegrityChecks(rawValue: 511)
}

/// Says how much memory there is to derive keys with.
public enum MemoryBudget {
  /// What memory and control group leave to this process, in bytes; nil when neither says.
  public static func available() -> UInt64? { Machine.availableMemory() }
}

/// Tells which file a vault is, whatever path leads to it.
public struct FileID: Hashable, Sendable {
  /// The device's number.
  public let device: UInt64
  /// The inode's number on that device.
  public let inode: UInt64

  init(_ identity: FileIdentity) {
    device = identity.device
    inode = identity.inode
  }

  /// The file that stands at a path now; it is not opened, so that no lock on it is lost.
  ///
  /// - Parameter path: Absolute.
  /// - Throws: ``VaultError/noVault`` when there is none.
  public static func of(path: String) throws(VaultError) -> FileID {
    FileID(try fromStorage(FilePlace.resolve(path).identity()))
  }
}
