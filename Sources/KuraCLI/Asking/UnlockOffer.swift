// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Says what a prompt for an unlock takes beside a passcode and Enter, on this machine.
struct UnlockOffer {
  /// Says where a key file stands that is tried by itself.
  struct KeyFile {
    let path: String
    let size: UInt64
    /// Whether Enter has to be pressed for it.
    let isHeld: Bool
  }

  var keyFile: KeyFile?
  /// At how many characters a code is sent; 0 for not by itself.
  var submitLength = 0
  /// Whether a code for this machine's TPM may be asked for instead.
  var takesChipCode = false

  /// What is said of Enter alone, where that means the key file.
  var enterRemark: String? {
    guard let keyFile, keyFile.isHeld else { return nil }
    return "Enter alone unlocks by the key file " + Diagnostic.shown(keyFile.path)
  }

  /// Unlocks by the key file where Enter alone was the answer and means that; else nil.
  func unlock(
    afterTyping secret: borrowing SecretBytes, _ connection: inout Connection
  ) throws(ClientError) -> Notice? {
    guard secret.count == 0, let keyFile else { return nil }
    return try keyFile.unlock(&connection)
  }
}

extension UnlockOffer.KeyFile {
  /// Reads the file once, and unlocks by it.
  ///
  /// - Throws: ``ClientError/input(_:)`` when it is not there any more.
  fileprivate func unlock(_ connection: inout Connection) throws(ClientError) -> Notice {
    let content: SecretBytes
    do throws(FileError) {
      let descriptor = try Descriptor.open(path: path, size: size)
      defer { Descriptor.close(descriptor) }
      content = try Descriptor.readAll(descriptor, limit: ProtocolLimit.secret).finish()
    } catch { throw .input(error.errno) }
    return try connection.unlock(.keyFile, secret: content)
  }
}

extension VaultAccess {
  /// What an unlock of the vault is offered here; nothing but to a person at a terminal.
  func offer(
    _ kind: Credential, _ hasTerminal: Bool, _ connection: inout Connection
  ) throws(CommandError) -> UnlockOffer {
    var offer = UnlockOffer()
    guard kind == .passcode, hasTerminal else { return offer }
    let slots = try running { () throws(ClientError) -> [Slot] in
      let tries = try connection.status().tries
      guard tries.contains(where: { $0.kind != .passcode }) else { return [] }
      return try connection.slots().all
    }
    let here = slots.filter { $0.facts.flags.contains(.enabled) && $0.facts.availability == .here }
    if let slot = here.first(where: { $0.facts.flags.contains(.tried) }) {
      offer.keyFile = UnlockOffer.KeyFile(
        path: slot.place, size: slot.facts.size, isHeld: slot.facts.flags.contains(.held))
    }
    // With codes of two lengths nobody knows which one is being typed.
    let codes = here.filter { $0.facts.kind == .local }
    if codes.count == 1 { offer.submitLength = Int(clamping: codes[0].facts.size) }
    offer.takesChipCode = here.contains { $0.facts.takesChipCode }
    return offer
  }

  /// Tries the key file by itself, where nobody has to agree to that first.
  ///
  /// - Returns: Whether the vault is unlocked.
  func unlocked(
    by offer: UnlockOffer, _ connection: inout Connection
  ) throws(CommandError) -> Bool {
    guard let file = offer.keyFile, !file.isHeld else { return false }
    do throws(ClientError) {
      let notices = try file.unlock(&connection)
      messages.note("unlocked by the key file " + Diagnostic.shown(file.path))
      note(notices, after: .keyFile)
      return true
    } catch {
      // One that has gone meanwhile is not there.
      if case .input = error { return false }
      guard case .refused = error else { throw .client(error) }
      messages.warn(
        "the key file " + Diagnostic.shown(file.path) + " was tried: "
          + Diagnostic(.client(error)).message)
      return false
    }
  }
}
