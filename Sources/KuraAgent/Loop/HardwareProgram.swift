// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraHardware
internal import KuraVault
internal import SecureMemory

/// Has `kura-hardware` speak to the TPM: a process for each thing that is wanted, of which nothing is believed.
struct HardwareProgram: SealingChip {
  /// How long nothing may be heard of it, in milliseconds: it is ended before.
  private static let patience: Int32 = 70_000

  /// Makes ready to start it, where it is on this machine; before there is a second thread.
  static func prepare() {
    var room = [CChar](repeating: 0, count: 4_096)
    let count = unsafe kura_program_path(&room, room.count)
    guard count > 0 else { return }
    let path = room[..<count].map { UInt8(bitPattern: $0) }
    let directories = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropLast()
    let own = directories.joined(separator: [UInt8(ascii: "/")])
    let above = directories.dropLast().joined(separator: [UInt8(ascii: "/")])
    for place in [Array(own), Array(above) + Array("/libexec/kura".utf8)] {
      let program = String(decoding: place, as: UTF8.self) + "/kura-hardware"
      guard unsafe access(program, X_OK) == 0 else { continue }
      _ = unsafe kura_hardware_prepare(program)
      return
    }
  }

  func facts() throws(ChipFault) -> ChipFacts {
    switch try ask(.look) {
    case .facts(let facts): return facts
    case .fault(let fault): throw fault
    case .sealed: throw ChipFault(.programFailed)
    case .secret: throw ChipFault(.programFailed)
    }
  }

  func seal(
    _ secret: borrowing SecretBytes, code: borrowing SecretBytes
  ) throws(ChipFault) -> ChipObject {
    let order = SealOrder(secret: try copied(secret), code: try copied(code))
    switch try ask(.seal(order)) {
    case .sealed(let object): return object
    case .fault(let fault): throw fault
    case .facts: throw ChipFault(.programFailed)
    case .secret: throw ChipFault(.programFailed)
    }
  }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    switch try ask(.unseal(UnsealOrder(object, code: try copied(code)))) {
    case .secret(let secret): return secret
    case .fault(let fault): throw fault
    case .facts: throw ChipFault(.programFailed)
    case .sealed: throw ChipFault(.programFailed)
    }
  }

  private func copied(_ secret: borrowing SecretBytes) throws(ChipFault) -> SecretBytes {
    do { return try secret.copy() } catch { throw ChipFault(.failed) }
  }

  private func ask(_ wish: consuming HardwareWish) throws(ChipFault) -> HardwareAnswer {
    guard let message = try? wish.encoded() else { throw ChipFault(.failed) }
    let descriptor = kura_hardware_start()
    guard descriptor >= 0 else {
      throw ChipFault(descriptor == -ENOENT ? .noProgram : .programFailed)
    }
    defer { close(descriptor) }
    guard HardwarePipe.send(message, to: descriptor),
      let said = HardwarePipe.receive(from: descriptor, patience: Self.patience),
      let answer = try? HardwareWords.answer(said.bytes)
    else { throw ChipFault(.programFailed) }
    return answer
  }
}
