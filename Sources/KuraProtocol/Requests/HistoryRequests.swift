// SPDX-License-Identifier: MIT

public import SecureMemory

/// Give an item another name; revision and history stay.
public struct MoveRequest: Equatable, Sendable {
  public struct Flags: OptionSet, Sendable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// A value may stand under the new name; it is deleted into its history, under the old name.
    public static let replace = Flags(rawValue: 1)
  }

  public let flags: Flags
  public let name: Range<Int>
  public let new: Range<Int>
  public let word: OwnerWord?

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    flags = try KuraProtocol.flags(&reader, allowed: .replace)
    name = try reader.field16()
    new = try reader.field16()
    word = try OwnerWord.read(&reader)
  }
}

/// Bring an earlier revision back as the next one.
public struct RestoreRequest: Equatable, Sendable {
  /// The revision to bring back; 0 = the newest value of a deleted item.
  public let revision: UInt64
  /// The revision the item must have, deleted or not; 0 = any.
  public let ifRevision: UInt64
  public let name: Range<Int>

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    revision = try reader.number()
    ifRevision = try reader.number()
    name = try reader.field16()
  }
}

/// Take an item, or earlier revisions of it, out of the vault for good.
public struct PurgeRequest: Equatable, Sendable {
  /// Says what goes.
  public enum Scope: UInt8, Sendable, CaseIterable {
    /// All of the item, deleted or not.
    case item = 0
    /// All its earlier revisions.
    case history = 1
    /// One of them.
    case revision = 2
  }

  public let scope: Scope
  /// Which one; 0 for every other scope.
  public let revision: UInt64
  public let name: Range<Int>
  public let word: OwnerWord?

  init(_ reader: inout FieldReader) throws(ProtocolError) {
    guard let scope = Scope(rawValue: try reader.number()) else { throw .fieldValue }
    self.scope = scope
    revision = try reader.number()
    name = try reader.field16()
    word = try OwnerWord.read(&reader)
    guard (scope == .revision) == (revision != 0) else { throw .fieldValue }
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes `move`.
  public mutating func putMove(
    name: Span<UInt8>, to new: Span<UInt8>, flags: MoveRequest.Flags,
    by credential: Credential? = nil, word: Span<UInt8> = Span()
  ) throws(ProtocolError) {
    let frame = try openRequest(.move)
    try put(flags.rawValue)
    try put16(name)
    try put16(new)
    try put(word: credential, word)
    try closeFrame(frame)
  }

  /// Writes `history`.
  public mutating func putHistory(name: Span<UInt8>) throws(ProtocolError) {
    let frame = try openRequest(.history)
    try put16(name)
    try closeFrame(frame)
  }

  /// Writes `restore`; revision 0 = the newest value of a deleted item, ifRevision 0 = any.
  public mutating func putRestore(
    name: Span<UInt8>, revision: UInt64, ifRevision: UInt64
  ) throws(ProtocolError) {
    let frame = try openRequest(.restore)
    try put(revision)
    try put(ifRevision)
    try put16(name)
    try closeFrame(frame)
  }

  /// Writes `purge`; a revision only where one is meant.
  public mutating func putPurge(
    name: Span<UInt8>, _ scope: PurgeRequest.Scope, revision: UInt64 = 0,
    by credential: Credential? = nil, word: Span<UInt8> = Span()
  ) throws(ProtocolError) {
    let frame = try openRequest(.purge)
    try put(scope.rawValue)
    try put(revision)
    try put16(name)
    try put(word: credential, word)
    try closeFrame(frame)
  }
}
