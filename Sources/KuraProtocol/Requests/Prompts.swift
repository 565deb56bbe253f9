// SPDX-License-Identifier: MIT

public import SecureMemory

/// Ask for the vault's passcode, in turn with all others that do: one prompt at a time for a vault.
///
/// The answer is a stream of ``PromptNews``, and an end when the vault is unlocked or somebody
/// cancelled; meanwhile the client sends ``PromptWord``s. It leaves by hanging up.
public struct PromptRequest: Message, ~Escapable {
  /// Says what the client can tell of its prompt.
  public struct Flags: OptionSet, Sendable {
    /// The bits, as they travel.
    public let rawValue: UInt8
    /// Takes all bits as they are; those that this release does not know are refused where a
    /// message is read.
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The client sees the keys and says so: ``PromptWord/touched``.
    public static let seesKeys = Flags(rawValue: 1)
  }

  /// What the client can tell of its prompt.
  public private(set) var flags: Flags
  /// Where the client would ask: the name of a terminal or a program, to be shown to people.
  public private(set) var place: Field

  /// Without fields yet: they are read into it.
  @_lifetime(immortal)
  public init() { self.init(at: Span(), flags: []) }

  /// A wish to ask there.
  @_lifetime(copy place)
  public init(at place: Span<UInt8>, flags: Flags) {
    self.flags = flags
    self.place = Field(place)
  }

  /// Goes over `flags u8, place b16`.
  @_lifetime(self: copy self, copy coder)
  public mutating func code(_ coder: inout some Coding) throws(ProtocolError) {
    try coder.flags(&flags, allowed: .seesKeys)
    try coder.field16(&place, limit: ProtocolLimit.terminal)
  }
}

/// Tells the agent of a prompt that is shown or waited for: the one byte of a frame of type
/// ``FrameType/clientData``.
public enum PromptWord: UInt8, Sendable, CaseIterable {
  /// A key was pressed at its prompt.
  case touched = 1
  /// Its person wants to be asked here.
  case take = 2
  /// Its person cancelled the prompt: all who ask and wait are answered with that.
  case cancel = 3
  /// It cannot ask for a while: another may; ``take`` is its way back.
  case aside = 4

  /// Reads the payload of a frame of type ``FrameType/clientData``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    guard let word = PromptWord(rawValue: try reader.number()) else { throw .fieldValue }
    try reader.finish()
    self = word
  }
}

/// Tells a client whose turn it is to ask; the payload of a data frame of the answer to `prompt`.
public enum PromptNews: Equatable, Sendable {
  /// The client that is told.
  case yours
  /// Another one: where that asks, as a position in the payload.
  case elsewhere(Range<Int>)

  /// Reads the payload of a frame of type ``FrameType/data``.
  public init(_ payload: Span<UInt8>) throws(ProtocolError) {
    var reader = FieldReader(payload)
    let state: UInt8 = try reader.number()
    let place = try reader.field16(limit: ProtocolLimit.terminal)
    try reader.finish()
    switch state {
    case 1 where place.isEmpty: self = .yours
    case 2: self = .elsewhere(place)
    default: throw .fieldValue
    }
  }
}

// MARK: - Writing

extension SecretBuffer {
  /// Writes a word of a client that asks or waits.
  public mutating func putPromptWord(_ word: PromptWord) throws(ProtocolError) {
    let frame = try openFrame(.clientData)
    try put(word.rawValue)
    try closeFrame(frame)
  }

  /// Tells a client whose turn it is.
  ///
  /// - Parameter place: Where another one asks; nil: it is this one's turn.
  public mutating func putPromptNews(elsewhere place: Span<UInt8>?) throws(ProtocolError) {
    let frame = try openFrame(.data)
    if let place {
      try put(UInt8(2))
      try put16(place, limit: ProtocolLimit.terminal)
    } else {
      try put(UInt8(1))
      try put(UInt16(0))
    }
    try closeFrame(frame)
  }
}
