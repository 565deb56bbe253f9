// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraHardware
internal import KuraVault
internal import SecureMemory

/// Has `kura-hardware` speak to the TPM, and to security keys: a process for each thing that is wanted, of which nothing is
/// believed.
struct HardwareProgram: SealingChip, SecurityKeys {
  /// How long nothing may be heard of it, in milliseconds: it is ended before.
  private static let patience: Int32 = 70_000

  /// Ends what is asked for with who waits for it.
  private let ward: HardwareWard

  init(wardedBy ward: HardwareWard) { self.ward = ward }

  /// Makes ready to start it and what asks for a finger, as far as they are on this machine; before there is a second
  /// thread.
  static func prepare() {
    let isAny = [(KURA_HARDWARE, "kura-hardware"), (KURA_FINGER, "kura-desktop")].count {
      name($0.0, $0.1)
    }
    if isAny > 0 { _ = kura_helper_prepare() }
  }

  /// - Returns: Whether there is a program of that name where this one comes from.
  private static func name(_ which: Int, _ file: String) -> Bool {
    var room = [CChar](repeating: 0, count: 4_096)
    let count = unsafe kura_program_path(&room, room.count)
    guard count > 0 else { return false }
    let path = room[..<count].map { UInt8(bitPattern: $0) }
    let directories = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
      .dropLast()
    let own = directories.joined(separator: [UInt8(ascii: "/")])
    let above = directories.dropLast().joined(separator: [UInt8(ascii: "/")])
    for place in [Array(own), Array(above) + Array("/libexec/kura".utf8)] {
      let program = String(decoding: place, as: UTF8.self) + "/" + file
      guard unsafe access(program, X_OK) == 0 else { continue }
      unsafe kura_helper_name(Int32(which), program)
      return true
    }
    return false
  }

  func facts() throws(ChipFault) -> ChipFacts {
    switch try ask(.look) {
    case .facts(let facts): return facts
    case .fault(let fault): throw fault
    case .sealed: throw ChipFault(.programFailed)
    case .secret: throw ChipFault(.programFailed)
    case .met: throw ChipFault(.programFailed)
    case .made: throw ChipFault(.programFailed)
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
    case .met: throw ChipFault(.programFailed)
    case .made: throw ChipFault(.programFailed)
    }
  }

  func unseal(
    _ object: ChipObject, code: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    try secret(of: .unseal(UnsealOrder(object, code: try copied(code))))
  }

  private func secret(of wish: consuming HardwareWish) throws(ChipFault) -> SecretBytes {
    switch try ask(wish) {
    case .secret(let secret): return secret
    case .fault(let fault): throw fault
    case .facts: throw ChipFault(.programFailed)
    case .sealed: throw ChipFault(.programFailed)
    case .met: throw ChipFault(.programFailed)
    case .made: throw ChipFault(.programFailed)
    }
  }

  func facts(of credential: KeyCredential?) throws(ChipFault) -> SecurityKeyFacts {
    switch try ask(.meet(credential)) {
    case .met(let facts): return facts
    case .fault(let fault): throw fault
    case .facts: throw ChipFault(.programFailed)
    case .sealed: throw ChipFault(.programFailed)
    case .secret: throw ChipFault(.programFailed)
    case .made: throw ChipFault(.programFailed)
    }
  }

  func enrol(
    salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> EnrolledKey {
    let order = KeyOrder(of: nil, salt: try copied(salt), pin: try copied(pin))
    switch try ask(.touch(order)) {
    case .made(let made):
      return EnrolledKey(made.credential, secret: try copied(made.secret))
    case .fault(let fault): throw fault
    case .facts: throw ChipFault(.programFailed)
    case .sealed: throw ChipFault(.programFailed)
    case .secret: throw ChipFault(.programFailed)
    case .met: throw ChipFault(.programFailed)
    }
  }

  func secret(
    of credential: KeyCredential, salt: borrowing SecretBytes, pin: borrowing SecretBytes
  ) throws(ChipFault) -> SecretBytes {
    try secret(
      of: .touch(KeyOrder(of: credential, salt: try copied(salt), pin: try copied(pin))))
  }

  private func copied(_ secret: borrowing SecretBytes) throws(ChipFault) -> SecretBytes {
    do { return try secret.copy() } catch { throw ChipFault(.failed) }
  }

  private func ask(_ wish: consuming HardwareWish) throws(ChipFault) -> HardwareAnswer {
    guard let message = try? wish.encoded() else { throw ChipFault(.failed) }
    var process: Int32 = -1
    // A TPM forgets by itself who spoke to it; a security key has to be told to blink no longer.
    let descriptor =
      wish.isOfKey
      ? kura_helper_start(Int32(KURA_HARDWARE))
      : unsafe kura_helper_start_held(Int32(KURA_HARDWARE), &process)
    guard descriptor >= 0 else {
      throw ChipFault(descriptor == -ENOENT ? .noProgram : .programFailed)
    }
    defer {
      ward.release()
      close(descriptor)
      if process >= 0 { close(process) }
    }
    guard ward.hold(descriptor, process) else { throw ChipFault(.programFailed) }
    guard HardwarePipe.send(message, to: descriptor),
      let said = HardwarePipe.receive(from: descriptor, patience: Self.patience),
      let answer = try? HardwareWords.answer(said.bytes)
    else { throw ChipFault(.programFailed) }
    return answer
  }
}
