// SPDX-License-Identifier: MIT

/// Says what an entry of the access log tells beside the names; nothing of it is secret in memory.
public struct LogFacts: Equatable, Sendable {
  /// The longest name of a program or terminal that is kept, in bytes; a longer one is cut at its front.
  public static let longestText = 255

  /// When, in milliseconds since 1970.
  public var time: UInt64
  /// What was asked: a verb of the protocol, or 0 for a remark about the log itself.
  public var verb: UInt8
  /// 0 when it was done, else the code of the refusal.
  public var code: UInt16
  /// What more there is to say; what, the verb decides.
  public var detail: UInt64
  /// The client's process, 0 where there was none.
  public var process: UInt32
  /// The process that had started it, 0 when not known.
  public var parent: UInt32
  /// The client's program.
  public var program: [UInt8] { didSet { program = Self.cut(program) } }
  /// The program of the process that had started it.
  public var parentProgram: [UInt8] { didSet { parentProgram = Self.cut(parentProgram) } }
  /// The client's terminal, empty for none.
  public var terminal: [UInt8] { didSet { terminal = Self.cut(terminal) } }

  /// The facts of an entry that no client caused.
  public init(time: UInt64, verb: UInt8, code: UInt16 = 0, detail: UInt64 = 0) {
    self.time = time
    self.verb = verb
    self.code = code
    self.detail = detail
    process = 0
    parent = 0
    program = []
    parentProgram = []
    terminal = []
  }

  private static func cut(_ text: [UInt8]) -> [UInt8] {
    text.count > longestText ? Array(text.suffix(longestText)) : text
  }
}

/// Names what is wrong with an access log.
public enum LogFlaw: UInt8, Sendable, CaseIterable {
  /// It cannot be read at all.
  case head = 1
  /// Entries were changed.
  case damaged = 2
  /// Entries are missing.
  case missing = 3
  /// Entries stand in another place than they were written at, or twice.
  case misplaced = 4
  /// The log ends before an entry that had been noted.
  case cut = 5
  /// The last write was cut off, as by a crash.
  case torn = 6

  /// Whether somebody must have been at the file.
  public var isTampering: Bool { self != .torn }
}

/// Names what the log says about itself: the low byte of the detail of an entry with verb 0.
public enum LogRemark: UInt8, Sendable, CaseIterable {
  /// The log begins.
  case begun = 1
  /// A write had been cut off; so many bytes of it were dropped.
  case torn = 2
  /// Entries that had been noted were missing.
  case cut = 3
  /// There was a log that could not be read; it was moved aside.
  case unreadable = 4
  /// So many entries could not be written.
  case lost = 5
  /// The vault got a new key; so many parts of the log could not be taken over.
  case rekeyed = 6
  /// The log had been switched off, which dropped so many entries; it begins anew.
  case switchedOff = 7
}
