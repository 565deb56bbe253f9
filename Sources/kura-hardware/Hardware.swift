// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraFIDO
internal import KuraHardware
internal import KuraTPM
internal import KuraTerms
internal import SecureMemory

/// Speaks to the TPM of this machine and to security keys for the agent: one wish by descriptor 0, one answer there, and it
/// ends; with 0 where something was answered.
@main
struct Hardware {
  static func main() {
    ProcessHardening.apply()
    guard let message = HardwarePipe.receive(from: 0), let answer = try? answer(to: message),
      let bytes = try? answer.encoded(), HardwarePipe.send(bytes, to: 0)
    else { exit(1) }
    exit(0)
  }

  private static func answer(
    to message: borrowing SecretBytes
  ) throws(HardwareWordsError) -> HardwareAnswer {
    let wish = try HardwareWords.wish(message.bytes)
    do throws(ChipFault) {
      return wish.isOfKey
        ? try KeyProgram.answer(to: wish) : try TPMProgram.answer(to: wish)
    } catch { return .fault(error) }
  }
}
