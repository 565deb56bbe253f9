// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Tells what bringing another copy of the vault and this one together came to.
public struct MergeOutcome: Sendable {
  /// Items that were not here.
  public let added: UInt64
  /// Items of which the copy had something that was not here.
  public let changed: UInt64
  /// Items that are gone, since they were purged there.
  public let purged: UInt64
  /// Items with a conflict now.
  public let conflicting: UInt64
  /// Items that got another name, or got theirs back.
  public let renamed: UInt64
  /// Settings that are stricter now.
  public let settings: UInt64
  /// Settings that were made looser there, and are so here from the owner's next unlock on.
  public let looserSettings: UInt64
  /// Ways to open the vault that came from there, or ended there.
  public let slots: UInt64
  /// Ways to open the vault that came from there, and find no room here.
  public let waitingSlots: UInt64
  /// Whether each passcode and recovery key was ended by one copy or the other, so that all of them stand.
  public let keptSlots: Bool
  /// Where the copy is of a vault that was taken over for it; nil where it had the format already.
  public let copy: String?
}

/// Tells of something on which copies of the vault do not agree.
public struct Conflict: Sendable {
  /// The item's name.
  public let name: String
  /// What of it.
  public let part: ConflictPart
  /// The revision here that has the other content; 0 for none.
  public let revision: UInt64
  /// The attribute's key, or the name that the item would have; empty for all else.
  public let text: String
}

extension Connection {
  /// Brings another copy of the vault and this one together.
  ///
  /// - Parameters:
  ///   - path: Where the other copy stands; absolute.
  ///   - isTrial: Whether only to tell what would be changed.
  ///   - key: What opens the copy where it stands under another vault key; nil where it does not.
  ///   - progress: Called now and then.
  /// - Throws: ``ClientError/refused(_:)`` with `CopyFlaw.otherKey` where that is wanted, among others.
  public mutating func merge(
    _ path: String, isTrial: Bool = false, by key: borrowing Word? = nil,
    progress: (ProgressReport) -> Void = { _ in }
  ) throws(ClientError) -> MergeOutcome {
    try send(
      .merge(MergeRequest(path: path.utf8.span, isTrial: isTrial, by: OwnerWord(key))))
    var outcome: MergeOutcome?
    while true {
      let frame = try channel.next(patience: patience.derivation)
      let payload = received.extracting(frame.payload)
      switch frame.type {
      case .progress:
        progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
      case .data:
        outcome = try reading { () throws(ProtocolError) in
          MergeOutcome(try MergeReply(data: payload))
        }
      case .clientHello, .request, .clientData, .clientEnd, .confirm, .agentHello, .reply, .end:
        try finish(frame)
        guard let outcome else { throw .broken(.frameType(frame.type.rawValue)) }
        return outcome
      }
    }
  }

  /// On what copies of the vault do not agree, in no order.
  ///
  /// - Parameters:
  ///   - name: Of which item; nil for all.
  ///   - each: Gets each conflict.
  public mutating func conflicts(
    of name: String? = nil, each: (Conflict) throws(ClientError) -> Void
  ) throws(ClientError) {
    try send(.conflicts(ConflictsRequest(name: (name ?? "").utf8.span)))
    while true {
      let frame = try channel.next(patience: patience.stream)
      guard frame.type == .data else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      let batch = try reading { () throws(ProtocolError) in try ConflictBatch(payload) }
      try batch.forEach(in: payload) { conflict throws(ClientError) in
        guard let part = ConflictPart(rawValue: conflict.part) else { return }
        try each(
          Conflict(
            name: String(repairing: payload.extracting(conflict.name)), part: part,
            revision: conflict.revision,
            text: String(repairing: payload.extracting(conflict.text))))
      }
    }
  }
}

extension MergeOutcome {
  fileprivate init(_ reply: MergeReply) {
    self.init(
      added: reply.added, changed: reply.changed, purged: reply.purged,
      conflicting: reply.conflicting, renamed: reply.renamed, settings: reply.settings,
      looserSettings: reply.looserSettings, slots: reply.slots, waitingSlots: reply.waitingSlots,
      keptSlots: reply.keptSlots,
      copy: reply.copy.bytes.isEmpty ? nil : String(repairing: reply.copy.bytes)
    )
  }
}

// MARK: - Stores

/// Says what the agent has who carries do next.
public enum StoreTurn: Equatable, Sendable {
  /// Something in the store; the bytes are those that are written.
  case errand(StoreErrand, [UInt8])
  /// Nothing more: what came of it.
  case over(SyncReply)
}

/// Holds what a new machine begins a vault with, as it stands in a store; nobody has opened any of it.
public struct StoreOffer: Equatable, Sendable {
  /// The head of a machine.
  public let head: [UInt8]
  /// The header object that it names.
  public let header: [UInt8]
  /// The record of its epoch.
  public let record: [UInt8]

  /// Keeps them as they stand there.
  public init(head: [UInt8], header: [UInt8], record: [UInt8]) {
    (self.head, self.header, self.record) = (head, header, record)
  }

  /// Whether no passcode opens it, by what its header says: nobody vouches for that, and nothing goes by it but what is
  /// asked for, or refused.
  public var lacksPasscode: Bool { !slotKinds.contains(1) }

  /// Whether recovery keys alone open it, likewise.
  public var isSparing: Bool { slotKinds.allSatisfy { $0 == 2 } }

  /// The kinds of its slots, as their headers begin, as far as they can be read.
  private var slotKinds: [UInt8] {
    // Behind its frame and the vault's header stand the slots: see kura-sync-format(5).
    var rest = header.dropFirst(56)
    func column() -> ArraySlice<UInt8>? {
      guard rest.count >= 2 else { return nil }
      let count = Int(rest[rest.startIndex]) | Int(rest[rest.startIndex + 1]) << 8
      guard rest.count >= 2 + count else { return nil }
      defer { rest = rest.dropFirst(2 + count) }
      return rest.dropFirst(2).prefix(count)
    }
    var kinds: [UInt8] = []
    for _ in 0..<(rest.popFirst() ?? 0) {
      guard let slot = column()?.first, column() != nil, column() != nil else { break }
      kinds.append(slot)
    }
    return kinds
  }
}

extension Connection {
  /// Begins to bring the vault and a store together. Each errand is answered by one of the `give` methods, until there
  /// is none.
  ///
  /// - Parameter compacts: Whether all is sealed anew, so that nothing is left in the store that no vault has.
  public mutating func beginSync(compacts: Bool = false) throws(ClientError) -> StoreTurn {
    try send(.sync(SyncRequest(compacts: compacts)))
    return try storeTurn()
  }

  /// Says of an errand that it is done, that there is nothing, or that nothing can be done.
  public mutating func give(_ answer: StoreAnswer) throws(ClientError) -> StoreTurn {
    try send(.syncGiven(SyncGivenRequest(answer)))
    return try storeTurn()
  }

  /// Hands over the bytes that were to be fetched.
  public mutating func give(bytes: [UInt8]) throws(ClientError) -> StoreTurn {
    var start = 0
    while true {
      let end = min(start + ProtocolLimit.storePiece, bytes.count)
      let hasMore = end < bytes.count
      try send(
        .syncGiven(
          SyncGivenRequest(bytes: bytes.span.extracting(start..<end), hasMore: hasMore)))
      guard hasMore else { return try storeTurn() }
      try storePart()
      start = end
    }
  }

  /// Hands over the names that were to be listed.
  public mutating func give(names: [String]) throws(ClientError) -> StoreTurn {
    var list = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 4_096)
    }
    var start = 0
    while true {
      let end = min(start + ProtocolLimit.attributes, names.count)
      list.removeAll()
      do throws(ProtocolError) {
        for name in names[start..<end] { try list.put16(text: name) }
      } catch { throw ClientError(writing: error) }
      let hasMore = end < names.count
      try send(
        .syncGiven(
          SyncGivenRequest(names: KeyFields(list.bytes, count: end - start), hasMore: hasMore)))
      guard hasMore else { return try storeTurn() }
      try storePart()
      start = end
    }
  }

  /// Who shares the vault.
  public mutating func syncStatus() throws(ClientError) -> SyncStatusReply { try ask(.syncStatus) }

  /// Makes the vault of what another machine left in a store, and unlocks it.
  ///
  /// - Parameters:
  ///   - label: What people call this machine.
  ///   - kind: A passcode or a recovery key.
  ///   - secret: As typed.
  ///   - offers: What the store has, of each head that may be meant.
  public mutating func joinSync(
    label: String, _ kind: Credential, secret: borrowing SecretBytes, _ offers: [StoreOffer]
  ) throws(ClientError) {
    let list = try Self.list(offers)
    try send(
      .syncJoin(
        SyncJoinRequest(
          label: label.utf8.span, by: OwnerWord(kind, secret.bytes),
          OfferFields(list.bytes, count: UInt8(clamping: offers.count)))))
    try done(patience: patience.derivation)
  }

  private static func list(_ offers: [StoreOffer]) throws(ClientError) -> SecretBuffer {
    var list = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 4_096) }
    do throws(ProtocolError) {
      for offer in offers {
        try list.putOffer(
          head: offer.head.span, header: offer.header.span, record: offer.record.span)
      }
    } catch { throw ClientError(writing: error) }
    return list
  }

  /// Puts everything under the key that another machine gave the vault, which the last meeting with the store has found.
  ///
  /// - Parameters:
  ///   - kind: A passcode or a recovery key.
  ///   - secret: As typed, for a slot as it is there.
  ///   - own: What opens the vault as it is here; nil where it is the same.
  ///   - progress: Called now and then.
  /// - Throws: ``ClientError/refused(_:)``: with `Failure.ownerNeeded` where it is not the same.
  public mutating func enterSync(
    _ kind: Credential, secret: borrowing SecretBytes, own: borrowing Word? = nil,
    progress: (ProgressReport) -> Void = { _ in }
  ) throws(ClientError) {
    try send(
      .syncEnter(SyncEnterRequest(by: OwnerWord(kind, secret.bytes), here: OwnerWord(own))))
    while true {
      let frame = try channel.next(patience: patience.derivation)
      guard frame.type == .progress else { return try finish(frame) }
      let payload = received.extracting(frame.payload)
      progress(try reading { () throws(ProtocolError) in try ProgressReport(payload) })
    }
  }

  /// Makes the vault one that machines share.
  ///
  /// - Parameters:
  ///   - label: What people call this machine.
  ///   - flags: Whether a passcode that can be guessed from what the store sees is meant, and whether the store is to see
  ///     recovery keys alone.
  /// - Returns: Where the copy is of a vault that was taken over for it; nil where it had the format.
  public mutating func startSync(
    label: String, _ flags: SyncStartRequest.Flags = []
  ) throws(ClientError) -> String? {
    try send(.syncStart(SyncStartRequest(label: label.utf8.span, flags)))
    let reply: TakeOverReply = try replied(
      received(try answer(patience: patience.derivation)))
    return reply.copy.bytes.isEmpty ? nil : String(repairing: reply.copy.bytes)
  }

  /// What the agent has done next, or what came of all.
  private mutating func storeTurn() throws(ClientError) -> StoreTurn {
    var errand: StoreErrand?
    var bytes: [UInt8] = []
    var report: SyncReply?
    while true {
      let frame = try channel.next(patience: patience.derivation)
      guard frame.type != .progress else { continue }
      guard frame.type == .data else {
        try finish(frame)
        break
      }
      let payload = received.extracting(frame.payload)
      if errand == nil {
        errand = try reading { () throws(ProtocolError) in try StoreErrand(data: payload) }
        bytes.reserveCapacity(errand?.kind == .write ? Int(errand?.size ?? 0) : 0)
      } else if errand?.kind == StoreErrandKind.none {
        report = try reading { () throws(ProtocolError) in try SyncReply(data: payload) }
      } else {
        bytes.append(bytes: payload)
      }
    }
    guard let errand else { throw .broken(.frameType(FrameType.end.rawValue)) }
    if let report { return .over(report) }
    let wanted = errand.kind == .write ? Int(errand.size) : 0
    guard errand.kind != .none, bytes.count == wanted else { throw .broken(.fieldValue) }
    return .errand(errand, bytes)
  }

  /// Waits until a part of an answer was taken.
  private mutating func storePart() throws(ClientError) {
    while true {
      let frame = try channel.next(patience: patience.answer)
      guard frame.type == .progress else { return try finish(frame) }
    }
  }
}
