// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory

/// What this machine remembers. These files end in hashes, which an input has not: each of its records
/// gets the right one, so that the fields are read and not only the hash.
enum StateTargets {
  static var all: [FuzzTarget] { [seen, tries, eraseRule, claims, backup] }

  private static let vault: VaultID = identifier(9)
  private static let slot: SlotID = identifier(4)
  private static let secret = [UInt8](repeating: 7, count: 32)

  private static func record(_ counter: UInt64) -> SeenRecord {
    SeenRecord(
      counter: counter, vault: vault, epoch: counter + 100, fingerprint: digest(1),
      logHead: digest(2), time: 5, path: Array("/home/mo/kura".utf8))
  }

  private static func key() throws -> Key { Key(try SecretBytes(copying: secret.span)) }

  private static var seen: FuzzTarget {
    let files = try? [(1, 2), (7, 6)].map {
      try [record($0.0), record($0.1)].flatMap { try $0.encode(key: key())[..<480] }
    }
    return FuzzTarget(name: "seen-file", seeds: files ?? []) { input throws(Flaw) in
      try isTaken {
        let file = try hashed(input, size: 480) { try KeyedHash(key: key()) }
        let latest = try SeenRecord.latest(in: file.span, key: key(), vault: vault)
        let written = try latest.encode(key: key())
        let halves = [Array(file[..<512]), Array(file[512...])]
        try hold(halves.contains(written), "the record is in neither half of the file")
        try hold(latest.vault == vault, "a record of another vault")
      }
    }
  }

  private static var backup: FuzzTarget {
    let paths = ["/media/stick/default-20261126.kura", ""]
    let seeds = paths.map { BackupRecord(vault: vault, time: 7, path: Array($0.utf8)).encoded }
    return FuzzTarget(name: "backup-file", seeds: seeds) { input throws(Flaw) in
      guard let record = try? BackupRecord(decoding: input.span) else { return false }
      try hold(record.encoded == input, "it is written in another way than it was read")
      return true
    }
  }

  private static var claims: FuzzTarget {
    let file = try? [record(1), record(2)].flatMap { try $0.encode(key: key()) }
    return FuzzTarget(name: "seen-claims", seeds: file.map { [$0] } ?? []) { input throws(Flaw) in
      let claim = SeenRecord.claim(in: input.span, vault: vault)
      if let claimed = SeenRecord.claimed(in: input.span, vault: vault) {
        try hold(claimed.vault == vault, "a record of another vault")
        try hold(claim != nil, "one reader finds a record, the other none")
      }
      return claim != nil
    }
  }

  private static var tries: FuzzTarget {
    let files = try? [(1, 2), (7, 6)].map { counters in
      try [counters.0, counters.1].flatMap { counter in
        var record = TryRecord(vault: vault)
        record.counter = UInt64(counter)
        record[.local] = TryTally(
          failures: 2, last: 78, origin: ClockOrigin(boot: identifier(4), namespace: 5))
        return try record.encode()[..<224]
      }
    }
    return FuzzTarget(name: "tries-file", seeds: files ?? []) { input throws(Flaw) in
      var isTrusted = false
      _ = try isTaken {
        let file = try hashed(input, size: 224) { try KeyedHash(keyBytes: Span()) }
        let read = try TryRecord(file: file.span, vault: vault)
        let halves = [Array(file.prefix(256)), Array(file.dropFirst(256).prefix(256))]
        // A record of the form before is written anew in today's.
        let isOld = try halves.contains { half in
          try half == read.encode()
            || half.starts(with: "KURATRY1".utf8)
              && TryRecord(file: half.span, vault: vault) == read
        }
        let isNew = input.allSatisfy { $0 == 0 } && file.allSatisfy { $0 == 0 }
        let isSuspect = TryKind.allCases.allSatisfy { read[$0].failures >= 5 }
        try hold(isOld || isNew || isSuspect, "damage is a way to more tries")
        isTrusted = isOld || isNew
      }
      return isTrusted
    }
  }

  private static var eraseRule: FuzzTarget {
    let rule = try? Array(
      DeviceRule(.erase, slot: slot, value: 3).encode(secret: secret.span)[..<40])
    return FuzzTarget(name: "erase-rule", seeds: rule.map { [$0] } ?? []) { input throws(Flaw) in
      try isTaken {
        let file = try hashed(input, size: 40) {
          var hash = try KeyedHash(keyBytes: secret.span)
          hash.update(.eraseRule)
          return hash
        }
        let read = try DeviceRule(
          decoding: file.span, .erase, secret: secret.span, slot: slot)
        let written = try read.encode(secret: secret.span)
        try hold(written == file, "it is written otherwise than it was read")
      }
    }
  }

  /// Each part of an input with its hash behind it; a part that is too short has none.
  private static func hashed(
    _ input: [UInt8], size: Int, _ begin: () throws -> KeyedHash
  ) throws -> [UInt8] {
    var file: [UInt8] = []
    for start in stride(from: 0, to: input.count, by: size) {
      let part = Array(input[start..<min(input.count, start + size)])
      file += part
      guard part.count == size else { continue }
      var hash = try begin()
      hash.update(part.span)
      file += hash.finalize().bytes
    }
    return file
  }
}

/// An identifier of 16 times the same byte.
func identifier<Subject>(_ byte: UInt8) -> Identifier<Subject> {
  let bytes = [UInt8](repeating: byte, count: 16)
  return Identifier(bytes.span)
}

func digest(_ byte: UInt8) -> Digest {
  let bytes = [UInt8](repeating: byte, count: 32)
  return Digest(bytes.span)
}
