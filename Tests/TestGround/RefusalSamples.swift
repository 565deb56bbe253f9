// SPDX-License-Identifier: MIT

public import KuraProtocol

extension Refusal {
  /// A refusal with that code, with facts that are not zero.
  public static func sample(_ failure: Failure, naming text: String = "/a/b") -> Refusal {
    let subject: Subject = text.isEmpty ? .none : .text(text)
    let copies = Copies(seen: 40, epoch: 12, written: 1_700_000_000_000, place: subject)
    let cost = KDFParameters(memory: 64 << 20, passes: 3)
    return switch failure {
    case .fault: .fault(subject)
    case .malformed: .malformed
    case .otherVersion: .otherVersion(newest: 2)
    case .unsupported: .unsupported(subject)
    case .stopping: .stopping
    case .busy: .busy
    case .compacting: .compacting
    case .tooBusy: .tooBusy
    case .timedOut: .timedOut
    case .outOfMemory: .outOfMemory
    case .memoryNotLocked: .memoryNotLocked
    case .locked: .locked(LockNote(.idle, since: 1_700_000_000_000, idleTimeout: 900_000))
    case .noVault: .noVault(subject)
    case .notAVault: .notAVault(subject)
    case .newerFormat: .newerFormat(9, subject)
    case .vaultExists: .vaultExists(subject)
    case .damaged: .damaged(subject)
    case .rolledBack: .rolledBack(copies)
    case .forked: .forked(copies)
    case .exchanged: .exchanged(last: subject)
    case .placeUnsafe: .placeUnsafe(.fileOpen, subject)
    case .permissionDenied: .permissionDenied(.readOnly, subject)
    case .diskFull: .diskFull(subject)
    case .inputOutput: .inputOutput(errno: 5, subject)
    case .stateUnusable: .stateUnusable(errno: 5, subject)
    case .pathInvalid: .pathInvalid
    case .walKept: .walKept
    case .backupRefused: .backupRefused(.otherVault, subject)
    case .backupUnsound: .backupUnsound(subject)
    case .mergeRefused: .mergeRefused(.otherVault, subject)
    case .copyUnsound: .copyUnsound(subject)
    case .maskerSilent: .maskerSilent
    case .processGone: .processGone(4_242)
    case .processUnfit: .processUnfit(4_242)
    case .confined: .confined(.otherNamespace)
    case .backupFailed: .backupFailed(errno: 2, subject)
    case .notWhole: .notWhole(isHeld: true, subject)
    case .wholeFailed: .wholeFailed(errno: 28, subject)
    case .wrongPasscode: .wrongPasscode(wrong)
    case .wrongKey: .wrongKey(.keyFile)
    case .recoveryKeyTypo: .recoveryKeyTypo(.group(2))
    case .noSuchSlot: .noSuchSlot(.recoveryKey)
    case .slotOfOtherKind: .slotOfOtherKind(3, .keyFile)
    case .throttled: .throttled(wait: 5_000, hasRecoveryKey: true)
    case .triesNotKept: .triesNotKept
    case .eraseRuleDamaged: .eraseRuleDamaged
    case .localErased: .localErased(failures: 3)
    case .chipUnfit: .chipUnfit(ChipFault(.unlimited, 12))
    case .chipLocked: .chipLocked(seconds: 600)
    case .wrongPIN: .wrongPIN(left: 7)
    case .keyUntouched: .keyUntouched
    case .fingerWrong: .fingerWrong(left: 2)
    case .fingerUnfit: .fingerUnfit(.noFinger)
    case .kdfTooCostly: .kdfTooCostly(cost)
    case .kdfTooWeak: .kdfTooWeak(floor: cost)
    case .passcodeInvalid: .passcodeInvalid(.tooLong)
    case .labelInvalid: .labelInvalid(.notUTF8)
    case .keyFileTooShort: .keyFileTooShort(least: 32)
    case .slotNotFound: .slotNotFound(7)
    case .slotsFull: .slotsFull(limit: 16)
    case .slotTaken: .slotTaken(4)
    case .recoveryKeyExists: .recoveryKeyExists
    case .lastSlot: .lastSlot
    case .recoveryKeyNeeded: .recoveryKeyNeeded
    case .passcodesInStore: .passcodesInStore
    case .slotsAwaited: .slotsAwaited
    case .rekeyTakesPasscode: .rekeyTakesPasscode
    case .slotsTakeOwner: .slotsTakeOwner
    case .protected: .protected(subject)
    case .opensNoProtected: .opensNoProtected
    case .ownerNeeded: .ownerNeeded(subject)
    case .historyFull: .historyFull(subject)
    case .unconfirmed: .unconfirmed
    case .cancelled: .cancelled(lasting: 2_000)
    case .notFound: .notFound(subject)
    case .attributeNotFound: .attributeNotFound(subject)
    case .revisionNotFound: .revisionNotFound
    case .exists: .exists(revision: 4, subject)
    case .revisionConflict: .revisionConflict(current: 4)
    case .changedMeanwhile: .changedMeanwhile
    case .notDeleted: .notDeleted(revision: 4, subject)
    case .revisionCurrent: .revisionCurrent
    case .nameInvalid: .nameInvalid(.emptyComponent)
    case .attributeInvalid: .attributeInvalid(.keyTooLong)
    case .valueEmpty: .valueEmpty
    case .tooLarge: .tooLarge(limit: 65_536)
    case .otpInvalid: .otpInvalid(.digits)
    case .notOTP: .notOTP(subject)
    case .settingUnknown: .settingUnknown(200)
    case .settingInvalid: .settingInvalid(.idleTimeout)
    }
  }

  private static var wrong: WrongPasscode {
    var wrong = WrongPasscode()
    (wrong.failures, wrong.wait, wrong.hasRecoveryKey) = (6, 5_000, true)
    return wrong
  }
}
