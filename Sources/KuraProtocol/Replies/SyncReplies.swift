// SPDX-License-Identifier: MIT

public import SecureMemory

/// Says what the agent wants done in a store; the first data frame of an answer to `sync` and `sync-given`.
public struct StoreErrand: Message, Equatable, Sendable {
  /// What is to be done.
  public private(set) var kind: StoreErrandKind
  /// A name below the vault's, of a file; of what is to be listed, `heads` or that of a device's objects.
  public private(set) var name: [UInt8]
  /// How many bytes are fetched at most, or follow to be written.
  public private(set) var size: UInt32

  /// Without fields yet: they are read into it.
  public init() { self.init(.none, "") }

  /// An errand.
  public init(_ kind: StoreErrandKind, _ name: String, size: UInt32 = 0) {
    (self.kind, self.name, self.size) = (kind, Array(name.utf8), size)
  }

  /// Goes over `kind u8, name b16, size u32`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&kind)
    try coder.bytes16(&name, limit: ProtocolLimit.storeName)
    try coder.number(&size)
    guard size <= ProtocolLimit.storeFile else { throw .fieldValue }
  }
}

/// Tells what came of a meeting with a store; the last data frame of the answer.
public struct SyncReply: Message, Equatable, Sendable {
  /// What came, as of a merge with another copy.
  public var came = SyncCounts()
  /// Own changes that are in the store now and were not.
  public var sent: UInt64 = 0
  /// Objects that were written.
  public var objects: UInt64 = 0
  /// The bytes of these.
  public var bytes: UInt64 = 0
  /// Own changes that are not in the store yet.
  public var waiting: UInt64 = 0
  /// What was noticed.
  public var news: [SyncNews] = []

  /// Without fields yet: they are read into it.
  public init() {}

  /// Goes over `came, sent u64, objects u64, bytes u64, waiting u64, count u16, news…`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try came.code(&coder)
    try coder.number(&sent)
    try coder.number(&objects)
    try coder.number(&bytes)
    try coder.number(&waiting)
    try coder.messages(&news, limit: ProtocolLimit.news)
  }
}

/// Counts what came from other machines.
public struct SyncCounts: Message, Equatable, Sendable {
  /// Items that were not here.
  public var added: UInt64 = 0
  /// Items of which something came.
  public var changed: UInt64 = 0
  /// Items that are gone, since they were purged elsewhere.
  public var purged: UInt64 = 0
  /// Items with a conflict now.
  public var conflicting: UInt64 = 0
  /// Items that got another name, or got theirs back.
  public var renamed: UInt64 = 0
  /// Settings that are stricter now.
  public var settings: UInt64 = 0
  /// Settings that were made looser elsewhere, and are so here from the owner's next unlock on.
  public var looserSettings: UInt64 = 0
  /// Ways to open the vault that came, or ended.
  public var slots: UInt64 = 0
  /// Ways to open the vault that came, and find no room here.
  public var waitingSlots: UInt64 = 0
  /// Whether each passcode and recovery key was ended somewhere, so that all of them stand.
  public var keptSlots = false

  /// Nothing.
  public init() {}

  /// Goes over `added u64, changed u64, purged u64, conflicting u64, renamed u64, settings u64, looser u64, slots u64,
  /// waiting u64, kept u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.number(&added)
    try coder.number(&changed)
    try coder.number(&purged)
    try coder.number(&conflicting)
    try coder.number(&renamed)
    try coder.number(&settings)
    try coder.number(&looserSettings)
    try coder.number(&slots)
    try coder.number(&waitingSlots)
    try coder.flag(&keptSlots)
  }
}

/// Tells of something that was noticed in a store.
public struct SyncNews: Message, Equatable, Sendable {
  /// What it is.
  public private(set) var notice: SyncNotice
  /// The id of the device that it is about; empty where it is about none.
  public private(set) var device: [UInt8]
  /// What people call that, UTF-8; empty where it is not known.
  public private(set) var label: [UInt8]
  /// When it was heard last, in ms of Unix time by the own clock; 0: never.
  public private(set) var heard: UInt64

  /// Without fields yet: they are read into it.
  public init() { self.init(.late, of: []) }

  /// What was noticed of a device.
  public init(_ notice: SyncNotice, of device: [UInt8], label: [UInt8] = [], heard: UInt64 = 0) {
    (self.notice, self.device, self.label, self.heard) = (notice, device, label, heard)
  }

  /// Goes over `notice u8, device b16, label b16, heard u64`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.choice(&notice)
    try coder.bytes16(&device, limit: StorePlace.identifierByteCount)
    try coder.bytes16(&label, limit: Int(UInt16.max))
    try coder.number(&heard)
  }
}

/// Tells of a device that shares the vault.
public struct SyncDevice: Message, Equatable, Sendable {
  /// Its id.
  public var device: [UInt8] = []
  /// What people call it, UTF-8.
  public var label: [UInt8] = []
  /// The number of its head that was taken last; of this device, written.
  public var number: UInt64 = 0
  /// When it was heard last, in ms of Unix time by the own clock; 0: never.
  public var heard: UInt64 = 0
  /// Whether it is the one that answers.
  public var isThis = false
  /// Whether it does not share the vault any more.
  public var isRemoved = false
  /// Whether nothing was heard of it under the vault key of now.
  public var isBehind = false
  /// Whether it has to meet the store before nothing is left there that no vault has.
  public var isAwaited = false

  /// Without fields yet: they are read into it.
  public init() {}

  /// Goes over `device b16, label b16, number u64, heard u64, this u8, removed u8, behind u8,
  /// awaited u8`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.bytes16(&device, limit: StorePlace.identifierByteCount)
    try coder.bytes16(&label, limit: Int(UInt16.max))
    try coder.number(&number)
    try coder.number(&heard)
    try coder.flag(&isThis)
    try coder.flag(&isRemoved)
    try coder.flag(&isBehind)
    try coder.flag(&isAwaited)
  }

  /// Whether others are called the same, so that its id has to say which is meant.
  public func isNamesake(among all: [SyncDevice]) -> Bool {
    !label.isEmpty && all.contains { $0.device != device && $0.label == label }
  }
}

/// The answer to `sync-status`: who shares the vault.
public struct SyncStatusReply: Message, Equatable, Sendable {
  /// Whether the vault is shared.
  public var isShared = false
  /// Whether the store gets the slots of recovery keys alone.
  public var isSparing = false
  /// Own changes that are not in the store yet.
  public var waiting: UInt64 = 0
  /// The id of the epoch; empty where it is not shared.
  public var epoch: [UInt8] = []
  /// By which machines that have the same tell that they do; empty where it is not known.
  public var fingerprint: [UInt8] = []
  /// By which machines that know the same heads tell that they do, 16 bytes; empty where it is not shared.
  public var heads: [UInt8] = []
  /// The same without the own head.
  public var otherHeads: [UInt8] = []
  /// Who shares it.
  public var devices: [SyncDevice] = []

  /// Without fields yet: they are read into it.
  public init() {}

  /// Goes over `shared u8, sparing u8, waiting u64, epoch b16, fingerprint b16, heads b16, others b16, count u16,
  /// devices…`.
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flag(&isShared)
    try coder.flag(&isSparing)
    try coder.number(&waiting)
    try coder.bytes16(&epoch, limit: StorePlace.identifierByteCount)
    try coder.bytes16(&fingerprint, limit: StorePlace.hashByteCount)
    try coder.bytes16(&heads, limit: StorePlace.hashByteCount)
    try coder.bytes16(&otherHeads, limit: StorePlace.hashByteCount)
    try coder.messages(&devices, limit: ProtocolLimit.devices)
  }
}

// MARK: - Lists that a message keeps

extension FieldCoder where Self: ~Copyable & ~Escapable {
  /// A `b16` that the message keeps.
  @_lifetime(self: copy self)
  fileprivate mutating func bytes16(
    _ bytes: inout [UInt8], limit: Int
  ) throws(ProtocolError) {
    let held = bytes
    var field = Field(held.span)
    try field16(&field, limit: limit)
    var read: [UInt8] = []
    read.reserveCapacity(field.bytes.count)
    for index in field.bytes.indices { read.append(field.bytes[index]) }
    bytes = read
  }

  /// A counted list of messages.
  @_lifetime(self: copy self)
  fileprivate mutating func messages<Element: Message>(
    _ list: inout [Element], limit: Int
  ) throws(ProtocolError) {
    var number = list.count
    try count(&number, limit: limit)
    for index in 0..<number {
      // What is read is not there yet.
      if index == list.count { list.append(Element()) }
      try list[index].code(&self)
    }
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes a message as a data frame.
  private mutating func putData<Fields: Message>(_ fields: Fields) throws(ProtocolError) {
    let frame = try openFrame(.data)
    var fields = fields
    try fields.code(&self)
    try closeFrame(frame)
  }

  /// Says what is to be done in a store.
  public mutating func putErrand(_ errand: StoreErrand) throws(ProtocolError) {
    try putData(errand)
  }

  /// Says what came of a meeting with a store.
  public mutating func putSync(_ reply: SyncReply) throws(ProtocolError) { try putData(reply) }
}
