// SPDX-License-Identifier: MIT

internal import CTSS
internal import Glibc
internal import KuraTerms

/// Holds a connection to a TPM 2.0 by libtss2's ESAPI, and whatever was loaded by it, which is taken out again.
@safe final class TPM {
  /// The kernel's device, which shares the TPM among programs.
  private static let device = "/dev/tpmrm0"
  /// What stands before the path of a device.
  private static let scheme = "device:"

  let context: OpaquePointer
  private var transport: OpaquePointer?
  private var loaded: [ESYS_TR] = []

  /// Connects.
  ///
  /// - Parameter place: As libtss2's loader names it; nil for the kernel's device.
  init(at place: String?) throws(ChipFault) {
    let name = place ?? TPM.scheme + TPM.device
    if name.hasPrefix(TPM.scheme) {
      try TPM.check(device: String(name.dropFirst(TPM.scheme.count)))
    }
    var transport: OpaquePointer?
    guard unsafe Tss2_TctiLdr_Initialize(name, &transport) == 0 else { throw ChipFault(.noChip) }
    var context: OpaquePointer?
    let code = unsafe Esys_Initialize(&context, transport, nil)
    guard code == 0, let context = unsafe context else {
      unsafe Tss2_TctiLdr_Finalize(&transport)
      throw ChipFault(.failed, code)
    }
    unsafe (self.context, self.transport) = (context, transport)
  }

  deinit {
    // A TPM without a resource manager has room for three.
    for handle in loaded.reversed() { _ = unsafe Esys_FlushContext(context, handle) }
    var context: OpaquePointer? = unsafe context
    unsafe Esys_Finalize(&context)
    unsafe Tss2_TctiLdr_Finalize(&transport)
  }

  /// Says why a device cannot be had, which libtss2 does not.
  private static func check(device: String) throws(ChipFault) {
    let descriptor = unsafe open(device, O_RDWR | O_CLOEXEC)
    guard descriptor < 0 else {
      close(descriptor)
      return
    }
    switch errno {
    case EACCES, EPERM: throw ChipFault(.denied, group(of: device))
    case EBUSY: throw ChipFault(.busy)
    default: throw ChipFault(.noChip)
    }
  }

  /// The group that may use a device; 0 where none but root's may.
  private static func group(of device: String) -> UInt32 {
    var status = stat()
    guard unsafe stat(device, &status) == 0, status.st_mode & 0o060 == 0o060 else { return 0 }
    return status.st_gid
  }

  /// Takes something in whose end this connection's is.
  func hold(_ handle: ESYS_TR) -> ESYS_TR {
    loaded.append(handle)
    return handle
  }

  /// Takes it out before.
  func drop(_ handle: ESYS_TR) {
    loaded.removeAll { $0 == handle }
    _ = unsafe Esys_FlushContext(context, handle)
  }
}

/// Reads what a call of ESAPI came to.
struct TPMCode {
  let number: TSS2_RC

  init(_ number: TSS2_RC) { self.number = number }

  /// The TPM's number without that of the session, parameter or handle that it is about
  /// (TPM 2.0 Library, part 1, "Response Codes").
  private var plain: TSS2_RC { number & 0x80 != 0 ? number & 0xBF : number }

  var isFine: Bool { number == TSS2_RC(TSS2_RC_SUCCESS) }
  var isWrongCode: Bool { plain == KURA_TPM_AUTH_FAIL }
  var isRefusedPassword: Bool { plain == KURA_TPM_BAD_AUTH || isWrongCode }
  var isLocked: Bool { number == KURA_TPM_LOCKOUT }
  /// What was made by another TPM, or by this one before it was cleared.
  var isStranger: Bool { plain == KURA_TPM_INTEGRITY }

  /// Throws unless it went well.
  func check() throws(ChipFault) {
    guard isFine else { throw ChipFault(.failed, number) }
  }
}

extension TPM {
  /// How it holds against guessing.
  func facts() throws(ChipFault) -> ChipFacts {
    let permanent = try property(KURA_TPM_PERMANENT)
    return ChipFacts(
      failures: try property(KURA_TPM_LOCKOUT_COUNTER),
      mostFailures: try property(KURA_TPM_MAX_AUTH_FAIL),
      interval: try property(KURA_TPM_LOCKOUT_INTERVAL),
      hasLockoutPassword: permanent & UInt32(TPMA_PERMANENT_LOCKOUTAUTHSET) != 0)
  }

  private func property(_ number: UInt32) throws(ChipFault) -> UInt32 {
    var more: TPMI_YES_NO = 0
    var data: UnsafeMutablePointer<TPMS_CAPABILITY_DATA>?
    let none = ESYS_TR(ESYS_TR_NONE)
    try TPMCode(
      unsafe Esys_GetCapability(
        context, none, none, none, TPM2_CAP(TPM2_CAP_TPM_PROPERTIES), number, 1, &more, &data)
    ).check()
    guard let found = unsafe data else { throw ChipFault(.failed) }
    defer { unsafe Esys_Free(found) }
    let list = unsafe found.pointee.data.tpmProperties
    guard list.count == 1, list.tpmProperty.0.property == number else {
      throw ChipFault(.failed)
    }
    return list.tpmProperty.0.value
  }
}
