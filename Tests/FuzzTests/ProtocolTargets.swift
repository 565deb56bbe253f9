// SPDX-License-Identifier: MIT

import KuraProtocol
import SecureMemory

/// What client and agent say to each other, and references.
enum ProtocolTargets {
  static var all: [FuzzTarget] {
    [
      stream("frames-from-client", .client, requests) { type, payload in
        switch type {
        case .clientHello: try inside(try Hello(payload), payload.count)
        case .request: try againAsIs(payload)
        case .clientEnd: try inside(try UploadEnd(payload), payload.count)
        case .clientData:
          try inside(try? PromptWord(payload), payload.count)
          _ = try? NeedleWord(payload)
        default: return
        }
      },
      stream("frames-from-agent", .agent, replies) { type, payload in
        switch type {
        case .agentHello: try inside(try HelloReply(payload), payload.count)
        case .reply: try readAll(payload)
        case .data:
          if let batch = try? EntryBatch(payload) {
            batch.forEach { entry in entry.attributes.forEach { _, _ in } }
          }
          if var reader = try? EntryReader(payload) { while (try? reader.next()) != nil {} }
          try inside(try? FindingBatch(payload), payload.count)
          try inside(try? PromptNews(payload), payload.count)
          try needleAgainAsIs(payload)
          try meetingAgainAsIs(payload)
        default: return
        }
      },
      reference,
    ]
  }

  /// A reply tells nothing of its verb, so that each reader gets each.
  private static func readAll(_ payload: Span<UInt8>) throws {
    let count = payload.count
    try inside(try Reply(payload), count)
    try inside(try? PutReply(reply: payload), count)
    try inside(try? StatusReport(payload), count)
    try inside(try? AgentReport(payload), count)
    try inside(try? AgentFacts(payload), count)
    try inside(try? SettingValue.all(payload), count)
    try inside(try? SlotList(payload), count)
    try inside(try? SlotReply(reply: payload), count)
    _ = try? GetReply(reply: payload)
    _ = try? OTPReply(reply: payload)
    _ = try? DraftKeyReply(reply: payload)
    _ = try? RecoveryKeyReply(reply: payload)
    _ = try? AttributeReply(reply: payload)
    _ = try? UnlockReply(reply: payload)
    if let grants = try? GrantsReply(reply: payload) {
      grants.forEach { $0.names.forEach { _ in } }
    }
    if let wishes = try? WishesReply(reply: payload) {
      wishes.forEach { entry, _ in
        entry.names.forEach { _ in }
        entry.askers.forEach { _, _ in }
      }
    }
    // Who reads the fields has looked at the status.
    if copy(payload).starts(with: [0, 0]), let shared = try? SyncStatusReply(reply: payload) {
      try asIs(payload) { try $0.putReply(shared) }
    }
    if let shown = try? ShowReply(reply: payload) {
      try hold(shown.revisionNumbers.count == shown.revisionCount, "a revision is missing")
    }
  }

  /// A request that is read is written as it stood.
  private static func againAsIs(_ payload: Span<UInt8>) throws {
    let request = try Request(payload)
    var buffer = try SecretBuffer(capacity: 16)
    do { try buffer.putRequest(request) } catch { throw Flaw(text: "\(error) when written again") }
    let again = buffer.bytes.extracting(droppingFirst: Frame.headByteCount)
    try hold(copy(again) == copy(payload), "written again it is another request")
  }

  /// A value to be masked that is read is written as it stood.
  private static func needleAgainAsIs(_ payload: Span<UInt8>) throws {
    guard let needle = try? Needle(payload) else { return }
    try asIs(payload) { try $0.putNeedle(needle) }
  }

  /// What is said of a store that is read is written as it stood.
  private static func meetingAgainAsIs(_ payload: Span<UInt8>) throws {
    if let errand = try? StoreErrand(data: payload) {
      try asIs(payload) { try $0.putErrand(errand) }
    }
    if let reply = try? SyncReply(data: payload) { try asIs(payload) { try $0.putSync(reply) } }
  }

  private static func asIs(
    _ payload: Span<UInt8>, _ write: (inout SecretBuffer) throws -> Void
  ) throws {
    var buffer = try SecretBuffer(capacity: 16)
    do { try write(&buffer) } catch { throw Flaw(text: "\(error) when written again") }
    let again = buffer.bytes.extracting(droppingFirst: Frame.headByteCount)
    try hold(copy(again) == copy(payload), "written again it is another message")
  }

  /// Complains of a range in what was read that is not in what it was read from.
  private static func inside<Value>(_ value: Value, _ count: Int) throws(Flaw) {
    if let range = value as? Range<Int> {
      return try hold(range.lowerBound >= 0 && range.upperBound <= count, "\(range) of \(count)")
    }
    for child in Mirror(reflecting: value).children { try inside(child.value, count) }
  }

  /// Frame after frame, to the end or the first that is refused.
  private static func stream(
    _ name: String, _ side: Side, _ seeds: [[UInt8]],
    _ read: @escaping @Sendable (FrameType, Span<UInt8>) throws -> Void
  ) -> FuzzTarget {
    FuzzTarget(name: name, seeds: seeds + [Array(seeds.joined())]) { input throws(Flaw) in
      try isTaken {
        var rest = input[...]
        while !rest.isEmpty {
          let bytes = Array(rest)
          guard let frame = try Frame.next(in: bytes.span, sentBy: side) else { return }
          try hold(frame.payload.upperBound <= bytes.count, "a frame that is not all there")
          try read(frame.type, bytes.span.extracting(frame.payload))
          rest = rest.dropFirst(frame.byteCount)
        }
      }
    }
  }

  private static var reference: FuzzTarget {
    FuzzTarget(
      name: "reference",
      seeds: bytes("kura://a/b", "kura://@work/a%20b?attr=user", "kura://%C3%A9"),
      words: bytes("kura://", "@", "?attr=", "?otp", "%", "%25", "%00", "%C3", "/", "é", "&")
    ) { input throws(Flaw) in
      try isTaken {
        let read = try ItemReference(bytes: input)
        var text = ItemReference.scheme
        if let vault = read.vault { text += "@" + part(vault) + "/" }
        text += part(read.name)
        switch read.part {
        case .value: break
        case .attribute(let key): text += "?attr=" + part(key)
        case .code: text += "?otp"
        }
        let again = try? ItemReference(text)
        try hold(again == read, "written again it refers to something else: \(text)")
      }
    }
  }

  /// The part of a reference that means a text, a `/` or `@` in it included.
  private static func part(_ text: String) -> String {
    ItemReference.escaped(text).replacing("/", with: "%2F")
  }
}

// MARK: - Seeds

extension ProtocolTargets {
  private static func written(_ write: (inout SecretBuffer) throws -> Void) -> [UInt8] {
    guard var buffer = try? SecretBuffer(capacity: 16), (try? write(&buffer)) != nil else {
      return []
    }
    return copy(buffer.bytes)
  }

  private static func pairs(_ key: String, _ value: String) throws -> SecretBuffer {
    var pairs = try SecretBuffer(capacity: 16)
    try pairs.putPair(key: key.utf8.span, value: value.utf8.span)
    return pairs
  }

  private static var requests: [[UInt8]] {
    [
      written { try $0.putHello(vault: "/home/u/a.kura".utf8.span, terminal: "pts/3".utf8.span) },
      written { try $0.putRequest(.status) },
      written {
        try $0.putRequest(
          .unlock(
            .init(
              .passcode, secret: "secret".utf8.span, idleTimeout: 3_000, maxSession: 0, flags: [])))
      },
      written { try $0.putRequest(.get(.init(name: "a/b".utf8.span, revision: 2))) },
      written {
        let pairs = try pairs("url", "x.org")
        try $0.putRequest(
          .put(
            .init(
              name: "a/b".utf8.span, flags: .replace,
              attributes: AttributeFields(pairs.bytes, count: 1), value: "hello".utf8.span)))
      },
      written {
        let pairs = try pairs("url", "x.org")
        var keys = try SecretBuffer(capacity: 16)
        try keys.put16(text: "old")
        try $0.putRequest(
          .attributes(
            .init(
              name: "a/b".utf8.span, set: AttributeFields(pairs.bytes, count: 1),
              delete: KeyFields(keys.bytes, count: 1))))
      },
      written {
        var order = SlotOrder(.keyFile)
        (order.label, order.place) = ("usb", "/m/key")
        try $0.putRequest(
          .slotAdd(
            .init(
              SlotAuthority(.passcode, secret: "secret".utf8.span), order, secret: "b".utf8.span,
              label: order.label.utf8.span, place: order.place.utf8.span)))
      },
      written { buffer in
        var files = try SecretBuffer(capacity: 16)
        try files.put16(text: "a/b/d")
        let list = KeyFields(files.bytes, count: 1)
        try buffer.putRequest(
          .move(
            .init(
              name: "a/b".utf8.span, to: "a/c".utf8.span, flags: .replace, files: list,
              newFiles: list)))
        try buffer.putRequest(.remove(.init(name: "a/b".utf8.span, files: list)))
        try buffer.putRequest(.restore(.init(name: "a/b".utf8.span, files: list)))
      },
      written { buffer in
        var names = try SecretBuffer(capacity: 16)
        try names.put16(text: "a/b")
        try buffer.putRequest(
          .grant(
            .init(
              SlotAuthority(.passcode, secret: "secret".utf8.span),
              KeyFields(names.bytes, count: 1), to: .program, uses: 3, reason: "x".utf8.span)))
      },
      written { buffer in
        var names = try SecretBuffer(capacity: 16)
        try names.put16(text: "a/b")
        let list = KeyFields(names.bytes, count: 1)
        try buffer.putRequest(.wish(.init(list, flags: .ifAwaited, patience: 9, lifetime: 3)))
        var askers = try SecretBuffer(capacity: 16)
        try WishAskers.put(chain: "sh 3".utf8.span, reason: "x".utf8.span, into: &askers)
        let entry = WishEntry(
          list, program: "sh".utf8.span, askers: WishAskers(askers.bytes, count: 1))
        var shown = try SecretBuffer(capacity: 64)
        var copied = copy entry
        try copied.code(&shown)
        try buffer.putRequest(
          .approve(
            .init(SlotAuthority(.passcode, secret: "secret".utf8.span), of: shown.bytes, .once)))
      },
      written { buffer in
        var names = try SecretBuffer(capacity: 64)
        try names.put16(text: StorePlace.heads)
        try buffer.putRequest(.sync(.init()))
        try buffer.putRequest(
          .syncGiven(.init(names: KeyFields(names.bytes, count: 1), hasMore: false)))
        try buffer.putRequest(.syncGiven(.init(bytes: "hello".utf8.span, hasMore: true)))
        try buffer.putRequest(.syncStart(.init(label: "desk".utf8.span)))
        var offers = try SecretBuffer(capacity: 64)
        for _ in 0..<2 {
          try offers.putOffer(head: "a".utf8.span, header: "h".utf8.span, record: "r".utf8.span)
        }
        try buffer.putRequest(
          .syncJoin(
            .init(
              label: "desk".utf8.span, by: OwnerWord(.passcode, "secret".utf8.span),
              OfferFields(offers.bytes, count: 2))))
        try buffer.putRequest(
          .syncEnter(
            .init(by: OwnerWord(.passcode, "secret".utf8.span), here: OwnerWord())))
      },
      written { try $0.putData("hello".utf8.span, from: .client) },
      written { try $0.putUploadEnd(.commit) },
      written { try $0.putNeedleWord(NeedleWord(7, isTaken: true)) },
    ]
  }

  private static var met: SyncReply {
    var reply = SyncReply()
    reply.news = [SyncNews(.late, of: [1, 2], label: [0x61], heard: 3)]
    return reply
  }

  private static var shared: SyncStatusReply {
    var reply = SyncStatusReply()
    reply.devices = [SyncDevice()]
    return reply
  }

  private static var replies: [[UInt8]] {
    let facts = ItemFacts(
      revision: 3, size: 5, created: 1, modified: 2, protection: .standard, kind: .value)
    return [
      written { try $0.putHelloReply(release: "0.1.0") },
      written { try $0.putReply() },
      written { try $0.putRefusal(.locked(LockNote(.idle, since: 2, idleTimeout: 3))) },
      written { try $0.putReply(RecoveryKeyReply("0123-4567".utf8.span)) },
      written { try $0.putGetReply(name: "a/b".utf8.span, facts: facts, value: "x".utf8.span) },
      written { try $0.putConfigReply([SettingValue(key: 1, value: 60_000)]) },
      written {
        try $0.putReply(
          OTPReply(.time, .sha1, period: 30, left: 17_000, counter: 0, code: "755224".utf8.span))
      },
      written { buffer in
        let batch = try buffer.openBatch()
        try buffer.putFinding(.item, at: "a/b".utf8.span)
        try buffer.closeBatch(batch, count: 1)
      },
      written { try $0.putPromptNews(elsewhere: "pts/3".utf8.span) },
      written { try $0.putErrand(StoreErrand(.fetch, StorePlace.heads, size: 9)) },
      written { try $0.putSync(met) },
      written { try $0.putReply(shared) },
      written {
        try $0.putNeedle(
          Needle(
            7, .attribute, name: "a/b".utf8.span, key: "pin".utf8.span, size: 6,
            value: "271828".utf8.span))
      },
    ]
  }
}
