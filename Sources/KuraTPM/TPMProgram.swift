// SPDX-License-Identifier: MIT

internal import Glibc
package import KuraHardware
package import KuraTerms
internal import SecureMemory

/// Does one thing that the agent wishes of a TPM.
package enum TPMProgram {
  /// Names the TPM for libtss2's loader, in the place of the kernel's device.
  private static let variable = "KURA_TCTI"

  /// Does it.
  package static func answer(
    to wish: consuming HardwareWish
  ) throws(ChipFault) -> HardwareAnswer {
    // What goes wrong is answered; libtss2 would write its own account among ours.
    unsafe setenv("TSS2_LOG", "all+none", 1)
    let place = unsafe getenv(variable).map { unsafe String(cString: $0) }
    let chip = try TPM(at: place)
    switch consume wish {
    case .look: return .facts(try chip.facts())
    case .seal(let order): return .sealed(try chip.seal(order.secret, code: order.code))
    case .unseal(let order):
      let secret = try chip.unseal(order.object, code: order.code)
      guard secret.count == HardwareWords.secretByteCount else { throw ChipFault(.other) }
      return .secret(secret)
    case .meet: throw ChipFault(.failed)
    case .touch: throw ChipFault(.failed)
    }
  }
}
