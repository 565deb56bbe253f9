// SPDX-License-Identifier: MIT

/// Marks 16 bytes as those of a head of a remote: the first half of its hash.
public enum HeadSubject: Sendable {}
/// Names one head of a remote.
public typealias HeadID = Identifier<HeadSubject>

/// Says which head of a device is meant, or that there is none yet.
public struct HeadPlace: Hashable, Sendable {
  /// Before the first head.
  public static let none = HeadPlace(number: 0, id: .zero)

  /// Its number, from 1; 0 for none.
  public let number: UInt64
  /// What its bytes are.
  public let id: HeadID

  /// Names a head.
  public init(number: UInt64, id: HeadID) {
    self.number = number
    self.id = id
  }

  init(_ reader: inout ByteReader) throws(FormatError) {
    self.init(number: try reader.integer(), id: try reader.identifier())
    guard number <= RevisionEntry.counters.upperBound, (number == 0) == (id == .zero)
    else { throw .damaged }
  }

  func append(to bytes: inout [UInt8]) {
    bytes.append(integer: number)
    bytes.append(id)
  }
}

extension HeadPlace: Comparable {
  /// Orders by number, then by id.
  public static func < (left: HeadPlace, right: HeadPlace) -> Bool {
    (left.number, left.id) < (right.number, right.id)
  }
}

extension ByteReader {
  /// As many of something as a 16-bit number says, at most `most`; `byteCount` is what one has at the least.
  mutating func list<Element>(
    most: Int, byteCount: Int, _ read: (inout ByteReader) throws(FormatError) -> Element
  ) throws(FormatError) -> [Element] {
    let count = Int(try integer(UInt16.self))
    // Before anything is allocated by the number.
    guard count <= most, count * byteCount <= remaining else { throw .damaged }
    var list: [Element] = []
    list.reserveCapacity(count)
    for _ in 0..<count { list.append(try read(&self)) }
    return list
  }

  /// A hash of an object, 32 bytes.
  mutating func hash() throws(FormatError) -> [UInt8] {
    var hash: [UInt8] = []
    hash.append(span: try take(32))
    return hash
  }
}

/// Whether each stands before the next.
func ascend<Element>(_ list: [Element], by isBefore: (Element, Element) -> Bool) -> Bool {
  zip(list, list.dropFirst()).allSatisfy(isBefore)
}
