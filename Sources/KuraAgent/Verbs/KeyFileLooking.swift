// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraVault

extension KeyFileLook {
  /// How long an answer is waited for, in ms: everybody else waits with who asks.
  private static let patience: Int32 = 200

  /// Looks what stands at a path; nil where its file system does not answer, or has not answered the last time yet.
  static func soon(at path: [UInt8]) -> KeyFileLook? {
    let terminated = path.map { CChar(bitPattern: $0) } + [0]
    var look = kura_look()
    guard unsafe kura_look_at(terminated, patience, &look) == 0 else { return nil }
    return KeyFileLook(isReadable: look.is_readable != 0, size: UInt64(exactly: look.size))
  }
}
