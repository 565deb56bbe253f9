// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraProtocol
internal import KuraVault

extension Denial {
  /// What a vault's error means to a client.
  ///
  /// - Parameters:
  ///   - path: The vault's.
  ///   - name: Where the item's name stands in the request.
  init(_ error: VaultError, at path: String, item name: Range<Int>? = nil) {
    let directory = path.utf8.lastIndex(of: UInt8(ascii: "/")).map { String(path[..<$0]) } ?? path
    let place = Text.words(error.isOfDirectory ? directory : path)
    let name = name.map(Text.field) ?? .none
    self = Self.denial(error, at: place, name)
  }

  private static func denial(_ error: VaultError, at path: Text, _ name: Text) -> Denial {
    switch error {
    case .noVault: Denial(.noVault, text: path)
    case .notAVault: Denial(.notAVault, text: path)
    case .newerFormat(let format): Denial(.newerFormat, UInt64(format), text: path)
    case .pathTaken, .journalLeftBehind: Denial(.vaultExists, text: path)
    case .fileUnsafe(.kind): Denial(.notAVault, text: path)
    case .directoryUnsafe(let reason): Denial(.directoryUnsafe, reason.number, text: path)
    case .fileUnsafe(let reason): Denial(.directoryUnsafe, 2 + reason.number, text: path)
    case .stateDirectoryUnsafe(let reason, let directory):
      Denial(.directoryUnsafe, reason.number, text: .words(directory))
    case .stateFile(let code, let file):
      Denial(.inputOutput, UInt64(UInt32(bitPattern: code)), 1, text: .words(file))
    case .permissionDenied: Denial(.permissionDenied, text: path)
    case .readOnly: Denial(.permissionDenied, 1, text: path)
    case .journalOutOfReach: Denial(.permissionDenied, 2, text: path)
    case .diskFull: Denial(.diskFull, text: path)
    case .busy: Denial(.busy)
    case .outOfMemory: Denial(.outOfMemory)
    case .entropyUnavailable: Denial(.fault, text: .words("random numbers"))
    case .io(let code): Denial(.inputOutput, UInt64(UInt32(bitPattern: code)), text: path)

    case .damaged(let damage):
      Denial(.damaged, text: damage.isOfItem && name != .none ? name : .words(damage.words))
    case .rolledBack(let seen, let epoch): rollback(.rolledBack, seen, epoch)
    case .forked(let seen, let epoch): rollback(.forked, seen, epoch)
    case .exchanged(let last):
      Denial(.exchanged, text: .words(String(decoding: last, as: UTF8.self)))
    case .replaced: Denial(.locked, UInt64(LockReason.vaultChanged.rawValue), text: path)

    case .wrongPasscode: Denial(.wrongPasscode)
    case .throttled(let wait): Denial(.throttled, wait)
    case .triesNotKept: Denial(.denied, text: .words("tries-not-kept"))
    case .passcodeInvalid(let rule): Denial(.passcodeInvalid, UInt64(PasscodeRule(rule).rawValue))
    case .recoveryKeyTypo(let rule): Denial(.recoveryKeyTypo, rule.group, rule.wrongCount)
    case .keyFileTooShort: Denial(.keyFileTooShort, UInt64(Credential.leastKeyFile))
    case .credentialStale: Denial(.wrongKey)
    case .codesSpent(let failures): Denial(.localErased, UInt64(failures))
    case .eraseRuleDamaged: Denial(.denied, text: .words("erase-rule-damaged"))
    case .codeTooShort: Denial(.passcodeInvalid, UInt64(PasscodeRule.codeTooShort.rawValue))
    case .codeTooLong: Denial(.passcodeInvalid, UInt64(PasscodeRule.codeTooLong.rawValue))
    case .deviceSecretMissing, .deviceSecretUnsafe:
      Denial(.noSuchSlot, UInt64(Credential.local.rawValue))
    case .noSuchSlot(let credential): Denial(.noSuchSlot, UInt64(credential.rawValue))
    case .slotOfOtherKind(let number, let credential):
      Denial(.noSuchSlot, UInt64(credential.rawValue), UInt64(number) + 1)
    case .kdfRefused(let refusal), .wrongOrRefused(let refusal):
      Denial(.kdfTooCostly, refusal.memory, refusal.passes)
    case .kdfTooWeak:
      Denial(.kdfTooWeak, KDFLimits.floor.memory, UInt64(KDFLimits.floor.passes))

    case .slotNotFound(let number): Denial(.slotNotFound, UInt64(number))
    case .labelInvalid(let rule): Denial(.labelInvalid, UInt64(PasscodeRule(rule).rawValue))
    case .slotsFull(let limit): Denial(.slotsFull, UInt64(limit))
    case .credentialTaken(let number):
      Denial(.exists, 0, UInt64(number) + 1, text: .words("slot"))
    case .recoveryKeyExists: Denial(.exists, text: .words("recovery key"))
    case .lastSlot: Denial(.lastSlot)

    case .notFound: Denial(.notFound, text: name)
    case .revisionNotFound: Denial(.revisionNotFound)
    case .notDeleted(let revision): Denial(.notDeleted, revision, text: name)
    case .revisionCurrent: Denial(.revisionCurrent)
    case .exists(let revision): Denial(.exists, revision, text: name)
    case .revisionConflict(let current): Denial(.revisionConflict, current)
    case .nameInvalid(let rule): Denial(.nameInvalid, UInt64(rule.rawValue))
    case .attributeInvalid(let rule):
      Denial(.attributeInvalid, UInt64(rule.rawValue))
    case .policyInvalid(let key):
      Denial(.configInvalid, UInt64(key.rawValue), key.range.lowerBound, key.range.upperBound)
    case .otpInvalid(let rule): Denial(.otpInvalid, UInt64(rule.rawValue))
    case .notOTP: Denial(.notOTP, text: name)
    case .tooLarge: Denial(.tooLarge)
    case .changed: Denial(.revisionConflict)
    case .protected: Denial(.protected, text: name)
    case .ownerNeeded: Denial(.ownerNeeded, text: name)
    case .historyFull: Denial(.ownerNeeded, 1, text: name)
    case .noProtectedHalf: Denial(.opensNoProtected)
    case .uploadLost: Denial(.timedOut)
    }
  }

  private static func rollback(_ failure: Failure, _ seen: SeenCopy, _ epoch: UInt64) -> Denial {
    let path = String(decoding: seen.path, as: UTF8.self)
    return Denial(failure, seen.epoch, epoch, seen.time, text: .words(path))
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

extension RecoveryKeyRule {
  /// The group a typing error is in, from 1; 0 when it is not known.
  var group: UInt64 {
    switch self {
    case .character(let group), .group(let group): UInt64(group)
    case .length, .severalGroups: 0
    }
  }

  /// How many signs there are, where that is what is wrong, else 0.
  var wrongCount: UInt64 { if case .length(let count) = self { UInt64(count) } else { 0 } }
}

extension KDFRefusal {
  /// The bytes of memory asked for; 0 when it is not about them.
  var memory: UInt64 {
    switch self {
    case .memory(let bytes), .work(let bytes), .workTogether(let bytes): bytes
    case .memoryNotThere(let needed, _): needed
    case .passes: 0
    }
  }

  /// The passes asked for; 0 when it is not about them.
  var passes: UInt64 { if case .passes(let passes) = self { UInt64(passes) } else { 0 } }
}

extension UnsafeReason {
  /// Its number in the protocol: 1 for what belongs to somebody else.
  fileprivate var number: UInt64 { self == .owner ? 1 : 0 }
}

extension VaultError {
  /// Whether it is about the directory that a vault stands in.
  fileprivate var isOfDirectory: Bool {
    if case .directoryUnsafe = self { true } else { self == .readOnly }
  }
}
