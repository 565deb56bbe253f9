// SPDX-License-Identifier: MIT

/// Says what a connection is doing and what may come next, and holds what that takes.
enum Phase {
  /// A hello comes: nothing was heard yet.
  case greeting
  /// A request comes.
  case ready
  /// Bytes of a value come, or their end.
  case uploading(ValueUpload)
  /// The same, but the upload was refused already: they are thrown away.
  case draining
  /// Nothing: the worker proves and prepares, or what came of that finds the vault busy.
  case attempting(Attempt)
  /// The word comes that a recovery key was written down; keys are held for it.
  case confirming(Attempt, KeyHold)
  /// Nothing: a reply is sent slice by slice.
  case sending(any Stream)
  /// Nothing: somebody else may unlock the vault until then, on the monotonic clock.
  case awaitingUnlock(until: UInt64)
  /// Nothing: the lock of the vault is the answer.
  case awaitingLock(Session)
  /// Nothing: it is told how far a rotation is.
  case awaitingRotation(RotationWatch)
  /// Nothing: files that it had locked are made whole.
  case awaitingClosings(ClosingWait)
  /// Nothing: a backup of the vault is made, which takes no key of it.
  case backingUp(BackupRun)
  /// Whether values will be found that it was told of: it masks what others write.
  case masking
  /// Nothing: such ones have to know of the values that the answer has.
  case awaitingMasks(MaskWait)
  /// Nothing: the owner answers.
  case awaitingOwner(WishWait)
  /// Nothing: the owner is asked for something else.
  case awaitingWishes(WishWatch)
  /// Nothing: a program waits for a finger.
  case awaitingFinger(FingerScan)
  /// Nothing: what is pending is sent, then the connection ends.
  case closing

  /// Whether frames are read.
  var isReading: Bool {
    switch self {
    case .greeting, .ready, .uploading, .draining, .confirming, .masking: true
    case .attempting, .sending, .awaitingUnlock, .awaitingLock, .awaitingRotation,
      .awaitingClosings, .backingUp, .awaitingMasks, .awaitingOwner, .awaitingWishes,
      .awaitingFinger, .closing:
      false
    }
  }

  /// Whether a request is being served, so that nothing is read until it is answered.
  var isParked: Bool {
    switch self {
    case .attempting, .sending, .awaitingUnlock, .awaitingLock, .awaitingRotation,
      .awaitingClosings, .backingUp, .masking, .awaitingMasks, .awaitingOwner, .awaitingWishes,
      .awaitingFinger:
      true
    case .greeting, .ready, .uploading, .draining, .confirming, .closing: false
    }
  }

  /// Whether nothing is under way; the rest of an upload that was refused is nothing.
  var isIdle: Bool {
    switch self {
    case .greeting, .ready, .draining: true
    case .uploading, .attempting, .confirming, .sending, .awaitingUnlock,
      .awaitingLock, .awaitingRotation, .awaitingClosings, .backingUp, .masking, .awaitingMasks,
      .awaitingOwner, .awaitingWishes, .awaitingFinger, .closing:
      false
    }
  }

  /// Whether it may last for ever, so that what the client sends behind it may never be used.
  var isEndless: Bool {
    switch self {
    case .awaitingUnlock, .awaitingLock, .awaitingOwner, .awaitingWishes, .awaitingFinger: true
    case .greeting, .ready, .uploading, .draining, .attempting, .confirming, .sending,
      .awaitingRotation, .awaitingClosings, .backingUp, .masking, .awaitingMasks, .closing:
      false
    }
  }

  /// The session whose lock ends it; nil where none of its keys is needed.
  var session: Session? {
    switch self {
    case .uploading(let upload): upload.session
    case .attempting(let attempt), .confirming(let attempt, _): attempt.session
    case .sending(let stream): stream.session
    case .awaitingLock(let session): session
    case .awaitingRotation(let watch): watch.session
    case .awaitingMasks(let wait): wait.session
    case .awaitingOwner(let wait): wait.session
    case .awaitingWishes(let watch): watch.session
    case .awaitingFinger(let scan): scan.session
    case .greeting, .ready, .draining, .awaitingUnlock, .awaitingClosings, .backingUp, .masking,
      .closing:
      nil
    }
  }

  /// When it goes on by itself, on the monotonic clock; nil where something else lets it go on.
  var deadline: UInt64? {
    switch self {
    case .sending(let stream): stream.due
    case .awaitingUnlock(let deadline): deadline
    case .awaitingClosings(let wait): wait.deadline
    case .backingUp(let run): run.due
    case .awaitingMasks(let wait): wait.deadline
    case .awaitingOwner(let wait): min(wait.deadline, wait.look)
    case .awaitingWishes(let watch): watch.deadline
    case .awaitingFinger(let scan): scan.deadline
    case .greeting, .ready, .uploading, .draining, .attempting, .confirming,
      .awaitingLock, .awaitingRotation, .masking, .closing:
      nil
    }
  }
}

// MARK: - What it holds

extension Phase {
  /// The reply that is being sent.
  var stream: (any Stream)? { if case .sending(let stream) = self { stream } else { nil } }

  /// The value that comes in.
  var upload: ValueUpload? { if case .uploading(let upload) = self { upload } else { nil } }

  /// Until when keys are held for a word.
  var keyHold: KeyHold? { if case .confirming(_, let hold) = self { hold } else { nil } }

  /// What is waited for to be whole files.
  var closings: ClosingWait? { if case .awaitingClosings(let wait) = self { wait } else { nil } }

  /// The answer that is kept back.
  var masks: MaskWait? { if case .awaitingMasks(let wait) = self { wait } else { nil } }

  /// The backup that is made.
  var backup: BackupRun? { if case .backingUp(let run) = self { run } else { nil } }

  /// Whose progress is told.
  var rotation: RotationWatch? {
    if case .awaitingRotation(let watch) = self { watch } else { nil }
  }
}
