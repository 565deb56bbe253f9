// SPDX-License-Identifier: MIT

internal import KuraFormat
internal import KuraStorage

/// Says what this machine does by itself with a slot.
public struct SlotManner: OptionSet, Sendable {
  /// The bits.
  public let rawValue: UInt8
  /// Takes all bits as they are.
  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A key file is tried where it was, before a person is asked.
  public static let tried = SlotManner(rawValue: 1)
  /// A code is sent at its last character, without Enter.
  public static let submitted = SlotManner(rawValue: 2)
}

extension PreparedSlot {
  /// Where this machine is to look for the key file.
  func keyFilePlace(_ id: SlotID) throws(VaultError) -> KeyFilePlace {
    try fromFormat(
      .slot, KeyFilePlace(slot: id, size: UInt64(typedCount), path: naming.place))
  }
}

extension UnlockedVault {
  /// Has this machine try a key file by itself whose slot is there already.
  ///
  /// - Throws: ``VaultError/slotNotFound(_:)``, and those of the file.
  public func remember(
    keyFile: borrowing PreparedSlot, ofSlot number: UInt8
  ) throws(VaultError) {
    guard let id = trust.slots.first(where: { $0.number == number })?.id else {
      throw .slotNotFound(number)
    }
    try KeyFilePlaces(stateDirectory: options.stateDirectory)
      .remember(keyFile.keyFilePlace(id))
  }
}
