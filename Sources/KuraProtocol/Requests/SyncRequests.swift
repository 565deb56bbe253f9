// SPDX-License-Identifier: MIT

/// Bring the vault and what machines leave for each other in a store together. The answer is a ``StoreErrand``; each
/// errand is answered by a ``SyncGivenRequest``, until there is none and the report comes.
public struct SyncRequest: Message, Equatable, Sendable {
  private var flags: UInt8 = 0

  /// Begins.
  public init() {}

  /// Goes over `flags u8`, of which there is none yet.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&flags)
    guard flags == 0 else { throw .fieldValue }
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
    case .missing, .done, .failed: if hasMore { throw .fieldValue }
    }
  }
}

/// Begin to share the vault: it becomes one that machines leave things for each other of.
public struct SyncStartRequest: Message, ~Escapable {
  /// Whether a passcode that can be guessed from what the store sees is meant.
  public private(set) var isWeakMeant: Bool
  /// What people call this machine, UTF-8.
  public private(set) var label: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(label: Span()) }

  /// Begins, with a name for this machine.
  @_lifetime(copy label)
  public init(label: Span<UInt8>, isWeakMeant: Bool = false) {
    self.isWeakMeant = isWeakMeant
    self.label = Field(label)
  }

  /// Goes over `weak u8, label b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flag(&isWeakMeant)
    try coder.field16(&label)
  }
}

/// Make the vault anew on this machine, of what another one left in a store.
public struct SyncJoinRequest: Message, ~Escapable {
  /// What people call this machine, UTF-8.
  public private(set) var label: Field
  /// A passcode or a recovery key of the vault.
  public private(set) var word: OwnerWord
  /// The head of a machine, which names both objects.
  public private(set) var head: Field
  /// A header object.
  public private(set) var header: Field
  /// The record of the header's epoch.
  public private(set) var record: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() {
    self.init(label: Span(), by: OwnerWord(), head: Span(), header: Span(), record: Span())
  }

  /// A vault to be made.
  @_lifetime(copy label, copy word, copy head, copy header, copy record)
  public init(
    label: Span<UInt8>, by word: OwnerWord, head: Span<UInt8>, header: Span<UInt8>,
    record: Span<UInt8>
  ) {
    (self.word, self.label, self.head) = (word, Field(label), Field(head))
    (self.header, self.record) = (Field(header), Field(record))
  }

  /// Goes over `label b16, word, head b32, header b32, record b32`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.field16(&label)
    try word.code(&coder)
    try coder.field32(&head, limit: ProtocolLimit.frame)
    try coder.field32(&header, limit: ProtocolLimit.frame)
    try coder.field32(&record, limit: ProtocolLimit.frame)
    guard word.credential != nil else { throw .fieldValue }
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
    try there.code(&coder)
    try here.code(&coder)
    guard there.credential != nil else { throw .fieldValue }
  }
}
