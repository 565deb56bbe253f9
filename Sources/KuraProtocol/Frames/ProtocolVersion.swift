// SPDX-License-Identifier: MIT

/// The versions of the agent protocol that this program speaks.
public enum ProtocolVersion {
  /// The version a client asks for and an agent answers with.
  public static let current: UInt16 = 1

  /// The oldest version an agent still answers.
  public static let oldest: UInt16 = 1

  /// The four bytes a client's hello begins with: `KURA`.
  public static let magic: UInt32 = 0x4152_554B

  /// Whether an agent of this program can serve a client that asks for `version`.
  public static func isSpoken(_ version: UInt16) -> Bool {
    version >= oldest && version <= current
  }
}

/// The lengths that both sides hold each other to, in bytes.
public enum ProtocolLimit {
  /// The longest frame body, type byte included.
  public static let frame = 1_048_576

  /// The longest body of a client's hello, type byte included.
  public static let hello = 8_192

  /// The longest value that travels inside a request or a reply; a longer one is streamed.
  public static let inlineValue = 65_536

  /// The most value bytes in one data frame.
  public static let chunk = 65_536

  /// The longest vault path in a hello.
  public static let path = 4_096

  /// The longest terminal name in a hello.
  public static let terminal = 128

  /// The longest item name: as it arrives, before normalisation.
  public static let name = 1_024

  /// The longest passcode, recovery key or key file in a request.
  public static let secret = 65_535

  /// The most attributes in one request.
  public static let attributes = 1_024

  /// The most that a new machine is offered to begin a vault with.
  public static let offers = 8

  /// The most items in one grant.
  public static let granted = 256

  /// The most items that the owner is asked for at once.
  public static let asked = 20

  /// The most programs that ask for that together.
  public static let askers = 20

  /// The longest reason of a grant.
  public static let reason = 512

  /// How long a grant lasts at most, in ms.
  public static let grantTime: UInt64 = 86_400_000

  /// The most items in one request.
  public static let batch = 16_384

  /// The most items of requests that are stored as a whole.
  public static let wholeBatch = 262_144

  /// The most bytes of them.
  public static let wholeBatchBytes = 67_108_864

  /// The most bytes of a file of a store in one frame.
  public static let storePiece = 262_144

  /// The longest file of a store.
  public static let storeFile = 4_194_304

  /// The longest name of a file of a store.
  public static let storeName = 128

  /// The most names that are listed below one in a store.
  public static let storeNames = 131_072

  /// The most devices that share a vault, and that did.
  public static let devices = 1_024

  /// The most of what is told of one meeting with a store.
  public static let news = 4_096

  /// The longest text that items are searched for.
  public static let searchText = 1_024
}
