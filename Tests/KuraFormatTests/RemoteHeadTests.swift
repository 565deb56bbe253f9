// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@testable import KuraFormat

/// The heads that the reference wrote for a store: what it takes is taken and written again to the byte, what it refuses
/// is refused.
@Suite struct RemoteHeadTests {
  /// Those that this side reads so far.
  private static let lines = RecordLine.all(of: "remote-1.txt").filter {
    ["front", "inner"].contains($0.kind)
  }

  private func pair() throws -> SigningPair {
    try SigningPair(seed: SecretBytes(copying: [UInt8](0..<32).span))
  }

  private func again(_ kind: String, _ record: [UInt8]) throws -> [UInt8] {
    guard kind == "front" else { return try HeadReport(decoding: record.span).encoded }
    var head = try RemoteHead(decoding: record.span)
    return head.signed(with: try pair())
  }

  @Test func `both readers agree on each`() throws {
    #expect(Set(Self.lines.map { "\($0.kind) \($0.isGood)" }).count == 4)
    #expect(Self.lines.count > 35)
    for line in Self.lines {
      let written = Result { try again(line.kind, line.record) }
      switch written {
      case .success(let bytes):
        #expect(line.isGood && bytes == line.record, "\(line.what)")
      case .failure(let error):
        #expect(!line.isGood && error as? FormatError == .damaged, "\(line.what)")
      }
    }
  }

  @Test func `a head that is signed anew is another device's`() throws {
    let good = try #require(Self.lines.first { $0.isGood && $0.kind == "front" })
    var head = try RemoteHead(decoding: good.record.span)
    let other = try SigningPair(seed: SecretBytes(copying: [UInt8](repeating: 7, count: 32).span))
    let bytes = head.signed(with: other)
    #expect(try RemoteHead(decoding: bytes.span).key == other.publicHalf)
    #expect(bytes != good.record)
  }

  @Test func `a first head names none before it`() throws {
    let id = Identifier<DeviceTable.EpochSubject>.last
    var head = RemoteHead(vault: .last, device: .last, epoch: id)
    let bytes = head.signed(with: try pair())
    #expect(try RemoteHead(decoding: bytes.span) == head)
    head.number = 2
    let next = head.signed(with: try pair())
    #expect(throws: FormatError.damaged) { try RemoteHead(decoding: next.span) }
  }
}
