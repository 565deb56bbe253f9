// SPDX-License-Identifier: MIT

internal import KuraCrypto
internal import KuraFormat
internal import KuraStorage
internal import SecureMemory

// What the layers below throw, in this module's words: each of their errors stands here once.

extension VaultError {
  /// Tells what the storage met; which row cannot be right it says itself.
  init(_ error: StorageError) {
    switch error {
    case .missing: self = .noVault
    case .exists: self = .pathTaken
    case .exposedDirectory(let exposure): self = .directoryUnsafe(UnsafeReason(exposure))
    case .exposedFile(let exposure): self = .fileUnsafe(UnsafeReason(exposure))
    case .notADatabase: self = .notAVault
    case .newerFormat(let version): self = .newerFormat(version)
    case .schema: self = .damaged(.schema)
    case .damaged(let table): self = .damaged(Damage(table))
    case .corrupt: self = .damaged(.pages)
    case .busy: self = .busy
    case .diskFull: self = .diskFull
    case .readOnly: self = .readOnly
    case .walOutOfReach: self = .walOutOfReach
    case .permissionDenied: self = .permissionDenied
    case .outOfMemory: self = .outOfMemory
    case .io(let number): self = .io(number)
    }
  }

  /// Tells what the storage met in a file of this machine's state, which is not the vault's.
  ///
  /// - Parameters:
  ///   - name: The file's.
  ///   - directory: Where it stands.
  init(_ error: StorageError, ofState name: String, in directory: String) {
    let path = directory + "/" + name
    switch error {
    case .exposedDirectory(let exposure):
      self = .stateDirectoryUnsafe(UnsafeReason(exposure), path: directory)
    case .exposedFile: self = .stateFile(0, path: path)
    case .io(let number): self = .stateFile(number, path: path)
    case .missing, .exists, .notADatabase, .newerFormat, .schema, .damaged, .corrupt, .busy,
      .diskFull, .readOnly, .walOutOfReach, .permissionDenied, .outOfMemory:
      self.init(error)
    }
  }

  /// Tells why bytes are not what the format says, or why a person's input cannot become a part of it.
  ///
  /// - Parameter subject: What is decoded.
  init(_ error: FormatError, about subject: Damage) {
    switch error {
    case .notAVault: self = .notAVault
    case .newerFormat(let version): self = .newerFormat(UInt32(version))
    case .damaged: self = .damaged(subject)
    case .outOfMemory: self = .outOfMemory
    case .nameInvalid(let rule): self = .nameInvalid(rule)
    case .attributesInvalid(let rule): self = .attributeInvalid(rule)
    case .passcodeInvalid(let rule): self = .passcodeInvalid(rule)
    case .labelInvalid(let rule): self = .labelInvalid(rule)
    case .recoveryKeyInvalid(let rule): self = .recoveryKeyTypo(rule)
    case .otpInvalid(let rule): self = .otpInvalid(rule)
    case .policyInvalid(let key): self = .policyInvalid(key)
    case .valueTooLarge: self = .tooLarge
    case .tooManySides: self = .tooManySides
    case .kdfRefused(let refusal): self = .kdfRefused(refusal)
    }
  }

  /// Tells why something did not open or could not be sealed.
  ///
  /// - Parameter subject: What is opened.
  init(_ error: CryptoError, about subject: Damage) {
    switch error {
    case .wrongKey, .damaged: self = .damaged(subject)
    case .outOfMemory: self = .outOfMemory
    case .entropyUnavailable: self = .entropyUnavailable
    }
  }

  /// Tells that guarded memory could not be had.
  init(_ error: SecureMemoryError) {
    switch error {
    case .allocationFailed: self = .outOfMemory
    }
  }
}

// MARK: - One step of a layer

/// Takes a step of the storage, whose error is told as this module's.
@inline(__always)
func fromStorage<Result: ~Copyable>(
  _ step: @autoclosure () throws(StorageError) -> Result
) throws(VaultError) -> Result {
  do throws(StorageError) { return try step() } catch { throw VaultError(error) }
}

/// Decodes or encodes something, with an error that says what is damaged.
@inline(__always)
func fromFormat<Result: ~Copyable>(
  _ subject: Damage, _ step: @autoclosure () throws(FormatError) -> Result
) throws(VaultError) -> Result {
  do throws(FormatError) { return try step() } catch { throw VaultError(error, about: subject) }
}

/// Opens, seals or derives something, with an error that says what is damaged.
@inline(__always)
func fromCrypto<Result: ~Copyable>(
  _ subject: Damage, _ step: @autoclosure () throws(CryptoError) -> Result
) throws(VaultError) -> Result {
  do throws(CryptoError) { return try step() } catch { throw VaultError(error, about: subject) }
}

/// Takes guarded memory.
@inline(__always)
func fromMemory<Result: ~Copyable>(
  _ step: @autoclosure () throws(SecureMemoryError) -> Result
) throws(VaultError) -> Result {
  do throws(SecureMemoryError) { return try step() } catch { throw VaultError(error) }
}

extension UnsafeReason {
  init(_ exposure: Exposure) {
    switch exposure {
    case .owner: self = .owner
    case .mode(let mode): self = .mode(mode)
    case .kind: self = .kind
    }
  }
}

extension Damage {
  init(_ table: Table) {
    switch table {
    case .part: self = .header
    case .slot: self = .slot
    case .item: self = .item
    case .history: self = .history
    case .chunk: self = .chunk
    case .loose: self = .loose
    case .bucket: self = .bucket
    case .node: self = .node
    }
  }
}
