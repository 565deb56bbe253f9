// SPDX-License-Identifier: MIT

internal import CFIDO2
internal import Glibc
package import KuraHardware
package import KuraTerms
internal import SecureMemory

/// Does one thing that the agent wishes of a security key.
package enum KeyProgram {
  /// Names the keys, by their paths and with colons between them, in the place of those that are plugged in.
  private static let variable = "KURA_FIDO2"
  /// More than anybody plugs in.
  private static let most = 16

  /// Does it.
  package static func answer(
    to wish: consuming HardwareWish
  ) throws(ChipFault) -> HardwareAnswer {
    fido_init(0)
    switch consume wish {
    case .meet(let credential):
      return .met(try key(for: credential).facts(of: credential))
    case .touch(let order):
      let key = try key(for: order.credential)
      key.watch()
      guard let credential = order.credential else {
        return .made(try key.enrol(salt: order.salt, pin: order.pin))
      }
      return .secret(try key.secret(of: credential, salt: order.salt, pin: order.pin))
    case .look: throw ChipFault(.failed)
    case .seal: throw ChipFault(.failed)
    case .unseal: throw ChipFault(.failed)
    }
  }

  /// The key that has made a credential; for none, the one that is plugged in.
  private static func key(for credential: KeyCredential?) throws(ChipFault) -> SecurityKey {
    let keys = places().compactMap { SecurityKey(at: $0) }
    guard !keys.isEmpty else { throw missing }
    guard let credential else {
      guard keys.count == 1 else { throw ChipFault(.severalKeys) }
      return keys[0]
    }
    guard let key = keys.first(where: { $0.knows(credential) }) else {
      throw ChipFault(.otherKey)
    }
    return key
  }

  /// Why there is none. libfido2 does not list what it cannot open.
  private static var missing: ChipFault {
    let isNamed = unsafe getenv(variable) != nil
    guard !isNamed, let denied = PluggedKeys().denied else { return ChipFault(.noKey) }
    return ChipFault(.keyDenied, denied)
  }

  private static func places() -> [String] {
    if let named = unsafe getenv(variable) {
      return unsafe String(cString: named).split(separator: ":").map { String($0) }
    }
    var list = unsafe fido_dev_info_new(most)
    defer { unsafe fido_dev_info_free(&list, most) }
    var count = 0
    guard unsafe fido_dev_info_manifest(list, most, &count) == FIDO_OK else { return [] }
    return (0..<count).compactMap { index in
      guard let path = unsafe fido_dev_info_path(fido_dev_info_ptr(list, index)) else {
        return nil
      }
      return unsafe String(cString: path)
    }
  }
}
