// SPDX-License-Identifier: MIT

internal import CTSS
internal import Glibc
internal import KuraTerms
internal import SecureMemory

extension TPM {
  /// Has the TPM keep a secret.
  ///
  /// - Parameters:
  ///   - secret: At most 64 bytes.
  ///   - code: What it gives it back for; each wrong one counts for the whole TPM. Without bytes nothing is asked for.
  func seal(_ secret: borrowing SecretBytes, code: borrowing SecretBytes) throws(ChipFault)
    -> ChipObject
  {
    let key = try storageKey()
    let session = try session(saltedTo: key)
    var sensitive = TPM2B_SENSITIVE_CREATE()
    defer { unsafe explicit_bzero(&sensitive, MemoryLayout<TPM2B_SENSITIVE_CREATE>.size) }
    sensitive.sensitive.userAuth.size = UInt16(code.count)
    fill(&sensitive.sensitive.userAuth.buffer, with: code)
    sensitive.sensitive.data.size = UInt16(secret.count)
    fill(&sensitive.sensitive.data.buffer, with: secret)
    var template = TPM2B_PUBLIC.sealed(takesCode: code.count > 0)
    var (outside, registers) = (TPM2B_DATA(), TPML_PCR_SELECTION())
    var privateArea: UnsafeMutablePointer<TPM2B_PRIVATE>?
    var publicArea: UnsafeMutablePointer<TPM2B_PUBLIC>?
    let none = ESYS_TR(ESYS_TR_NONE)
    try TPMCode(
      unsafe Esys_Create(
        context, key.handle, session, none, none, &sensitive, &template, &outside, &registers,
        &privateArea, &publicArea, nil, nil, nil)
    ).check()
    guard let privateArea = unsafe privateArea, let publicArea = unsafe publicArea else {
      throw ChipFault(.failed)
    }
    defer {
      unsafe Esys_Free(privateArea)
      unsafe Esys_Free(publicArea)
    }
    let object = ChipObject(
      storageKey: key.name,
      publicArea: try unsafe marshalled {
        unsafe Tss2_MU_TPM2B_PUBLIC_Marshal(publicArea, $0, $1, &$2)
      },
      privateArea: try unsafe marshalled {
        unsafe Tss2_MU_TPM2B_PRIVATE_Marshal(privateArea, $0, $1, &$2)
      })
    guard let object else { throw ChipFault(.failed) }
    return object
  }

  /// Has it give a secret back; nothing is tried where few tries are left, or where it is another TPM.
  func unseal(_ object: ChipObject, code: borrowing SecretBytes) throws(ChipFault) -> SecretBytes {
    if code.count > 0 { try checkTries() }
    let key = try storageKey(named: object.storageKey)
    let session = try session(saltedTo: key)
    let handle = try load(object, below: key, session)
    var auth = TPM2B_AUTH()
    defer { unsafe explicit_bzero(&auth, MemoryLayout<TPM2B_AUTH>.size) }
    auth.size = UInt16(code.count)
    fill(&auth.buffer, with: code)
    try TPMCode(unsafe Esys_TR_SetAuth(context, handle, &auth)).check()
    var data: UnsafeMutablePointer<TPM2B_SENSITIVE_DATA>?
    let none = ESYS_TR(ESYS_TR_NONE)
    let answer = TPMCode(unsafe Esys_Unseal(context, handle, session, none, none, &data))
    if answer.isLocked { throw ChipFault(.lockedOut, max(try facts().wait, 1)) }
    if answer.isWrongCode { throw ChipFault(.wrong) }
    try answer.check()
    guard let found = unsafe data else { throw ChipFault(.failed) }
    defer {
      unsafe explicit_bzero(found, MemoryLayout<TPM2B_SENSITIVE_DATA>.size)
      unsafe Esys_Free(found)
    }
    let count = unsafe Int(found.pointee.size)
    guard var secret = try? SecretBytes(count: count) else { throw ChipFault(.failed) }
    unsafe withUnsafeBytes(of: &found.pointee.buffer) { bytes in
      let part = unsafe UnsafeRawBufferPointer(rebasing: bytes.prefix(count))
      unsafe secret.withUnsafeMutableBytes { unsafe $0.copyMemory(from: part) }
    }
    return secret
  }

  private func checkTries() throws(ChipFault) {
    let facts = try facts()
    guard facts.mayTry else { throw ChipFault(.lockedOut, max(facts.wait, 1)) }
  }

  /// A session whose key only the TPM with the storage key can find out, and under which what is secret is sealed on
  /// its way.
  private func session(saltedTo key: StorageKey) throws(ChipFault) -> ESYS_TR {
    var cipher = TPMT_SYM_DEF()
    cipher.algorithm = TPMI_ALG_SYM(TPM2_ALG_AES)
    unsafe cipher.keyBits.aes = 128
    unsafe cipher.mode.aes = TPMI_ALG_SYM_MODE(TPM2_ALG_CFB)
    var handle: ESYS_TR = 0
    let none = ESYS_TR(ESYS_TR_NONE)
    try TPMCode(
      unsafe Esys_StartAuthSession(
        context, key.handle, none, none, none, none, nil, TPM2_SE(TPM2_SE_HMAC), &cipher,
        TPMI_ALG_HASH(TPM2_ALG_SHA256), &handle)
    ).check()
    let session = hold(handle)
    let attributes =
      UInt32(TPMA_SESSION_DECRYPT) | UInt32(TPMA_SESSION_ENCRYPT)
      | UInt32(TPMA_SESSION_CONTINUESESSION)
    try TPMCode(
      unsafe Esys_TRSess_SetAttributes(context, session, TPMA_SESSION(attributes), 0xFF)
    ).check()
    return session
  }

  private func load(
    _ object: ChipObject, below key: StorageKey, _ session: ESYS_TR
  ) throws(ChipFault) -> ESYS_TR {
    var (privateArea, publicArea) = (TPM2B_PRIVATE(), TPM2B_PUBLIC())
    var (first, second) = (0, 0)
    let isRead =
      unsafe Tss2_MU_TPM2B_PRIVATE_Unmarshal(
        object.privateArea, object.privateArea.count, &first, &privateArea) == 0
      && Tss2_MU_TPM2B_PUBLIC_Unmarshal(
        object.publicArea, object.publicArea.count, &second, &publicArea) == 0
    // What is sealed must be what this was made as: another kind of object might sign or decrypt.
    guard isRead, publicArea.publicArea.type == TPMI_ALG_PUBLIC(TPM2_ALG_KEYEDHASH) else {
      throw ChipFault(.other)
    }
    var handle: ESYS_TR = 0
    let none = ESYS_TR(ESYS_TR_NONE)
    let code = TPMCode(
      unsafe Esys_Load(
        context, key.handle, session, none, none, &privateArea, &publicArea, &handle))
    if code.isStranger { throw ChipFault(.other) }
    try code.check()
    return hold(handle)
  }
}

/// Copies a secret into one of C's arrays.
private func fill<Room>(_ room: inout Room, with secret: borrowing SecretBytes) {
  unsafe withUnsafeMutableBytes(of: &room) { room in
    precondition(secret.count <= room.count, "more than the TPM takes")
    unsafe secret.withUnsafeBytes { unsafe room.copyMemory(from: $0) }
  }
}

/// The bytes of what libtss2 writes.
private func marshalled(
  _ write: (UnsafeMutablePointer<UInt8>?, Int, inout Int) -> TSS2_RC
) throws(ChipFault) -> [UInt8] {
  var bytes = [UInt8](repeating: 0, count: ChipObject.longestPart)
  var count = 0
  let code = unsafe bytes.withUnsafeMutableBufferPointer { room in
    unsafe write(room.baseAddress, room.count, &count)
  }
  guard code == 0 else { throw ChipFault(.failed, code) }
  return Array(bytes.prefix(count))
}

extension TPM2B_PUBLIC {
  /// Something sealed that this TPM alone opens; where it takes a code, its wrong ones are counted.
  fileprivate static func sealed(takesCode: Bool) -> TPM2B_PUBLIC {
    var object = TPM2B_PUBLIC()
    object.publicArea.type = TPMI_ALG_PUBLIC(TPM2_ALG_KEYEDHASH)
    object.publicArea.nameAlg = TPMI_ALG_HASH(TPM2_ALG_SHA256)
    object.publicArea.objectAttributes =
      UInt32(TPMA_OBJECT_FIXEDTPM) | UInt32(TPMA_OBJECT_FIXEDPARENT)
      | UInt32(TPMA_OBJECT_USERWITHAUTH) | (takesCode ? 0 : UInt32(TPMA_OBJECT_NODA))
    unsafe object.publicArea.parameters.keyedHashDetail.scheme.scheme = TPMI_ALG_KEYEDHASH_SCHEME(
      TPM2_ALG_NULL)
    return object
  }
}
