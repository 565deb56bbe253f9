// SPDX-License-Identifier: MIT

import Testing

@testable import KuraFormat

@Suite struct RemoteObjectTests {
  private let epoch: DeviceTable.Epoch = identifier(3)

  private func object(_ count: Int, _ kind: RemoteObject.Kind) throws -> [UInt8] {
    let body = [UInt8](repeating: 7, count: count)
    return try RemoteObject.encode(kind, in: epoch, body: body.span)
  }

  @Test func `an object is opened as what its name says and as nothing else`() throws {
    let whole = try object(100, .pack)
    let name = try RemoteObject.name(of: whole.span)
    func count(_ kind: RemoteObject.Kind, _ epoch: DeviceTable.Epoch, _ name: [UInt8]) -> Int? {
      try? RemoteObject.body(of: whole.span, kind, in: epoch, named: name).count
    }
    #expect(count(.pack, epoch, name) == 100)
    for kind in RemoteObject.Kind.allCases where kind != .pack {
      #expect(count(kind, epoch, name) == nil)
    }
    #expect(count(.pack, identifier(4), name) == nil)
    #expect(count(.pack, epoch, Array(name.reversed())) == nil)
    #expect(count(.pack, epoch, []) == nil)
  }

  @Test func `half an object is none whatever is left of it`() throws {
    let whole = try object(100, .piece)
    let name = try RemoteObject.name(of: whole.span)
    for end in whole.indices {
      #expect(throws: FormatError.damaged) {
        _ = try RemoteObject.body(
          of: whole.span.extracting(first: end), .piece, in: epoch, named: name
        )
        .count
      }
    }
  }

  @Test(arguments: RemoteObject.Kind.allCases)
  func `no object is longer than its kind may be`(kind: RemoteObject.Kind) throws {
    let most = kind.longest - RemoteObject.frameByteCount
    let longest = try object(most, kind)
    let name = try RemoteObject.name(of: longest.span)
    #expect(
      try RemoteObject.body(of: longest.span, kind, in: epoch, named: name).count == most)
    #expect(throws: FormatError.valueTooLarge) { try object(most + 1, kind) }
    let longer = longest + [0]
    let other = try RemoteObject.name(of: longer.span)
    #expect(throws: FormatError.damaged) {
      _ = try RemoteObject.body(of: longer.span, kind, in: epoch, named: other).count
    }
  }

  @Test func `names in a store are those of heads and objects`() {
    let device: DeviceID = identifier(0x2a)
    let hash = [UInt8](repeating: 0xbc, count: 32)
    let id = String(repeating: "2a", count: 16)
    let name = String(repeating: "bc", count: 32)
    #expect(RemotePath.root(of: identifier(1)) == "kura-" + String(repeating: "01", count: 16))
    #expect(RemotePath.head(device).text == "heads/\(id)")
    #expect(RemotePath.object(device, hash: hash).text == "objects/\(id)/bc/\(name)")
    #expect(RemotePath("heads/\(id)") == .head(device))
    #expect(RemotePath("objects/\(id)/bc/\(name)") == .object(device, hash: hash))
    let others = [
      "", "heads", "heads/", "heads/\(id).sync-conflict-20260101", "heads/\(id)/x", "/heads/\(id)",
      "heads/.\(id.dropFirst())", "heads/\(id.uppercased())", "heads/\(id.dropLast(2))",
      "head/\(id)", "objects/\(id)/bd/\(name)", "objects/\(id)/\(name)", "objects/\(id)/bc",
      "objects/\(id)/bc/\(name.dropLast())", "objects/\(id)/bc/\(name)~",
      "objects/\(id)//\(name)", "object/\(id)/bc/\(name)", "objects/\(id)/bc/\(name)/",
    ]
    for other in others { #expect(RemotePath(other) == nil, "\(other)") }
  }

  @Test func `a block has a thousand ids and what is none has fewer`() throws {
    let ids = (0..<RemoteBlock.count).map { identifier(UInt8($0 % 251)) as HeadID }
    let whole = RemoteBlock.encode(ids)
    #expect(try RemoteBlock.decode(whole.span, isWhole: true) == ids)
    #expect(throws: FormatError.damaged) { try self.ids(of: whole, isWhole: false) }
    let fewer = Array(whole.dropLast(16))
    #expect(try self.ids(of: fewer, isWhole: false) == Array(ids.dropLast()))
    #expect(throws: FormatError.damaged) { try self.ids(of: fewer, isWhole: true) }
    #expect(try self.ids(of: [], isWhole: false).isEmpty)
    #expect(throws: FormatError.damaged) { try self.ids(of: [0], isWhole: false) }
  }

  private func ids(of bytes: [UInt8], isWhole: Bool) throws -> [HeadID] {
    try RemoteBlock.decode(bytes.span, isWhole: isWhole)
  }
}
