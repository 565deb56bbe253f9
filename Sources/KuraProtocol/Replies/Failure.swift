// SPDX-License-Identifier: MIT

/// Numbers the reasons of a ``Refusal``: the code of a reply or an end, and of an entry in the access log.
/// Zero means that it was done.
public enum Failure: UInt16, Sendable, CaseIterable {
  case fault = 1
  case malformed = 2
  case otherVersion = 3
  case unsupported = 4
  case stopping = 5
  case busy = 6
  case timedOut = 7
  case outOfMemory = 8
  case memoryNotLocked = 9
  case compacting = 10
  case tooBusy = 11

  case locked = 16
  case noVault = 17
  case notAVault = 18
  case newerFormat = 19
  case vaultExists = 20
  case damaged = 21
  case rolledBack = 22
  case forked = 23
  case placeUnsafe = 24
  case permissionDenied = 25
  case diskFull = 26
  case inputOutput = 27
  case pathInvalid = 28
  case stateUnusable = 29

  case wrongPasscode = 32
  case wrongKey = 33
  case recoveryKeyTypo = 34
  case noSuchSlot = 35
  case throttled = 36
  case passcodeInvalid = 37
  case kdfTooCostly = 38
  case kdfTooWeak = 39
  case protected = 40
  case cancelled = 41
  case slotsFull = 42
  case triesNotKept = 43
  case slotNotFound = 44
  case labelInvalid = 45
  case keyFileTooShort = 46
  case lastSlot = 47

  case notFound = 48
  case attributeNotFound = 49
  case revisionNotFound = 50
  case exists = 51
  case revisionConflict = 52
  case nameInvalid = 53
  case attributeInvalid = 54
  case tooLarge = 55
  case valueEmpty = 56
  case settingInvalid = 57
  case settingUnknown = 58
  case changedMeanwhile = 59

  case opensNoProtected = 60
  case ownerNeeded = 61
  case slotOfOtherKind = 62
  case slotTaken = 63
  case recoveryKeyExists = 64
  case rekeyTakesPasscode = 65
  case slotsTakeOwner = 66
  case eraseRuleDamaged = 67
  case historyFull = 68
  case recoveryKeyNeeded = 69
  case passcodesInStore = 70
  case slotsAwaited = 71
  case unconfirmed = 72
  case localErased = 73
  case chipUnfit = 74
  case chipLocked = 75
  case otpInvalid = 76
  case notOTP = 77
  case wrongPIN = 78
  case keyUntouched = 79
  case fingerWrong = 82
  case fingerUnfit = 83

  case notDeleted = 88
  case revisionCurrent = 89
  case walKept = 90
  case notWhole = 91
  case wholeFailed = 92
  case exchanged = 93
  case backupRefused = 94
  case backupUnsound = 95
  case backupFailed = 96
  case mergeRefused = 97
  case copyUnsound = 98
  case maskerSilent = 104
  case processGone = 105
  case processUnfit = 106
  case confined = 109

  /// Whether a lock says by it that the keys are gone, but not that the file is whole.
  public var isOfWholeFile: Bool { self == .notWhole || self == .wholeFailed }

  /// The status a command ends with.
  public var exitStatus: ExitStatus {
    switch self {
    case .fault, .malformed, .unsupported, .outOfMemory, .newerFormat, .slotsFull, .tooLarge:
      .failure
    case .otherVersion, .stopping: .agent
    case .busy, .compacting, .tooBusy, .timedOut, .unconfirmed, .walKept, .notWhole,
      .maskerSilent, .keyUntouched:
      .busy
    case .locked: .locked
    case .noVault, .notAVault: .noVault
    case .vaultExists, .exists, .slotTaken, .recoveryKeyExists, .revisionConflict,
      .changedMeanwhile, .notDeleted, .revisionCurrent, .backupRefused, .mergeRefused:
      .exists
    case .damaged, .rolledBack, .forked, .exchanged, .backupUnsound, .copyUnsound:
      .integrity
    case .permissionDenied, .diskFull, .inputOutput, .stateUnusable, .wholeFailed, .backupFailed:
      .inputOutput
    case .wrongPasscode, .wrongKey, .recoveryKeyTypo, .localErased, .wrongPIN, .fingerWrong:
      .wrongPasscode
    case .throttled, .chipLocked: .throttled
    case .memoryNotLocked, .placeUnsafe, .noSuchSlot, .slotOfOtherKind, .kdfTooCostly,
      .kdfTooWeak, .triesNotKept, .eraseRuleDamaged, .rekeyTakesPasscode, .slotsTakeOwner,
      .lastSlot, .opensNoProtected, .processUnfit, .confined, .chipUnfit, .recoveryKeyNeeded,
      .passcodesInStore, .slotsAwaited:
      .denied
    case .protected, .ownerNeeded, .historyFull, .fingerUnfit: .needsInteraction
    case .cancelled: .cancelled
    case .notFound, .attributeNotFound, .revisionNotFound, .slotNotFound, .notOTP, .processGone:
      .notFound
    case .pathInvalid, .passcodeInvalid, .nameInvalid, .attributeInvalid, .valueEmpty,
      .settingInvalid, .settingUnknown, .labelInvalid, .keyFileTooShort, .otpInvalid:
      .usage
    }
  }
}

extension Refusal {
  /// The code that stands for it.
  public var failure: Failure {
    switch self {
    case .fault: .fault
    case .unknown(let code): Failure(rawValue: code) ?? .fault
    case .malformed: .malformed
    case .otherVersion: .otherVersion
    case .unsupported: .unsupported
    case .stopping: .stopping
    case .busy: .busy
    case .compacting: .compacting
    case .tooBusy: .tooBusy
    case .timedOut: .timedOut
    case .outOfMemory: .outOfMemory
    case .memoryNotLocked: .memoryNotLocked
    case .locked: .locked
    case .noVault: .noVault
    case .notAVault: .notAVault
    case .newerFormat: .newerFormat
    case .vaultExists: .vaultExists
    case .damaged: .damaged
    case .rolledBack: .rolledBack
    case .forked: .forked
    case .exchanged: .exchanged
    case .placeUnsafe: .placeUnsafe
    case .permissionDenied: .permissionDenied
    case .diskFull: .diskFull
    case .inputOutput: .inputOutput
    case .stateUnusable: .stateUnusable
    case .pathInvalid: .pathInvalid
    case .walKept: .walKept
    case .notWhole: .notWhole
    case .wholeFailed: .wholeFailed
    case .backupRefused: .backupRefused
    case .backupUnsound: .backupUnsound
    case .backupFailed: .backupFailed
    case .mergeRefused: .mergeRefused
    case .copyUnsound: .copyUnsound
    case .maskerSilent: .maskerSilent
    case .processGone: .processGone
    case .processUnfit: .processUnfit
    case .confined: .confined
    case .wrongPasscode: .wrongPasscode
    case .wrongKey: .wrongKey
    case .recoveryKeyTypo: .recoveryKeyTypo
    case .noSuchSlot: .noSuchSlot
    case .slotOfOtherKind: .slotOfOtherKind
    case .throttled: .throttled
    case .triesNotKept: .triesNotKept
    case .eraseRuleDamaged: .eraseRuleDamaged
    case .localErased: .localErased
    case .chipUnfit: .chipUnfit
    case .chipLocked: .chipLocked
    case .wrongPIN: .wrongPIN
    case .keyUntouched: .keyUntouched
    case .fingerWrong: .fingerWrong
    case .fingerUnfit: .fingerUnfit
    case .kdfTooCostly: .kdfTooCostly
    case .kdfTooWeak: .kdfTooWeak
    case .passcodeInvalid: .passcodeInvalid
    case .labelInvalid: .labelInvalid
    case .keyFileTooShort: .keyFileTooShort
    case .slotNotFound: .slotNotFound
    case .slotsFull: .slotsFull
    case .slotTaken: .slotTaken
    case .recoveryKeyExists: .recoveryKeyExists
    case .lastSlot: .lastSlot
    case .recoveryKeyNeeded: .recoveryKeyNeeded
    case .passcodesInStore: .passcodesInStore
    case .slotsAwaited: .slotsAwaited
    case .rekeyTakesPasscode: .rekeyTakesPasscode
    case .slotsTakeOwner: .slotsTakeOwner
    case .protected: .protected
    case .opensNoProtected: .opensNoProtected
    case .ownerNeeded: .ownerNeeded
    case .historyFull: .historyFull
    case .unconfirmed: .unconfirmed
    case .cancelled: .cancelled
    case .notFound: .notFound
    case .attributeNotFound: .attributeNotFound
    case .revisionNotFound: .revisionNotFound
    case .exists: .exists
    case .revisionConflict: .revisionConflict
    case .changedMeanwhile: .changedMeanwhile
    case .notDeleted: .notDeleted
    case .revisionCurrent: .revisionCurrent
    case .nameInvalid: .nameInvalid
    case .attributeInvalid: .attributeInvalid
    case .valueEmpty: .valueEmpty
    case .tooLarge: .tooLarge
    case .otpInvalid: .otpInvalid
    case .notOTP: .notOTP
    case .settingUnknown: .settingUnknown
    case .settingInvalid: .settingInvalid
    }
  }
}
