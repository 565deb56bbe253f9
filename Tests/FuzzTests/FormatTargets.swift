// SPDX-License-Identifier: MIT

import KuraCrypto
import KuraFormat
import SecureMemory

/// The records that a vault's rows and header hold, once they are opened, and texts that people type.
enum FormatTargets {
  static var all: [FuzzTarget] { header + rows + texts }

  private static let half = [UInt8](repeating: 8, count: 32)

  private static var header: [FuzzTarget] {
    let salt: Salt = identifier(1)
    let kdf = KDFParameters(memory: 256 << 20, passes: 3)
    let passcode = SlotHeader(kind: .passcode, kdf: kdf, salt: salt, id: identifier(2))
    let recovery = SlotHeader(kind: .recoveryKey, kdf: nil, salt: salt, id: identifier(2))
    let object = ChipObject(storageKey: [1], publicArea: [2, 3], privateArea: [4])
    let chip = SlotHeader(kind: .tpm2, kdf: kdf, salt: salt, id: identifier(2), chip: object)
    let key = SlotHeader(
      kind: .fido2, kdf: nil, salt: salt, id: identifier(2),
      credential: KeyCredential(id: [1, 2, 3], isVerified: true))
    let generation = little(UInt32(7)) + [1] + little(UInt64(5)) + half
    let ring =
      [1] + little(UInt16(1)) + generation + half + [0] + [UInt8](repeating: 0, count: 16)
      + little(UInt16(1)) + [1] + little(UInt64(5_000))
    let label = Array("Büro".utf8)
    let slot: SlotID = identifier(2)
    let note =
      slot.bytes + little(UInt64(70)) + [1] + little(UInt16(label.count)) + label
      + little(UInt16(2)) + Array("/a".utf8)
    let noted = [2] + ring.dropFirst() + [1] + note
    let payload = half + little(UInt64(5)) + little(UInt16(label.count)) + label
    return [
      FuzzTarget(name: "vault-header", seeds: [VaultHeader(vault: identifier(9)).encoded]) {
        input throws(Flaw) in
        try same(input) { try VaultHeader(decoding: input.span).encoded }
      },
      FuzzTarget(
        name: "slot-header", seeds: [passcode.encoded, recovery.encoded, chip.encoded, key.encoded]
      ) {
        input throws(Flaw) in
        try same(input) {
          let header = try SlotHeader(decoding: input.span)
          // Of what a later release wrote the id is all that was read.
          guard header.kind.isKnown else {
            try hold(input[32..<48].elementsEqual(header.id.bytes), "another slot's id")
            return input
          }
          return header.encoded
        }
      },
      FuzzTarget(name: "slot-payload", seeds: [payload]) { input throws(Flaw) in
        try same(input) {
          let secret = try SlotPayload.decode(input.span).encode()
          return copy(secret.bytes)
        }
      },
      FuzzTarget(name: "key-ring", seeds: [ring, noted]) { input throws(Flaw) in
        try same(input) {
          let ring = try Ring.decode(input.span)
          let key = try ring.dataKey(ring.active)
          try hold(copy(key.bytes).count == 32, "the active key is not there")
          let secret = try ring.encode()
          return copy(secret.bytes)
        }
      },
    ]
  }

  private static var rows: [FuzzTarget] {
    let root = RootRecord(
      epoch: 5, itemCount: 4, deletedCount: 3, depth: 2, treeRoot: digest(10),
      headerDigest: digest(11), previous: digest(12), writer: identifier(14), time: 15)
    let name = Array("com.example/é".utf8)
    let meta =
      [1] + little(UInt64(1)) + little(UInt64(2)) + little(UInt64(44))
      + little(UInt16(name.count)) + name + attributes
    let manifest =
      [1] + little(UInt64(131_073)) + little(UInt64(3)) + [UInt8](repeating: 5, count: 16) + half
    let guarded = little(UInt64(3)) + [UInt8](repeating: 6, count: 32 + 72 + 2)
    let history = little(UInt64(2)) + half + little(UInt64(9)) + half
    return [
      FuzzTarget(name: "root", seeds: [root.encoded]) { input throws(Flaw) in
        try same(input) { try RootRecord(decoding: input.span).encoded }
      },
      FuzzTarget(name: "item-meta", seeds: [meta]) { input throws(Flaw) in
        try same(input) {
          let read = try ItemMeta.decode(try SecretBytes(copying: input.span))
          let again = try ItemMeta(
            name: read.name, created: read.created, modified: read.modified, size: read.size,
            attributes: read.attributes)
          return copy(again.encoded)
        }
      },
      FuzzTarget(name: "item-body", seeds: [[0], [0, 1, 2, 3], manifest]) { input throws(Flaw) in
        try same(input) {
          switch try ItemBody.decode(try SecretBytes(copying: input.span)) {
          case .inline(let value): return [0] + copy(value.bytes)
          case .chunked(let manifest):
            let secret = try ItemBody.encode(manifest)
            return copy(secret.bytes)
          }
        }
      },
      FuzzTarget(name: "protected-body", seeds: [[2] + guarded]) { input throws(Flaw) in
        try same(input) {
          let read = try ProtectedBody.decode(try SecretBytes(copying: input.span))
          try hold(read.innerByteCount < input.count, "more inside than there is")
          return copy(read.encoded)
        }
      },
      FuzzTarget(name: "history", seeds: [[], history]) { input throws(Flaw) in
        try same(input) {
          let sound = HistoryList.isSound(input.span, below: .max)
          let list = try? HistoryList(decoding: input.span)
          let isBelow = list.map { $0.entries.last?.revision ?? 0 < .max } ?? false
          try hold(sound == isBelow, "what looks sound does not read")
          return Array(try HistoryList(decoding: input.span).encoded)
        }
      },
    ]
  }

  private static let attributes =
    little(UInt16(2)) + little(UInt16(1)) + [0x61] + little(UInt32(2)) + [0x62, 0x63]
    + little(UInt16(2)) + [0xC3, 0xA9] + little(UInt32(0))

  /// Complains where what was read is not written as it was.
  private static func same(
    _ input: [UInt8], _ written: () throws -> [UInt8]
  ) throws(Flaw) -> Bool {
    try isTaken {
      let written = try written()
      try hold(written == input, "it is written otherwise than it was read")
    }
  }
}

// MARK: - Texts

extension FormatTargets {
  private static var texts: [FuzzTarget] {
    [
      normalizing("passcode", bytes("correct horse", "cafe\u{301} ﬁ")) { input in
        let secret = try Passcode.prepare(input.span)
        return copy(secret.bytes)
      },
      normalizing("item-name", bytes("com.example/é", "a", "e\u{323}\u{307}/x")) {
        input in
        let secret = try ItemName.normalize(input.span)
        return copy(secret.bytes)
      },
      normalizing("slot-label", bytes("at work", "Büro e\u{301}")) { input in
        try SlotLabel.prepare(input.span)
      },
      FuzzTarget(name: "attributes", seeds: [attributes]) { input throws(Flaw) in
        try isTaken {
          let read = try Attributes(unsorted: input.span)
          var (cursor, count) = (read.list.makeCursor(), 0)
          while cursor.advance() { count += 1 }
          try hold(count == read.list.count, "the count is not that of the attributes")
        }
      },
      FuzzTarget(
        name: "recovery-key",
        seeds: bytes("0000-0000-0000-0000-0000-0000-0000-0000-0000"),
        words: bytes("-", " ", "0", "O", "i", "Z")
      ) { input throws(Flaw) in
        try isTaken {
          let key = try recoveryKey(input)
          let again = try? recoveryKey(key.text)
          try hold(again?.bytes == key.bytes, "written again it is another key")
        }
      },
      otpauth,
    ]
  }

  private static func recoveryKey(_ input: [UInt8]) throws -> (bytes: [UInt8], text: [UInt8]) {
    let key = try RecoveryKey.parse(input.span)
    let text = try key.text()
    return (copy(key.bytes), copy(text.bytes))
  }

  /// What the URI with another counter has for one.
  private static func moved(
    _ seed: borrowing OTPSeed, _ input: [UInt8]
  ) throws -> OTPSeed.Factor {
    let uri = try seed.uri(input.span, withCounter: 7)
    return try OTPSeed(uri: uri.bytes).factor
  }

  private static var otpauth: FuzzTarget {
    FuzzTarget(
      name: "otpauth",
      seeds: bytes(
        "otpauth://totp/A:b?secret=JBSWY3DPEHPK3PXP&issuer=A&digits=8&period=60&algorithm=SHA256",
        "otpauth://hotp/x?counter=9&secret=MFRGG%3D%3D%3D", "otpauth://hotp/?counter=41&secret=AA",
        "otpauth://totp/?secret=aa"),
      words: bytes(
        "secret=", "&", "?", "%3D", "=", "counter=", "digits=7", "period=", "algorithm=SHA512",
        "18446744073709551615", "counter=12&", "0", "9", "otpauth://", "hotp/")
    ) { input throws(Flaw) in
      try isTaken {
        let seed = try OTPSeed(uri: input.span)
        let code = try seed.code(.max)
        try hold((6...8).contains(seed.digits), "\(seed.digits) digits")
        try hold(code.count == Int(seed.digits), "a code of another length")
        switch seed.factor {
        case .time(let period): try hold((1...86_400).contains(period), "\(period) seconds")
        case .counter:
          let factor = try? moved(seed, input)
          try hold(factor == .counter(7), "the counter did not move in its place")
        }
      }
    }
  }

  /// A text whose normal form has itself as its normal form.
  private static func normalizing(
    _ name: String, _ seeds: [[UInt8]], _ normalize: @escaping @Sendable ([UInt8]) throws -> [UInt8]
  ) -> FuzzTarget {
    FuzzTarget(name: name, seeds: seeds, words: bytes("e\u{301}", "/", "..", "\u{AC00}")) {
      input throws(Flaw) in
      try isTaken {
        let normal = try normalize(input)
        let again = try? normalize(normal)
        try hold(again == normal, "the normal form has another normal form")
      }
    }
  }
}
