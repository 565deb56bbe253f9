// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory

/// The access log: heads of frames as anybody can write them, and entries as they are once they are opened.
enum LogTargets {
  static var all: [FuzzTarget] { [frame, entries] }

  private static let vault: VaultID = identifier(9)

  private static func keys() throws -> LogKeys {
    let secret = [UInt8](repeating: 7, count: 32)
    return try LogKeys(Key(try SecretBytes(copying: secret.span)), vault: vault)
  }

  /// Each input gets the right check, so that the fields are read and not only the check.
  private static var frame: FuzzTarget {
    let seeds = [(UInt32(200), UInt8(1), UInt16(64)), (262_144, 2, 1)].map {
      little($0.0) + [$0.1] + little($0.2)
    }
    return FuzzTarget(name: "log-frame", seeds: seeds) { input throws(Flaw) in
      let head = Array(input.prefix(7))
      let bytes = head + little(check(head)) + input.dropFirst(7)
      guard let frame = LogFrame(bytes.span) else { return false }
      try hold(frame.recordByteCount <= LogFrame.longestRecord, "a record without a bound")
      let most = frame.kind == .locked ? 1 : LogFrame.mostEntries
      try hold((1...most).contains(Int(frame.count)), "more entries than there can be")
      return true
    }
  }

  private static func check(_ bytes: [UInt8]) -> UInt32 {
    bytes.reduce(0x811C_9DC5) { ($0 ^ UInt32($1)) &* 0x0100_0193 }
  }

  /// How many entries there are said to be, and the entries.
  private static var entries: FuzzTarget {
    FuzzTarget(name: "log-entries", seeds: (try? seeds()) ?? []) { input throws(Flaw) in
      guard let count = input.first, (1...64).contains(count) else { return false }
      return try isTaken {
        let plaintext = Array(input.dropFirst())
        let keys = try keys()
        let frame = try LogBlock.frame(
          plaintext.span, count: Int(count), after: digest(1), number: 5, keys)
        let block = try LogBlock.open(frame.span, keys)
        try hold(block.number == 5 && block.chain == digest(1), "it stands elsewhere")
        var read = block.finish()
        var written = try SecretBuffer(capacity: 1_024)
        var found = 0
        while let entry = try read.next() {
          try written.append(entry.facts, name: read.name(of: entry), other: read.other(of: entry))
          found += 1
        }
        try hold(found == Int(count), "another number of entries than was said")
        try hold(copy(written.bytes) == plaintext, "it is written otherwise than it was read")
      }
    }
  }

  private static func seeds() throws -> [[UInt8]] {
    var facts = LogFacts(time: 70, verb: 5, code: 3, detail: 9)
    facts.program = Array("/usr/bin/kura".utf8)
    facts.terminal = Array("pts/3".utf8)
    var buffer = try SecretBuffer(capacity: 1_024)
    try buffer.append(facts, name: "a/é".utf8.span, other: "user".utf8.span)
    let one = copy(buffer.bytes)
    return [[1] + one, [2] + one + one]
  }
}
