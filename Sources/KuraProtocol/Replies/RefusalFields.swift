// SPDX-License-Identifier: MIT

public import SecureMemory

extension SecretBuffer {
  /// Writes a refusal as a reply, or as the end of a stream that had begun.
  ///
  /// - Parameters:
  ///   - request: The payload of what is refused, which a ``Refusal/Subject/field(_:)`` is a part of.
  public mutating func putRefusal(
    _ refusal: Refusal, of request: Span<UInt8> = Span(), as type: FrameType = .reply
  ) throws(ProtocolError) {
    let frame = try openFrame(type)
    if case .unknown(let code) = refusal {
      try put(code)
    } else {
      try put(refusal.failure.rawValue)
    }
    try putFacts(of: refusal, request)
    try closeFrame(frame)
  }

  private mutating func put(
    _ subject: Refusal.Subject, of request: Span<UInt8>
  ) throws(ProtocolError) {
    switch subject {
    case .none: try put(UInt16(0))
    case .text(let text): try put16(text.utf8.span.extracting(first: ProtocolLimit.path))
    case .field(let field):
      // A client that is answered later knows what it asked about.
      guard field.upperBound <= request.count else { return try put(UInt16(0)) }
      try put16(request.extracting(field).extracting(first: ProtocolLimit.path))
    }
  }

  private mutating func put(_ copies: Copies) throws(ProtocolError) {
    try put(copies.seen)
    try put(copies.epoch)
    try put(copies.written)
    try put(copies.place, of: Span())
  }

  private mutating func put(_ wrong: WrongPasscode) throws(ProtocolError) {
    try put(wrong.failures)
    try put(wrong.wait)
    let flags: UInt8 = (wrong.hasRecoveryKey ? 1 : 0) | (wrong.isUntakenCode ? 2 : 0)
    try put(flags | (wrong.isCode ? 4 : 0))
  }

  private mutating func put(_ typo: RecoveryKeyTypo) throws(ProtocolError) {
    switch typo {
    case .anywhere: try put(UInt8(0), UInt32(0))
    case .group(let group): try put(group, UInt32(0))
    case .length(let length): try put(UInt8(0), length)
    }
  }

  private mutating func put<First: FixedWidthInteger, Second: FixedWidthInteger>(
    _ first: First, _ second: Second
  ) throws(ProtocolError) {
    try put(first)
    try put(second)
  }

  private mutating func putFacts(
    of refusal: Refusal, _ request: Span<UInt8>
  ) throws(ProtocolError) {
    switch refusal {
    case .fault(let subject), .unsupported(let subject), .noVault(let subject),
      .notAVault(let subject), .vaultExists(let subject), .damaged(let subject),
      .exchanged(let subject), .diskFull(let subject), .protected(let subject),
      .ownerNeeded(let subject), .historyFull(let subject), .notFound(let subject),
      .attributeNotFound(let subject), .notOTP(let subject), .backupUnsound(let subject),
      .copyUnsound(let subject):
      try put(subject, of: request)
    case .unknown, .malformed, .stopping, .busy, .compacting, .tooBusy, .timedOut, .outOfMemory,
      .memoryNotLocked, .pathInvalid, .walKept, .triesNotKept, .eraseRuleDamaged,
      .recoveryKeyExists, .lastSlot, .rekeyTakesPasscode, .slotsTakeOwner, .keyUntouched,
      .opensNoProtected, .recoveryKeyNeeded, .passcodesInStore, .slotsAwaited,
      .unconfirmed, .revisionNotFound, .changedMeanwhile, .revisionCurrent, .valueEmpty,
      .maskerSilent:
      break
    case .otherVersion(let newest): try put(newest)
    case .confined(let flaw): try put(flaw.rawValue)
    case .locked(let note):
      try put(note.reason?.rawValue ?? 0)
      try put(note.since, note.idleTimeout)
    case .newerFormat(let format, let subject):
      try put(format)
      try put(subject, of: request)
    case .rolledBack(let copies), .forked(let copies): try put(copies)
    case .placeUnsafe(let flaw, let subject):
      try put(flaw.rawValue)
      try put(subject, of: request)
    case .mergeRefused(let flaw, let subject):
      try put(flaw.rawValue)
      try put(subject, of: request)
    case .backupRefused(let flaw, let subject):
      try put(flaw.rawValue)
      try put(subject, of: request)
    case .permissionDenied(let flaw, let subject):
      try put(flaw.rawValue)
      try put(subject, of: request)
    case .inputOutput(let errno, let subject), .stateUnusable(let errno, let subject),
      .wholeFailed(let errno, let subject), .backupFailed(let errno, let subject):
      try put(errno)
      try put(subject, of: request)
    case .notWhole(let isHeld, let subject):
      try put(UInt8(isHeld ? 1 : 0))
      try put(subject, of: request)
    case .wrongPasscode(let wrong): try put(wrong)
    case .wrongKey(let credential): try put(credential?.rawValue ?? 0)
    case .recoveryKeyTypo(let typo): try put(typo)
    case .noSuchSlot(let credential): try put(credential.rawValue)
    case .slotOfOtherKind(let number, let credential): try put(number, credential.rawValue)
    case .throttled(let wait, let hasRecoveryKey): try put(wait, UInt8(hasRecoveryKey ? 1 : 0))
    case .localErased(let failures): try put(failures)
    case .chipUnfit(let fault): try put(fault.kind.rawValue, fault.number)
    case .chipLocked(let seconds): try put(seconds)
    case .wrongPIN(let left): try put(left)
    case .fingerWrong(let left): try put(left)
    case .fingerUnfit(let fault): try put(fault.rawValue)
    case .kdfTooCostly(let cost), .kdfTooWeak(let cost): try put(cost.memory, cost.passes)
    case .passcodeInvalid(let rule): try put(rule.rawValue)
    case .labelInvalid(let rule): try put(rule.rawValue)
    case .nameInvalid(let rule): try put(rule.rawValue)
    case .attributeInvalid(let rule): try put(rule.rawValue)
    case .otpInvalid(let rule): try put(rule.rawValue)
    case .settingInvalid(let setting): try put(setting.rawValue)
    case .settingUnknown(let number), .slotNotFound(let number), .slotTaken(let number):
      try put(number)
    case .keyFileTooShort(let limit), .slotsFull(let limit): try put(UInt32(limit))
    case .processGone(let process), .processUnfit(let process): try put(process)
    case .cancelled(let number), .tooLarge(let number), .revisionConflict(let number):
      try put(number)
    case .exists(let revision, let subject), .notDeleted(let revision, let subject):
      try put(revision)
      try put(subject, of: request)
    }
  }
}

// MARK: - Reading

extension Refusal {
  init(code: UInt16, _ reader: inout FieldReader) throws(ProtocolError) {
    guard let failure = Failure(rawValue: code) else {
      self = .unknown(code: code)
      return
    }
    do throws(ProtocolError) { self = try Self.read(failure, &reader) } catch {
      // A later agent may tell of a rule or a setting that is not known here.
      guard error == .fieldValue else { throw error }
      self = .unknown(code: code)
      return
    }
    try reader.finish()
  }

  private static func read(
    _ failure: Failure, _ reader: inout FieldReader
  ) throws(ProtocolError) -> Refusal {
    switch failure {
    case .fault: .fault(try reader.subject())
    case .malformed: .malformed
    case .otherVersion: .otherVersion(newest: try reader.number())
    case .unsupported: .unsupported(try reader.subject())
    case .stopping: .stopping
    case .busy: .busy
    case .compacting: .compacting
    case .tooBusy: .tooBusy
    case .timedOut: .timedOut
    case .outOfMemory: .outOfMemory
    case .memoryNotLocked: .memoryNotLocked
    case .locked: .locked(try reader.lockNote())
    case .noVault: .noVault(try reader.subject())
    case .notAVault: .notAVault(try reader.subject())
    case .newerFormat: .newerFormat(try reader.number(), try reader.subject())
    case .vaultExists: .vaultExists(try reader.subject())
    case .damaged: .damaged(try reader.subject())
    case .rolledBack: .rolledBack(try reader.copies())
    case .forked: .forked(try reader.copies())
    case .exchanged: .exchanged(last: try reader.subject())
    case .placeUnsafe: .placeUnsafe(try reader.choice(), try reader.subject())
    case .permissionDenied: .permissionDenied(try reader.choice(), try reader.subject())
    case .diskFull: .diskFull(try reader.subject())
    case .inputOutput: .inputOutput(errno: try reader.errno(), try reader.subject())
    case .stateUnusable: .stateUnusable(errno: try reader.errno(), try reader.subject())
    case .pathInvalid: .pathInvalid
    case .walKept: .walKept
    case .notWhole: .notWhole(isHeld: try reader.flag(), try reader.subject())
    case .wholeFailed: .wholeFailed(errno: try reader.errno(), try reader.subject())
    case .backupRefused: .backupRefused(try reader.choice(), try reader.subject())
    case .backupUnsound: .backupUnsound(try reader.subject())
    case .mergeRefused: .mergeRefused(try reader.choice(), try reader.subject())
    case .copyUnsound: .copyUnsound(try reader.subject())
    case .maskerSilent: .maskerSilent
    case .processGone: .processGone(try reader.number())
    case .processUnfit: .processUnfit(try reader.number())
    case .confined: .confined(try reader.choice())
    case .backupFailed: .backupFailed(errno: try reader.errno(), try reader.subject())
    case .wrongPasscode: .wrongPasscode(try reader.wrongPasscode())
    case .wrongKey: .wrongKey(Credential(rawValue: try reader.number()))
    case .recoveryKeyTypo: .recoveryKeyTypo(try reader.recoveryKeyTypo())
    case .noSuchSlot: .noSuchSlot(try reader.choice())
    case .slotOfOtherKind: .slotOfOtherKind(try reader.number(), try reader.choice())
    case .throttled:
      .throttled(wait: try reader.number(), hasRecoveryKey: try reader.flag())
    case .triesNotKept: .triesNotKept
    case .eraseRuleDamaged: .eraseRuleDamaged
    case .localErased: .localErased(failures: try reader.number())
    case .chipUnfit: .chipUnfit(ChipFault(try reader.choice(), try reader.number()))
    case .chipLocked: .chipLocked(seconds: try reader.number())
    case .wrongPIN: .wrongPIN(left: try reader.number())
    case .keyUntouched: .keyUntouched
    case .fingerWrong: .fingerWrong(left: try reader.number())
    case .fingerUnfit: .fingerUnfit(try reader.choice())
    case .kdfTooCostly: .kdfTooCostly(try KDFParameters(&reader))
    case .kdfTooWeak: .kdfTooWeak(floor: try KDFParameters(&reader))
    case .passcodeInvalid: .passcodeInvalid(try reader.choice())
    case .labelInvalid: .labelInvalid(try reader.choice())
    case .keyFileTooShort: .keyFileTooShort(least: Int(try reader.number(UInt32.self)))
    case .slotNotFound: .slotNotFound(try reader.number())
    case .slotsFull: .slotsFull(limit: Int(try reader.number(UInt32.self)))
    case .slotTaken: .slotTaken(try reader.number())
    case .recoveryKeyExists: .recoveryKeyExists
    case .lastSlot: .lastSlot
    case .recoveryKeyNeeded: .recoveryKeyNeeded
    case .passcodesInStore: .passcodesInStore
    case .slotsAwaited: .slotsAwaited
    case .rekeyTakesPasscode: .rekeyTakesPasscode
    case .slotsTakeOwner: .slotsTakeOwner
    case .protected: .protected(try reader.subject())
    case .opensNoProtected: .opensNoProtected
    case .ownerNeeded: .ownerNeeded(try reader.subject())
    case .historyFull: .historyFull(try reader.subject())
    case .unconfirmed: .unconfirmed
    case .cancelled: .cancelled(lasting: try reader.number())
    case .notFound: .notFound(try reader.subject())
    case .attributeNotFound: .attributeNotFound(try reader.subject())
    case .revisionNotFound: .revisionNotFound
    case .exists: .exists(revision: try reader.number(), try reader.subject())
    case .revisionConflict: .revisionConflict(current: try reader.number())
    case .changedMeanwhile: .changedMeanwhile
    case .notDeleted: .notDeleted(revision: try reader.number(), try reader.subject())
    case .revisionCurrent: .revisionCurrent
    case .nameInvalid: .nameInvalid(try reader.choice())
    case .attributeInvalid: .attributeInvalid(try reader.choice())
    case .valueEmpty: .valueEmpty
    case .tooLarge: .tooLarge(limit: try reader.number())
    case .otpInvalid: .otpInvalid(try reader.choice())
    case .notOTP: .notOTP(try reader.subject())
    case .settingUnknown: .settingUnknown(try reader.number())
    case .settingInvalid: .settingInvalid(try reader.choice())
    }
  }
}

extension FieldReader {
  @_lifetime(self: copy self)
  fileprivate mutating func subject() throws(ProtocolError) -> Refusal.Subject {
    let field = try field16(limit: ProtocolLimit.path)
    return field.isEmpty ? .none : .text(text(field))
  }

  /// A number that has a name.
  @_lifetime(self: copy self)
  fileprivate mutating func choice<Choice: RawRepresentable<UInt8>>() throws(ProtocolError)
    -> Choice
  {
    guard let choice = Choice(rawValue: try number()) else { throw .fieldValue }
    return choice
  }

  @_lifetime(self: copy self)
  fileprivate mutating func flag() throws(ProtocolError) -> Bool {
    let raw: UInt8 = try number()
    guard raw <= 1 else { throw .fieldValue }
    return raw == 1
  }

  @_lifetime(self: copy self)
  fileprivate mutating func errno() throws(ProtocolError) -> Int32 {
    Int32(bitPattern: try number(UInt32.self))
  }

  @_lifetime(self: copy self)
  fileprivate mutating func lockNote() throws(ProtocolError) -> LockNote {
    let reason = LockReason(rawValue: try number())
    return LockNote(reason, since: try number(), idleTimeout: try number())
  }

  @_lifetime(self: copy self)
  fileprivate mutating func copies() throws(ProtocolError) -> Copies {
    Copies(
      seen: try number(), epoch: try number(), written: try number(), place: try subject())
  }

  @_lifetime(self: copy self)
  fileprivate mutating func wrongPasscode() throws(ProtocolError) -> WrongPasscode {
    var wrong = WrongPasscode()
    wrong.failures = try number()
    wrong.wait = try number()
    let flags: UInt8 = try number()
    guard flags & ~7 == 0 else { throw .fieldValue }
    wrong.hasRecoveryKey = flags & 1 != 0
    wrong.isUntakenCode = flags & 2 != 0
    wrong.isCode = flags & 4 != 0
    return wrong
  }

  @_lifetime(self: copy self)
  fileprivate mutating func recoveryKeyTypo() throws(ProtocolError) -> RecoveryKeyTypo {
    let group: UInt8 = try number()
    let length: UInt32 = try number()
    guard group == 0 || length == 0 else { throw .fieldValue }
    return group > 0 ? .group(group) : length > 0 ? .length(length) : .anywhere
  }
}
