// SPDX-License-Identifier: MIT

/// Names what the agent wants done in a store by who carries.
public enum StoreErrandKind: UInt8, Sendable, CaseIterable {
  /// Nothing more: the report follows.
  case none = 0
  /// List the names below one.
  case list = 1
  /// Fetch what stands under a name.
  case fetch = 2
  /// Write a file in place of what stands under a name.
  case write = 3
  /// Take away what stands under a name.
  case delete = 4
}

/// Names what came of an errand to a store.
public enum StoreAnswer: UInt8, Sendable, CaseIterable {
  /// The names that there are.
  case names = 1
  /// The bytes that stand there.
  case bytes = 2
  /// Nothing stands there, or more than there may.
  case missing = 3
  /// It is done.
  case done = 4
  /// It could not be done, and nothing more can be.
  case failed = 5
  /// It stands there still: it is not this one's to take away.
  case kept = 6
}

/// Names what was noticed of a device that shares the vault, or of the store: see kura-sync-format(5).
public enum SyncNotice: UInt8, Sendable, CaseIterable {
  /// Not all that it wrote is here yet.
  case late = 1
  /// Its head is older than one that was taken.
  case back = 2
  /// Two machines have its id.
  case twin = 3
  /// One of its objects is not what it wrote.
  case changed = 4
  /// A seal or a signature is not right.
  case forged = 5
  /// Its head stands in another one's place.
  case swapped = 6
  /// It is of another vault.
  case otherVault = 7
  /// It has another key than it had.
  case otherKey = 8
  /// An epoch that does not follow from the one it names.
  case falseEpoch = 9
  /// The head of this machine is an older one.
  case ownHeadBack = 10
  /// The head of this machine is not there any more.
  case ownHeadGone = 11
  /// The vault has another key there, and its passcode is wanted.
  case passcodeWanted = 12
  /// A machine that another one has taken out gave the vault a key, too.
  case twoOwners = 13
  /// What it changed after it was taken out is left out.
  case leftOut = 14
  /// It has taken the same as this machine, and has something else.
  case differs = 15
  /// Its head says that a later release wrote it.
  case newer = 16
  /// It left slots of passcodes in a store that the vault is shared without.
  case passcodesLeft = 17
  /// One of its objects is shorter than it wrote it: it is under way, or was cut off.
  case cut = 18
  /// Objects that this machine wrote are not there any more.
  case ownFilesGone = 19
  /// It is taken out here, and gave the vault a key before it heard of that, or heeds it not.
  case removedOwner = 20
  /// Nobody who is known here has heard of it, and its key of the vault does not follow from the one of here.
  case stranger = 21

  /// Whether somebody has to look at it: a machine that is off is no alarm.
  public var isAlarm: Bool { !mayCome && self != .leftOut && self != .ownFilesGone }

  /// Whether it may be that the rest is still on its way.
  public var mayCome: Bool { self == .late || self == .cut || self == .stranger }

  /// Whether it is the passcode that is missing.
  public var wantsPasscode: Bool { self == .passcodeWanted || self == .twoOwners }

  /// Whether it is the vault's owner who has to decide, and nothing is wrong with the store.
  public var wantsOwner: Bool { wantsPasscode || self == .removedOwner }

  /// Its word for programs; kura-sync-format(5) has it with spaces.
  public var word: String {
    switch self {
    case .late: "late"
    case .back: "back"
    case .twin: "twin"
    case .changed: "changed"
    case .forged: "forged"
    case .swapped: "swapped"
    case .otherVault: "another-vault"
    case .otherKey: "another-key"
    case .falseEpoch: "false-epoch"
    case .ownHeadBack: "own-head-back"
    case .ownHeadGone: "own-head-gone"
    case .passcodeWanted: "passcode-wanted"
    case .twoOwners: "two-owners"
    case .leftOut: "left-out"
    case .differs: "differs"
    case .newer: "newer"
    case .passcodesLeft: "passcodes-left"
    case .cut: "cut"
    case .ownFilesGone: "own-files-gone"
    case .removedOwner: "removed-owner"
    case .stranger: "stranger"
    }
  }
}
