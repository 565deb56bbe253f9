// SPDX-License-Identifier: MIT

/// Bring the vault and what machines leave for each other in a store together. The answer is a ``StoreErrand``; each
/// errand is answered by a ``SyncGivenRequest``, until there is none and the report comes.
public struct SyncRequest: Message, Equatable, Sendable {
  /// Whether all is sealed anew, here and by the others when they meet the store, so that nothing is left there that no vault
  /// has.
  public private(set) var compacts: Bool

  /// Without fields yet: they are read into it.
  public init() { self.init(compacts: false) }

  /// Begins.
  public init(compacts: Bool) { self.compacts = compacts }

  /// Goes over `flags u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flag(&compacts)
  }
}

/// Tells what came of an errand, all of it or a part.
public struct SyncGivenRequest: Message, ~Escapable {
  /// What came of it.
  public private(set) var answer: StoreAnswer
  /// Whether more of the same follows in another request.
  public private(set) var hasMore: Bool
  /// With ``StoreAnswer/names``: names below the vault's.
  public private(set) var names: KeyFields
  /// With ``StoreAnswer/bytes``: at most ``ProtocolLimit/storePiece``.
  public private(set) var bytes: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(.done) }

  /// An answer without names and bytes.
  @_lifetime(immortal)
  public init(_ answer: StoreAnswer) {
    (self.answer, hasMore) = (answer, false)
    (names, bytes) = (KeyFields(), Field())
  }

  /// Names that there are.
  @_lifetime(copy names)
  public init(names: KeyFields, hasMore: Bool) {
    (answer, self.hasMore, self.names, bytes) = (.names, hasMore, names, Field())
  }

  /// Bytes that stand there.
  @_lifetime(copy bytes)
  public init(bytes: Span<UInt8>, hasMore: Bool) {
    (answer, self.hasMore, names, self.bytes) = (.bytes, hasMore, KeyFields(), Field(bytes))
  }

  /// Goes over `answer u8, more u8`, and, with names, `count u16 (name b16)…`, with bytes, `bytes b32`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&answer)
    try coder.flag(&hasMore)
    switch answer {
    case .names: try names.code(&coder)
    case .bytes: try coder.field32(&bytes, limit: ProtocolLimit.storePiece)
    case .missing, .done, .failed, .kept: if hasMore { throw .fieldValue }
    }
  }
}

/// Begin to share the vault: it becomes one that machines leave things for each other of.
public struct SyncStartRequest: Message, ~Escapable {
  /// Says what else is meant.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A passcode that can be guessed from what the store sees is meant.
    public static let weak = Flags(rawValue: 1)
    /// The store is to see the slots of recovery keys alone.
    public static let sparing = Flags(rawValue: 2)
  }

  /// What else is meant.
  public private(set) var flags: Flags
  /// What people call this machine, UTF-8.
  public private(set) var label: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(label: Span()) }

  /// Begins, with a name for this machine.
  @_lifetime(copy label)
  public init(label: Span<UInt8>, _ flags: Flags = []) {
    self.flags = flags
    self.label = Field(label)
  }

  /// Goes over `flags u8, label b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: [.weak, .sparing])
    try coder.field16(&label)
  }
}

/// Make the vault anew on this machine, of what another one left in a store.
public struct SyncJoinRequest: Message, ~Escapable {
  /// What people call this machine, UTF-8.
  public private(set) var label: Field
  /// A passcode or a recovery key of the vault.
  public private(set) var word: OwnerWord
  /// What machines left, the likeliest first.
  public private(set) var offers: OfferFields

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(label: Span(), by: OwnerWord(), OfferFields()) }

  /// A vault to be made.
  @_lifetime(copy label, copy word, copy offers)
  public init(label: Span<UInt8>, by word: OwnerWord, _ offers: OfferFields) {
    (self.word, self.label, self.offers) = (word, Field(label), offers)
  }

  /// Goes over `label b16, word, offers`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&label)
    try word.codeElsewhere(&coder)
    try offers.code(&coder)
    guard word.credential != nil else { throw .fieldValue }
  }
}

/// Holds what machines left in a store that a vault can begin with, each checked to be whole.
public struct OfferFields: Message, ~Escapable {
  private var count: UInt8
  private var list: Field

  /// None yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(Span(), count: 0) }

  /// Offers to be written.
  ///
  /// - Parameters:
  ///   - offers: As ``SecretBuffer/putOffer(head:header:record:)`` writes them.
  ///   - count: How many they are, 1 to ``ProtocolLimit/offers``.
  @_lifetime(copy offers)
  public init(_ offers: Span<UInt8>, count: UInt8) { (self.count, list) = (count, Field(offers)) }

  /// Goes over `count u8 (head b32, header b32, record b32)…`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&count)
    guard count > 0, count <= ProtocolLimit.offers else { throw .fieldValue }
    try coder.list(&list, of: 3 * Int(count)) { reader throws(ProtocolError) in
      _ = try reader.field32(limit: ProtocolLimit.frame)
    }
  }

  /// Calls `body` with each head, the header object that it names, and the record of its epoch.
  public func forEach(
    _ body: (_ head: Span<UInt8>, _ header: Span<UInt8>, _ record: Span<UInt8>) -> Void
  ) {
    var reader = FieldReader(list.bytes)
    for _ in 0..<count {
      guard let head = try? reader.field32(), let header = try? reader.field32(),
        let record = try? reader.field32()
      else { preconditionFailure("a list that was not read") }
      let bytes = list.bytes
      body(bytes.extracting(head), bytes.extracting(header), bytes.extracting(record))
    }
  }
}

/// Put everything under the vault key that another machine gave the vault: of the epoch that was found when the store
/// was met last.
public struct SyncEnterRequest: Message, ~Escapable {
  /// What opens a slot as it is there.
  public private(set) var there: OwnerWord
  /// What opens the vault as it is here; none where it is the same.
  public private(set) var here: OwnerWord

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(by: OwnerWord(), here: OwnerWord()) }

  /// A key that is to be entered.
  @_lifetime(copy there, copy here)
  public init(by there: OwnerWord, here: OwnerWord) {
    (self.there, self.here) = (there, here)
  }

  /// Goes over `there word, here word`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try there.codeElsewhere(&coder)
    try here.codeElsewhere(&coder)
    guard there.credential != nil else { throw .fieldValue }
  }
}
