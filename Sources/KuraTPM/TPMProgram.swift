// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraHardware
internal import KuraTerms
internal import SecureMemory

/// Runs `kura-hardware`: does one thing that the agent wishes for, and answers.
public enum TPMProgram {
  /// Names the TPM for libtss2's loader, in the place of the kernel's device.
  static let variable = "KURA_TCTI"

  /// Runs the program to its end.
  ///
  /// - Returns: The exit status: 0 where something was answered.
  public static func run() -> Int32 {
    ProcessHardening.apply()
    // What goes wrong is answered; libtss2 would write its own account among ours.
    unsafe setenv("TSS2_LOG", "all+none", 1)
    guard let message = HardwarePipe.receive(from: 0), let answer = try? answer(to: message),
      let bytes = try? answer.encoded(), HardwarePipe.send(bytes, to: 0)
    else { return 1 }
    return 0
  }

  private static func answer(
    to message: borrowing SecretBytes
  ) throws(HardwareWordsError) -> HardwareAnswer {
    let wish = try HardwareWords.wish(message.bytes)
    do throws(ChipFault) {
      let place = unsafe getenv(variable).map { unsafe String(cString: $0) }
      let chip = try TPM(at: place)
      switch wish {
      case .look: return .facts(try chip.facts())
      case .seal(let order): return .sealed(try chip.seal(order.secret, code: order.code))
      case .unseal(let order):
        let secret = try chip.unseal(order.object, code: order.code)
        guard secret.count == HardwareWords.secretByteCount else { throw ChipFault(.other) }
        return .secret(secret)
      }
    } catch { return .fault(error) }
  }
}
