// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Is what bubblewrap starts in a room: it says that the room stands, takes the terminal, and becomes the command.
enum RoomEntry {
  /// What the program is called then.
  static let name = "kura-room"
  /// Behind its name and two words of ours.
  private static let firstWord = 3

  /// Whether the program was started as that.
  static func isCalled(_ words: [[UInt8]]) -> Bool {
    guard words.count > firstWord, let own = words.first else { return false }
    return own.elementsEqual(RoomPlace.launcher.utf8)
  }

  /// The words that it is started with, before those of the command.
  ///
  /// - Parameters:
  ///   - said: Where it says that the room stands.
  ///   - passed: The descriptors that the command gets.
  static func words(said: Int32, passing passed: [Int32]) -> [String] {
    var list = "-"
    for number in passed { list += ",\(number)" }
    return [RoomPlace.launcher, "\(said)", list]
  }

  /// Becomes the command.
  ///
  /// - Returns: Only when that fails.
  static func run(_ words: [[UInt8]]) throws(CommandError) -> Int32 {
    let passed = words[2].split(separator: UInt8(ascii: ",")).compactMap { number($0) }
    System.settleRoom(said: number(words[1][...]) ?? -1, keeping: passed)
    Successor.closeFilled()
    let none = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 1) }
    throw .launch(
      words[firstWord], Successor.begin(from: firstWord, variables: none, inherits: true))
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> Int32? {
    Decimal.parse(digits).flatMap { Int32(exactly: $0) }
  }
}
