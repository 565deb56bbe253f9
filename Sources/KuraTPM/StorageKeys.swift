// SPDX-License-Identifier: MIT

internal import CTSS
internal import KuraTerms

/// Is the key of a TPM below which objects are made: it says by its name which TPM that is.
struct StorageKey {
  let handle: ESYS_TR
  let name: [UInt8]
}

extension TPM {
  /// Where the TCG has systems keep it ("TPM 2.0 Provisioning Guidance", 7.8).
  private static let usual: TPM2_HANDLE = 0x8100_0001

  /// The key to make an object below.
  func storageKey() throws(ChipFault) -> StorageKey {
    if let key = usualKey() { return key }
    if let key = try madeKey(isElliptic: true) { return key }
    guard let key = try madeKey(isElliptic: false) else { throw ChipFault(.failed) }
    return key
  }

  /// The key of a name; one with another name is never used.
  func storageKey(named name: [UInt8]) throws(ChipFault) -> StorageKey {
    if let key = usualKey(), key.name == name { return key }
    for isElliptic in [true, false] {
      guard let key = try madeKey(isElliptic: isElliptic) else { continue }
      if key.name == name { return key }
      drop(key.handle)
    }
    throw ChipFault(.other)
  }

  private func usualKey() -> StorageKey? {
    var handle: ESYS_TR = 0
    let none = ESYS_TR(ESYS_TR_NONE)
    // ESAPI computes the name of what it reads, so that none can be claimed.
    guard
      unsafe Esys_TR_FromTPMPublic(context, TPM.usual, none, none, none, &handle) == 0,
      isStorageKey(handle)
    else { return nil }
    return try? named(handle)
  }

  /// Whether something stands there that other objects can be made below.
  private func isStorageKey(_ handle: ESYS_TR) -> Bool {
    var area: UnsafeMutablePointer<TPM2B_PUBLIC>?
    let none = ESYS_TR(ESYS_TR_NONE)
    guard unsafe Esys_ReadPublic(context, handle, none, none, none, &area, nil, nil) == 0,
      let found = unsafe area
    else { return false }
    defer { unsafe Esys_Free(found) }
    let wanted = UInt32(TPMA_OBJECT_RESTRICTED) | UInt32(TPMA_OBJECT_DECRYPT)
    return unsafe found.pointee.publicArea.objectAttributes & wanted == wanted
  }

  /// The same key each time, made of the seed that the TPM has for its owner; nil where it has none of that kind.
  private func madeKey(isElliptic: Bool) throws(ChipFault) -> StorageKey? {
    var template = TPM2B_PUBLIC.storageKey(isElliptic: isElliptic)
    var (sensitive, outside) = (TPM2B_SENSITIVE_CREATE(), TPM2B_DATA())
    var registers = TPML_PCR_SELECTION()
    var handle: ESYS_TR = 0
    let none = ESYS_TR(ESYS_TR_NONE)
    let code = TPMCode(
      unsafe Esys_CreatePrimary(
        context, ESYS_TR(ESYS_TR_RH_OWNER), ESYS_TR(ESYS_TR_PASSWORD), none, none, &sensitive,
        &template, &outside, &registers, &handle, nil, nil, nil, nil))
    if code.isRefusedPassword { throw ChipFault(.owned) }
    guard code.isFine else { return nil }
    return try named(hold(handle))
  }

  private func named(_ handle: ESYS_TR) throws(ChipFault) -> StorageKey {
    var name: UnsafeMutablePointer<TPM2B_NAME>?
    try TPMCode(unsafe Esys_TR_GetName(context, handle, &name)).check()
    guard let found = unsafe name else { throw ChipFault(.failed) }
    defer { unsafe Esys_Free(found) }
    let count = unsafe Int(found.pointee.size)
    let bytes = unsafe withUnsafeBytes(of: &found.pointee.name) { unsafe Array($0.prefix(count)) }
    return StorageKey(handle: handle, name: bytes)
  }
}

extension TPM2B_PUBLIC {
  /// The TCG's template H-1 for a storage key, of P-256 or of RSA with 2,048 bits
  /// ("EK Credential Profile" and "Provisioning Guidance": an SRK without policy).
  fileprivate static func storageKey(isElliptic: Bool) -> TPM2B_PUBLIC {
    var key = TPM2B_PUBLIC()
    key.publicArea.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
    key.publicArea.objectAttributes =
      UInt32(TPMA_OBJECT_FIXEDTPM) | UInt32(TPMA_OBJECT_FIXEDPARENT)
      | UInt32(TPMA_OBJECT_SENSITIVEDATAORIGIN) | UInt32(TPMA_OBJECT_USERWITHAUTH)
      | UInt32(TPMA_OBJECT_NODA) | UInt32(TPMA_OBJECT_RESTRICTED) | UInt32(TPMA_OBJECT_DECRYPT)
    var cipher = TPMT_SYM_DEF_OBJECT()
    cipher.algorithm = TPMI_ALG_SYM_OBJECT(TPM2_ALG_AES)
    unsafe cipher.keyBits.aes = 128
    unsafe cipher.mode.aes = TPMI_ALG_SYM_MODE(TPM2_ALG_CFB)
    if isElliptic {
      key.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_ECC)
      var detail = TPMS_ECC_PARMS()
      detail.symmetric = cipher
      detail.scheme.scheme = TPMI_ALG_ECC_SCHEME(TPM2_ALG_NULL)
      detail.curveID = TPMI_ECC_CURVE(TPM2_ECC_NIST_P256)
      detail.kdf.scheme = TPMI_ALG_KDF(TPM2_ALG_NULL)
      unsafe key.publicArea.parameters.eccDetail = detail
    } else {
      key.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_RSA)
      var detail = TPMS_RSA_PARMS()
      detail.symmetric = cipher
      detail.scheme.scheme = TPMI_ALG_RSA_SCHEME(TPM2_ALG_NULL)
      detail.keyBits = 2_048
      unsafe key.publicArea.parameters.rsaDetail = detail
    }
    return key
  }
}
