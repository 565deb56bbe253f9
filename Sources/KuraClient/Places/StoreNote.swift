// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import KuraProtocol

/// Keeps where the store of a shared vault is, and how it was when it was last met: this machine's alone.
public struct StoreNote: Equatable, Sendable {
  /// Tells what was noticed of a device.
  public struct Notice: Equatable, Sendable {
    /// What it is.
    public let notice: SyncNotice
    /// The device's id; empty where it is about none.
    public let device: [UInt8]

    /// What was noticed of a device.
    public init(_ notice: SyncNotice, of device: [UInt8]) {
      (self.notice, self.device) = (notice, device)
    }
  }

  /// The store, as people write it.
  public var remote: String
  /// When it was met last, in ms of Unix time; 0 for never.
  public var met: UInt64 = 0
  /// What was noticed then.
  public var notices: [Notice] = []

  /// A store that was not met yet.
  public init(_ remote: String) { self.remote = remote }

  /// Where the note of a vault stands.
  public static func place(of vault: [UInt8]) throws(PathError) -> String {
    try UserDirectory.device() + "/" + StorePlace.hexadecimal(vault) + ".remote"
  }

  /// The note of a vault; nil for none.
  public static func read(for vault: [UInt8]) throws(PathError) -> StoreNote? {
    guard let bytes = Machine().file(try place(of: vault)) else { return nil }
    var lines = bytes.split(separator: UInt8(ascii: "\n"))[...]
    guard let first = lines.popFirst() else { return nil }
    var note = StoreNote(text(first))
    for line in lines {
      let words = line.split(separator: UInt8(ascii: " "))
      guard words.count == 2 else { continue }
      if words[0].elementsEqual("met".utf8) { note.met = number(words[1]) }
      let known = SyncNotice.allCases.first { $0.word.utf8.elementsEqual(words[0]) }
      guard let known else { continue }
      note.notices.append(Notice(known, of: StorePlace.identifier(text(words[1])) ?? []))
    }
    return note
  }

  /// Keeps it for a vault, durably.
  ///
  /// - Throws: ``FileError``.
  public func write(at place: String) throws(FileError) {
    var text = remote + "\nmet \(met)\n"
    for notice in notices {
      let device = notice.device.isEmpty ? "-" : StorePlace.hexadecimal(notice.device)
      text += notice.notice.word + " " + device + "\n"
    }
    if let slash = place.utf8.lastIndex(of: UInt8(ascii: "/")) {
      try FileError.check(Int(System.makeDirectory(String(place[..<slash]))))
    }
    var file = try OutputFile.begin(at: place)
    try file.write(text.utf8.span)
    try file.commit()
  }

  /// Takes a note away that was of no use.
  public static func forget(at place: String) { _ = System.remove(place) }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    let copy = Array(bytes)
    return String(repairing: copy.span)
  }

  private static func number(_ digits: ArraySlice<UInt8>) -> UInt64 {
    var number: UInt64 = 0
    for digit in digits {
      guard digit >= 0x30, digit <= 0x39 else { return 0 }
      let (times, isOver) = number.multipliedReportingOverflow(by: 10)
      let (sum, isMore) = times.addingReportingOverflow(UInt64(digit - 0x30))
      guard !isOver, !isMore else { return 0 }
      number = sum
    }
    return number
  }
}
