// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault

extension Refusal {
  /// What a vault's error means to a client.
  ///
  /// - Parameters:
  ///   - path: The vault's.
  ///   - name: Where the item's name stands in the request.
  init(_ error: VaultError, at path: String, item name: Range<Int>? = nil) {
    self = Self.refusal(
      error, .text(path), in: Self.directory(of: path), name.map(Subject.field) ?? .none)
  }

  private static func refusal(
    _ error: VaultError, _ path: Subject, in directory: Subject, _ name: Subject
  ) -> Refusal {
    switch error {
    case .noVault: .noVault(path)
    case .notAVault: .notAVault(path)
    case .newerFormat(let format): .newerFormat(format, path)
    case .pathTaken, .walLeftBehind: .vaultExists(path)
    case .copyRefused(let flaw): .mergeRefused(flaw, path)
    case .copyDamaged: .copyUnsound(path)
    case .tooManySides: .mergeRefused(.tooManySides, .none)
    case .takesNewFormat: .unsupported(.text("secret attributes in a vault of format 1"))
    case .notShared: .unsupported(.text("a vault that machines share"))
    case .deviceRemoved: .unsupported(.text("a machine that was removed"))
    case .eachRemoved: .changedMeanwhile
    case .fileUnsafe(.kind): .notAVault(path)
    case .directoryUnsafe(let reason): .placeUnsafe(reason.ofDirectory, directory)
    case .fileUnsafe(let reason): .placeUnsafe(reason.ofFile, path)
    case .stateDirectoryUnsafe(let reason, let place):
      .placeUnsafe(reason.ofDirectory, .text(place))
    case .stateFile(let errno, let file): .stateUnusable(errno: errno, .text(file))
    case .permissionDenied: .permissionDenied(.rights, path)
    case .readOnly: .permissionDenied(.readOnly, directory)
    case .walOutOfReach: .permissionDenied(.walOutOfReach, path)
    case .diskFull: .diskFull(path)
    case .busy: .busy
    case .outOfMemory: .outOfMemory
    case .entropyUnavailable: .fault(.text("random numbers"))
    case .io(let errno): .inputOutput(errno: errno, path)

    case .damaged(let damage):
      .damaged(damage.isOfItem && name != .none ? name : .text(damage.words))
    case .rolledBack(let seen, let epoch): .rolledBack(Copies(seen, epoch))
    case .forked(let seen, let epoch): .forked(Copies(seen, epoch))
    case .exchanged(let last): .exchanged(last: .text(String(decoding: last, as: UTF8.self)))
    case .replaced: .locked(LockNote(.vaultChanged))

    case .wrongPasscode: .wrongPasscode(WrongPasscode())
    case .throttled(let wait): .throttled(wait: wait, hasRecoveryKey: false)
    case .triesNotKept: .triesNotKept
    case .passcodeInvalid(let rule): .passcodeInvalid(PasscodeRule(rule))
    case .recoveryKeyTypo(let rule): .recoveryKeyTypo(RecoveryKeyTypo(rule))
    case .keyFileTooShort: .keyFileTooShort(least: Credential.leastKeyFile)
    case .credentialStale: .wrongKey(nil)
    case .codesSpent(let failures): .localErased(failures: failures)
    case .eraseRuleDamaged: .eraseRuleDamaged
    case .codeTooShort: .passcodeInvalid(.codeTooShort)
    case .codeTooLong: .passcodeInvalid(.codeTooLong)
    case .deviceSecretMissing, .deviceSecretUnsafe: .noSuchSlot(.local)
    case .noSuchSlot(let credential): .noSuchSlot(credential)
    case .chip(let fault): refusal(fault)
    case .slotOfOtherKind(let number, let credential): .slotOfOtherKind(number, credential)
    case .kdfRefused(let refusal), .wrongOrRefused(let refusal): .kdfTooCostly(refusal.cost)
    case .kdfTooWeak: .kdfTooWeak(floor: KDFLimits.floor)

    case .slotNotFound(let number): .slotNotFound(number)
    case .labelInvalid(let rule): .labelInvalid(LabelRule(rule))
    case .slotsFull(let limit): .slotsFull(limit: limit)
    case .credentialTaken(let number): .slotTaken(number)
    case .recoveryKeyExists: .recoveryKeyExists
    case .lastSlot: .lastSlot
    case .recoveryKeyNeeded: .recoveryKeyNeeded
    case .passcodesInStore: .passcodesInStore
    case .slotsAwaited: .slotsAwaited

    case .notFound: .notFound(name)
    case .revisionNotFound: .revisionNotFound
    case .notDeleted(let revision): .notDeleted(revision: revision, name)
    case .revisionCurrent: .revisionCurrent
    case .exists(let revision): .exists(revision: revision, name)
    case .revisionConflict(let current): .revisionConflict(current: current)
    case .nameInvalid(let rule): .nameInvalid(rule)
    case .attributeInvalid(let rule): .attributeInvalid(rule)
    case .policyInvalid(let key): .settingInvalid(key)
    case .otpInvalid(let rule): .otpInvalid(rule)
    case .notOTP: .notOTP(name)
    case .tooLarge: .tooLarge(limit: 0)
    case .changed: .changedMeanwhile
    case .protected: .protected(name)
    case .ownerNeeded: .ownerNeeded(name)
    case .historyFull: .historyFull(name)
    case .noProtectedHalf: .opensNoProtected
    case .uploadLost: .timedOut
    }
  }

  /// What a chip's or a security key's fault means to a client.
  private static func refusal(_ fault: ChipFault) -> Refusal {
    switch fault.kind {
    case .lockedOut: .chipLocked(seconds: fault.number)
    case .wrongPIN: .wrongPIN(left: fault.number)
    case .untouched: .keyUntouched
    case .noProgram, .programFailed, .noChip, .denied, .busy, .other, .wrong, .owned,
      .unlimited, .failed, .noKey, .otherKey, .severalKeys, .noSecrets, .pinNeeded, .noPIN,
      .lastPIN, .pinPaused, .declined, .unverified, .otherManner, .keyGone, .keyFailed,
      .keyDenied:
      .chipUnfit(fault)
    }
  }

  private static func directory(of path: String) -> Subject {
    .text(path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? path)
  }
}

extension Copies {
  fileprivate init(_ copy: SeenCopy, _ epoch: UInt64) {
    self.init(
      seen: copy.epoch, epoch: epoch, written: copy.time,
      place: .text(String(decoding: copy.path, as: UTF8.self)))
  }
}

extension Damage {
  /// Whether one item is damaged, and the others may be whole.
  fileprivate var isOfItem: Bool {
    switch self {
    case .item, .history, .chunk: true
    case .pages, .schema, .header, .slot, .ring, .root, .node, .bucket, .loose: false
    }
  }

  /// What is damaged, for people.
  fileprivate var words: String {
    switch self {
    case .pages: "database file"
    case .schema: "tables"
    case .header: "header"
    case .slot: "key slot"
    case .ring: "key ring"
    case .root: "root"
    case .node, .bucket: "integrity tree"
    case .item: "item"
    case .history: "earlier revision of an item"
    case .chunk: "part of a value"
    case .loose: "list of values to be deleted"
    }
  }
}

// MARK: - Rules

extension RecoveryKeyTypo {
  fileprivate init(_ rule: RecoveryKeyRule) {
    switch rule {
    case .character(let group), .group(let group): self = .group(UInt8(group))
    case .length(let count): self = .length(UInt32(clamping: count))
    case .severalGroups: self = .anywhere
    }
  }
}

extension KDFRefusal {
  /// What was asked for; 0 for what it is not about.
  fileprivate var cost: KDFParameters {
    switch self {
    case .memory(let bytes), .work(let bytes), .workTogether(let bytes):
      KDFParameters(memory: bytes, passes: 0)
    case .memoryNotThere(let needed, _): KDFParameters(memory: needed, passes: 0)
    case .passes(let passes): KDFParameters(memory: 0, passes: passes)
    }
  }
}

extension UnsafeReason {
  fileprivate var ofDirectory: PlaceFlaw { self == .owner ? .directoryOwner : .directoryWritable }

  fileprivate var ofFile: PlaceFlaw { self == .owner ? .fileOwner : .fileOpen }
}
