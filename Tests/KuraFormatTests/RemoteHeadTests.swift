// SPDX-License-Identifier: MIT

import KuraCrypto
import SecureMemory
import Testing

@testable import KuraFormat

/// Heads that are signed, by whom.
@Suite struct RemoteHeadTests {
  private static let lines = RecordLine.all(of: "remote-1.txt")

  private func pair() throws -> SigningPair {
    try SigningPair(seed: SecretBytes(copying: [UInt8](0..<32).span))
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
