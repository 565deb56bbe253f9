// SPDX-License-Identifier: MIT

package import KuraTerms

/// Names what kura-sync wants of a program that speaks to a store.
package enum StoreWish: Equatable, Sendable {
  /// Open the store of a vault: the remote as people write it.
  case open(remote: String, vault: [UInt8], makes: Bool)
  case heads
  case objects(device: [UInt8])
  case get(StorePlace, most: Int)
  case put(StorePlace, [UInt8])
  case delete(StorePlace)
  case settle
  case leave
  case vaults
  case marks(but: [UInt8])
  /// Tell from now on when something comes into the store.
  case watch
}

/// Names what such a program answers.
package enum StoreReply: Equatable, Sendable {
  case done
  case places([StorePlace])
  case bytes([UInt8])
  case nothing
  case failed(StoreError)
  /// No answer: something came into the store.
  case news
}

/// Is a message between the two: a number, a length, and what belongs to it.
package struct StoreFrame: Equatable, Sendable {
  /// More than the longest object, and than the longest list.
  package static let most = 1 << 24

  package var kind: UInt8
  package var content: [UInt8]

  package init(_ kind: UInt8, _ content: [UInt8] = []) {
    (self.kind, self.content) = (kind, content)
  }
}

extension StoreFrame {
  package init(_ wish: StoreWish) {
    switch wish {
    case .open(let remote, let vault, let makes):
      self.init(1, [makes ? 1 : 0] + vault + remote.utf8)
    case .heads: self.init(2)
    case .objects(let device): self.init(3, device)
    case .get(let place, let most): self.init(4, Self.number(most) + place.text.utf8)
    case .put(let place, let bytes):
      let name = Array(place.text.utf8)
      self.init(5, [UInt8(name.count)] + name + bytes)
    case .delete(let place): self.init(6, Array(place.text.utf8))
    case .settle: self.init(7)
    case .leave: self.init(8)
    case .watch: self.init(9)
    case .vaults: self.init(11)
    case .marks(let own): self.init(10, own)
    }
  }

  /// What is wished for; nil for what is no wish.
  package var wish: StoreWish? {
    let count = StorePlace.identifierByteCount
    switch kind {
    case 1:
      guard content.count > count, content[0] <= 1 else { return nil }
      return .open(
        remote: Self.text(content.dropFirst(count + 1)), vault: Array(content[1...count]),
        makes: content[0] == 1)
    case 2: return .heads
    case 3: return content.count == count ? .objects(device: content) : nil
    case 4:
      guard content.count > 4, let place = Self.place(content[4...]) else { return nil }
      return .get(place, most: Self.number(content[..<4]))
    case 5:
      guard let length = content.first.map(Int.init), content.count > length,
        let place = Self.place(content[1...length])
      else { return nil }
      return .put(place, Array(content[(length + 1)...]))
    case 6: return Self.place(content[...]).map { .delete($0) }
    case 7: return .settle
    case 8: return .leave
    case 9: return .watch
    case 11: return .vaults
    case 10: return .marks(but: content)
    default: return nil
    }
  }

  package init(_ reply: StoreReply) {
    switch reply {
    case .done: self.init(1)
    case .places(let places): self.init(2, Array(places.map(\.text).joined(separator: "\n").utf8))
    case .bytes(let bytes): self.init(3, bytes)
    case .nothing: self.init(4)
    case .failed(let error): self.init(5, error.coded)
    case .news: self.init(6)
    }
  }

  /// What is answered; nil for what is no answer.
  package var reply: StoreReply? {
    switch kind {
    case 1: return .done
    case 2:
      let names = content.split(separator: UInt8(ascii: "\n"))
      let places = names.compactMap { Self.place($0) }
      return places.count == names.count ? .places(places) : nil
    case 3: return .bytes(content)
    case 4: return .nothing
    case 5: return StoreError(coded: content).map { .failed($0) }
    case 6: return .news
    default: return nil
    }
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: bytes, as: UTF8.self)
  }

  private static func place(_ bytes: ArraySlice<UInt8>) -> StorePlace? { StorePlace(text(bytes)) }

  package static func number(_ value: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
  }

  package static func number(_ bytes: ArraySlice<UInt8>) -> Int {
    bytes.reversed().reduce(0) { $0 << 8 | Int($1) }
  }
}

// MARK: - Errors

extension StoreError {
  /// The number of what it is, and its two texts.
  fileprivate var coded: [UInt8] {
    let (number, first, second): (UInt8, String, String) =
      switch self {
      case .missing(let path): (1, path, "")
      case .notAFolder(let path): (2, path, "")
      case .empty(let path): (3, path, "")
      case .readOnly(let path): (4, path, "")
      case .full(let path): (5, path, "")
      case .denied(let path): (6, path, "")
      case .crowded(let path): (7, path, "")
      case .noProgram(let name, let package): (8, name, package)
      case .unknown(let path): (9, path, "")
      case .unprepared(let path): (10, path, "")
      case .unreachable(let path, let said): (11, path, said)
      case .refused(let path, let said): (12, path, said)
      case .untrusted(let path, let said): (13, path, said)
      case .other(let path, let said): (14, path, said)
      case .system(let errno, let path): (15, path, String(errno))
      }
    return [number] + first.utf8 + [0] + second.utf8
  }

  fileprivate init?(coded bytes: [UInt8]) {
    let parts = bytes.dropFirst().split(
      separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let number = bytes.first, parts.count == 2 else { return nil }
    let path = String(decoding: parts[0], as: UTF8.self)
    let said = String(decoding: parts[1], as: UTF8.self)
    switch number {
    case 1: self = .missing(path: path)
    case 2: self = .notAFolder(path: path)
    case 3: self = .empty(path: path)
    case 4: self = .readOnly(path: path)
    case 5: self = .full(path: path)
    case 6: self = .denied(path: path)
    case 7: self = .crowded(path: path)
    case 8: self = .noProgram(name: path, package: said)
    case 9: self = .unknown(path: path)
    case 10: self = .unprepared(path: path)
    case 11: self = .unreachable(path: path, said: said)
    case 12: self = .refused(path: path, said: said)
    case 13: self = .untrusted(path: path, said: said)
    case 14: self = .other(path: path, said: said)
    case 15: self = .system(errno: Int32(said) ?? 0, path: path)
    default: return nil
    }
  }
}
