// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Shows that the owner is there: made of a passcode or recovery key that was right just now, or of what its slot was made to
/// be the owner's by. What makes a vault easier to read, or forgets what was kept, takes one, unlocked or not.
public struct OwnerProof: ~Copyable, Sendable {
  let key: VaultKey

  /// Takes a slot over that was opened for this.
  ///
  /// - Parameter fresh: What ``UnlockAttempt/open(_:secret:only:)`` gave just now.
  /// - Throws: ``VaultError/ownerNeeded`` for a key file or a code for this machine: what lies about, and what is short,
  ///   open a vault and vouch for nobody.
  public init(_ fresh: consuming VaultKey) throws(VaultError) {
    guard fresh.row.vouches(by: fresh.credential) else { throw .ownerNeeded }
    key = fresh
  }
}

extension SlotRow {
  /// Whether it vouches for the owner: by what a person knows or wrote down; or, where it was made to open protected
  /// values too, by a code that a TPM counts, or a security key that makes sure who touches it.
  fileprivate func vouches(by credential: Credential) -> Bool {
    if credential.slotKind.isForPeople { return true }
    guard !protected.isEmpty, let known = try? SlotHeader(decoding: header.span) else {
      return false
    }
    return known.kind == .tpm2 && known.kdf != nil || known.credential?.isVerified == true
  }
}

// MARK: - Within a write transaction

extension UnlockedVault {
  /// Runs a change as ``writing(_:)`` does, with the owner's proof at hand where there is one.
  ///
  /// - Throws: ``VaultError/credentialStale`` when its slot is none of the vault's as it is then: it was
  ///   removed meanwhile, or was put into the file by somebody who knows its secret and nothing else.
  mutating func writing<Result: ~Copyable>(
    by owner: borrowing OwnerProof?,
    _ body: (inout UnlockedVault, inout Draft) throws(VaultError) -> Result
  ) throws(VaultError) -> Result {
    try writing { vault, draft throws(VaultError) in
      draft.isByOwner = try vault.isProved(by: owner)
      return try body(&vault, &draft)
    }
  }

  /// Whether there is a proof, which must be of this vault.
  private func isProved(by owner: borrowing OwnerProof?) throws(VaultError) -> Bool {
    switch owner {
    case .none: return false
    case .some(let owner):
      guard trust.slots.contains(owner.key.row) else { throw .credentialStale }
      return true
    }
  }
}

extension Draft {
  /// Refuses, without the owner's proof, that a name loses what was protected under it.
  func checkRelease(of item: borrowing ItemChange) throws(VaultError) {
    guard isByOwner || !item.isProtected else { throw .ownerNeeded }
  }

  /// Refuses, without the owner's proof, a setting that makes the vault easier to read or forgets more.
  func check(_ key: Setting, from old: UInt64, to new: UInt64) throws(VaultError) {
    guard isByOwner || !key.isLooser(new, than: old) else { throw .ownerNeeded }
  }
}

// MARK: - Settings

extension Setting {
  /// Whether a value lets the vault stay open for longer, or forget more, than another does.
  func isLooser(_ new: UInt64, than old: UInt64) -> Bool {
    switch self {
    case .idleTimeout, .maxSession, .reuseWindow: new > old
    case .lockOnSleep, .historyDepth, .logEntries: new < old
    // Fewer tries let anybody destroy the code, more of them let him guess it.
    case .eraseLocalAfter: new != old
    // Who could switch it off unasked could have the owner believe that he did.
    case .fingerprint: new != old
    // What it can lose is the last second.
    case .logSync: false
    }
  }
}

/// Remembers which slot a vault was opened by, and with what; no secret.
public struct KeyOrigin: Sendable {
  fileprivate let row: SlotRow
  fileprivate let credential: Credential

  /// Whether it was the owner's.
  var isOwners: Bool { row.vouches(by: credential) }
}

extension VaultKey {
  /// Which slot and credential it came from, to be told once it was used.
  public var origin: KeyOrigin { KeyOrigin(row: row, credential: credential) }
}

extension UnlockedVault {
  /// Refuses, unless its owner asks, a session with longer times than those of the policy as it is now.
  ///
  /// - Parameters:
  ///   - idleTimeout: In milliseconds; 0 for the policy's.
  ///   - maxSession: Likewise.
  ///   - origin: What was shown for the session.
  /// - Throws: ``VaultError/ownerNeeded`` for longer times and a key file or a code;
  ///   ``VaultError/credentialStale`` when the slot is none of the vault's; those of reading.
  public mutating func checkTimes(
    idleTimeout: UInt64, maxSession: UInt64, by origin: KeyOrigin
  ) throws(VaultError) {
    try reading { vault throws(VaultError) in
      guard vault.trust.slots.contains(origin.row) else { throw .credentialStale }
    }
    guard !origin.isOwners else { return }
    guard !Setting.idleTimeout.isLooser(idleTimeout, than: policy[.idleTimeout]),
      !Setting.maxSession.isLooser(maxSession, than: policy[.maxSession])
    else { throw .ownerNeeded }
  }
}
