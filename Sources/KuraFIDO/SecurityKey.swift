// SPDX-License-Identifier: MIT

internal import CFIDO2
internal import Glibc
internal import KuraHardware
internal import KuraTerms
internal import SecureMemory

/// Holds a security key that is plugged in, by libfido2, for what it is asked for.
@safe final class SecurityKey {
  /// For what a key makes credentials; no page of the web can claim it.
  static let party = "kura:vault"
  /// How long a touch is waited for, in milliseconds: two of them, before the program is ended.
  static let patience: Int32 = 25_000
  /// How long anything else is waited for.
  private static let shortPatience: Int32 = 3_000

  let device: OpaquePointer
  private let watcher: KeyWatch
  private let information: OpaquePointer?

  /// Opens the key at a place; nil where it cannot be opened, or is older than FIDO2.
  init?(at path: String) {
    guard let device = unsafe fido_dev_new() else { return nil }
    unsafe self.device = device
    watcher = unsafe KeyWatch(device)
    _ = unsafe fido_dev_set_timeout(device, Self.shortPatience)
    let isOpen = unsafe fido_dev_open(device, path) == FIDO_OK
    var information = unsafe fido_cbor_info_new()
    let isKnown =
      unsafe isOpen && fido_dev_is_fido2(device)
      && fido_dev_get_cbor_info(device, information) == FIDO_OK
    if !isKnown { unsafe fido_cbor_info_free(&information) }
    unsafe self.information = information
    guard isKnown else { return nil }
  }

  deinit {
    watcher.end()
    var (device, information): (OpaquePointer?, OpaquePointer?) = unsafe (device, information)
    unsafe fido_cbor_info_free(&information)
    _ = unsafe fido_dev_close(device)
    unsafe fido_dev_free(&device)
  }

  /// Ends what is asked of it once nobody waits for that.
  func watch() { watcher.begin() }

  /// Whether it keeps a secret of each credential, of which it gives a hash with a salt.
  private var hasSecrets: Bool {
    let count = unsafe fido_cbor_info_extensions_len(information)
    guard let names = unsafe fido_cbor_info_extensions_ptr(information) else { return false }
    for index in 0..<count {
      guard let name = unsafe names[index] else { continue }
      if unsafe String(cString: name) == "hmac-secret" { return true }
    }
    return false
  }

  private var hasPIN: Bool { unsafe fido_dev_has_pin(device) }
  private var verifies: Bool { unsafe fido_dev_has_uv(device) }

  /// What it asks for; for nothing that it has made it is what a new credential takes.
  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts {
    if credential == nil, !hasSecrets { throw ChipFault(.noSecrets) }
    let takesPIN = hasPIN && !verifies && credential?.isVerified != false
    return SecurityKeyFacts(
      takesPIN: takesPIN, verifies: verifies && credential?.isVerified != false,
      pinTries: takesPIN ? UInt8(clamping: try pinTries()) : 0)
  }

  private func pinTries() throws(ChipFault) -> Int32 {
    var tries: Int32 = 0
    let code = unsafe fido_dev_get_retry_count(device, &tries)
    guard code == FIDO_OK else { throw ChipFault(ofKey: code) }
    return tries
  }

  /// Whether it has made a credential, which it tells without a touch.
  func knows(_ credential: KeyCredential) -> Bool {
    guard let request = KeyRequest(of: credential) else { return false }
    return unsafe fido_assert_set_up(request.assertion, FIDO_OPT_FALSE) == FIDO_OK
      && fido_dev_get_assert(device, request.assertion, nil) == FIDO_OK
  }

  /// Runs what takes a touch, and perhaps the PIN.
  ///
  /// - Parameters:
  ///   - isVerified: Whether it is to make sure who touches it.
  ///   - body: Given the PIN, or nil where it verifies by itself or not at all.
  private func touched(
    _ isVerified: Bool, _ pin: borrowing SecretBytes, _ body: (UnsafePointer<CChar>?) -> Int32
  ) throws(ChipFault) {
    let code: Int32
    let begin = KeyWatch.now
    _ = unsafe fido_dev_set_timeout(device, Self.patience)
    if isVerified, pin.count > 0 {
      guard hasPIN else { throw ChipFault(.noPIN) }
      let tries = try pinTries()
      // The last try, and with it all that the key holds, is its owner's to spend.
      guard tries > 1 else { throw ChipFault(.lastPIN, UInt32(max(tries, 0))) }
      guard var text = try? SecretBytes(count: pin.count + 1) else { throw ChipFault(.failed) }
      unsafe text.withUnsafeMutableBytes { room in
        unsafe pin.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
      }
      code = unsafe text.withUnsafeBytes {
        unsafe body($0.bindMemory(to: CChar.self).baseAddress)
      }
      if code == FIDO_ERR_PIN_INVALID {
        throw ChipFault(.wrongPIN, UInt32(max((try? pinTries()) ?? 0, 0)))
      }
    } else {
      if isVerified, !verifies { throw ChipFault(hasPIN ? .pinNeeded : .otherManner) }
      code = body(nil)
    }
    guard code != FIDO_OK else { return }
    if code == FIDO_ERR_PIN_REQUIRED { throw ChipFault(hasPIN ? .otherManner : .noPIN) }
    // It blinks no longer for somebody who is not there.
    if code == FIDO_ERR_RX, KeyWatch.now - begin >= UInt64(Self.patience) {
      _ = unsafe fido_dev_cancel(device)
      throw ChipFault(.untouched)
    }
    throw ChipFault(ofKey: code)
  }
}

// MARK: - Secrets

extension SecurityKey {
  /// Makes a credential, and gives its secret: two touches.
  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> MadeCredential {
    guard hasSecrets else { throw ChipFault(.noSecrets) }
    let isVerified = verifies || hasPIN
    if !isVerified, pin.count > 0 { throw ChipFault(.noPIN) }
    var made = unsafe fido_cred_new()
    defer { unsafe fido_cred_free(&made) }
    let digest = [UInt8](repeating: 0, count: 32)
    let isSet =
      unsafe fido_cred_set_type(made, COSE_ES256) == FIDO_OK
      && fido_cred_set_clientdata_hash(made, digest, digest.count) == FIDO_OK
      && fido_cred_set_rp(made, Self.party, "Kura") == FIDO_OK
      && fido_cred_set_user(made, digest, 1, "vault", nil, nil) == FIDO_OK
      && fido_cred_set_extensions(made, FIDO_EXT_HMAC_SECRET) == FIDO_OK
    guard isSet else { throw ChipFault(.failed) }
    if isVerified, pin.count == 0 { _ = unsafe fido_cred_set_uv(made, FIDO_OPT_TRUE) }
    try unsafe touched(isVerified, pin) { unsafe fido_dev_make_cred(device, made, $0) }
    let count = unsafe fido_cred_id_len(made)
    guard count > 0, let bytes = unsafe fido_cred_id_ptr(made),
      let credential = unsafe KeyCredential(
        id: Array(UnsafeBufferPointer(start: bytes, count: count)), isVerified: isVerified)
    else { throw ChipFault(.noSecrets) }
    return MadeCredential(credential, secret: try secret(of: credential, salt: salt, pin: pin))
  }

  /// Gives the secret of a credential for a salt: one touch.
  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    guard let request = KeyRequest(of: credential) else { throw ChipFault(.failed) }
    let assertion = unsafe request.assertion
    let isSet =
      unsafe fido_assert_set_extensions(assertion, FIDO_EXT_HMAC_SECRET) == FIDO_OK
      && salt.withUnsafeBytes {
        unsafe fido_assert_set_hmac_salt(
          assertion, $0.bindMemory(to: UInt8.self).baseAddress, $0.count)
      } == FIDO_OK && fido_assert_set_up(assertion, FIDO_OPT_TRUE) == FIDO_OK
    guard isSet else { throw ChipFault(.failed) }
    if credential.isVerified, pin.count == 0 {
      _ = unsafe fido_assert_set_uv(assertion, FIDO_OPT_TRUE)
    }
    try unsafe touched(credential.isVerified, pin) {
      unsafe fido_dev_get_assert(device, assertion, $0)
    }
    let wasVerified = unsafe fido_assert_flags(assertion, 0) & 4 != 0
    guard wasVerified == credential.isVerified else { throw ChipFault(.otherManner) }
    let count = unsafe fido_assert_hmac_secret_len(assertion, 0)
    guard count == 32, let bytes = unsafe fido_assert_hmac_secret_ptr(assertion, 0),
      var secret = try? SecretBytes(count: count)
    else { throw ChipFault(.noSecrets) }
    unsafe secret.withUnsafeMutableBytes {
      unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: bytes, count: count))
    }
    return secret
  }
}

/// Holds what libfido2 asks a key with; its answer is wiped with it.
@safe private final class KeyRequest {
  let assertion: OpaquePointer

  init?(of credential: KeyCredential) {
    guard let made = unsafe fido_assert_new() else { return nil }
    unsafe assertion = made
    // Nobody looks at what the key signs: that its secret opens the slot is the proof.
    let digest = [UInt8](repeating: 0, count: 32)
    let isSet =
      unsafe fido_assert_set_rp(made, SecurityKey.party) == FIDO_OK
      && fido_assert_set_clientdata_hash(made, digest, digest.count) == FIDO_OK
      && fido_assert_allow_cred(made, credential.id, credential.id.count) == FIDO_OK
    guard isSet else { return nil }
  }

  deinit {
    var made: OpaquePointer? = unsafe assertion
    unsafe fido_assert_free(&made)
  }
}

extension ChipFault {
  /// What a call of libfido2 came to that went wrong.
  fileprivate init(ofKey code: Int32) {
    switch code {
    case FIDO_ERR_PIN_BLOCKED: self.init(.lastPIN)
    case FIDO_ERR_PIN_AUTH_BLOCKED: self.init(.pinPaused)
    case FIDO_ERR_PIN_NOT_SET: self.init(.noPIN)
    case FIDO_ERR_NO_CREDENTIALS, FIDO_ERR_INVALID_CREDENTIAL: self.init(.otherKey)
    case FIDO_ERR_OPERATION_DENIED, FIDO_ERR_KEEPALIVE_CANCEL: self.init(.declined)
    case FIDO_ERR_USER_ACTION_TIMEOUT, FIDO_ERR_ACTION_TIMEOUT: self.init(.untouched)
    case FIDO_ERR_UV_BLOCKED, FIDO_ERR_UV_INVALID: self.init(.unverified)
    case FIDO_ERR_TX, FIDO_ERR_RX: self.init(.keyGone)
    default: self.init(.keyFailed, UInt32(bitPattern: code))
    }
  }
}
