// SPDX-License-Identifier: MIT

/// Holds a file of a store on its way to the process that reads it: its path, and what gpg made of it.
struct StoreText {
  /// Says whether there is a content.
  enum State: UInt8 {
    case read = 0
    /// gpg does not decrypt it.
    case sealed = 1
    case link = 2
    /// It is nothing that pass wrote.
    case foreign = 3
  }

  /// Below the store, without `.gpg`.
  let path: [UInt8]
  let state: State
  let content: [UInt8]

  /// Appends `u32 length ‖ path ‖ u8 state ‖ u32 length ‖ content`.
  func append(to bytes: inout [UInt8]) {
    Self.append(UInt32(path.count), to: &bytes)
    bytes += path
    bytes.append(state.rawValue)
    Self.append(UInt32(content.count), to: &bytes)
    bytes += content
  }

  private static func append(_ number: UInt32, to bytes: inout [UInt8]) {
    for shift in stride(from: 0, to: 32, by: 8) {
      bytes.append(UInt8(truncatingIfNeeded: number >> UInt32(shift)))
    }
  }

  /// Reads the next.
  static func next(
    in bytes: [UInt8], _ offset: inout Int, _ place: UInt64
  ) throws(ReadingFlaw) -> StoreText {
    let path = try counted(bytes, &offset, place)
    guard offset < bytes.count, let state = State(rawValue: bytes[offset]) else {
      throw ReadingFlaw(.frame, at: place)
    }
    offset += 1
    return StoreText(path: path, state: state, content: try counted(bytes, &offset, place))
  }

  private static func counted(
    _ bytes: [UInt8], _ offset: inout Int, _ place: UInt64
  ) throws(ReadingFlaw) -> [UInt8] {
    guard bytes.count - offset >= 4 else { throw ReadingFlaw(.frame, at: place) }
    var count = 0
    for index in 0..<4 { count |= Int(bytes[offset + index]) << (8 * index) }
    offset += 4
    guard bytes.count - offset >= count else { throw ReadingFlaw(.frame, at: place) }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }
}
