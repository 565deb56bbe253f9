// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraClient
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraUI

/// How wide a character is depends on the locale of the process.
private let locale: Bool = setlocale(LC_CTYPE, "C.UTF-8") != nil

/// Holds a grid so that macros, which copy, can ask about it.
final class Paper {
  var grid: Grid

  init(_ rows: Int, _ columns: Int, isUnicode: Bool = true) throws {
    #expect(locale)
    grid = try Grid(rows: rows, columns: columns, isUnicode: isUnicode)
  }

  func put(_ text: String, _ row: Int, _ column: Int) { grid.put(text, row, column) }

  func put(secret bytes: [UInt8]) {
    var pen = grid.pen(0, 0)
    grid.put(secret: bytes.span, &pen)
  }

  func erase() { grid.erase() }

  func cell(_ row: Int, _ column: Int) -> Cell { grid.cell(row, column) }

  var isSecret: Bool { grid.isSecret }

  /// A line as a person reads it.
  func line(_ row: Int) -> String {
    var text = ""
    for column in 0..<grid.columns {
      let cell = grid.cell(row, column)
      if cell.isTail { continue }
      for value in [cell.base == 0 ? 0x20 : cell.base, cell.marks.0, cell.marks.1] where value > 0 {
        text.unicodeScalars.append(Unicode.Scalar(value) ?? "?")
      }
    }
    while text.last == " " { text.removeLast() }
    return text
  }

  var text: String { (0..<grid.rows).map { line($0) + "\n" }.joined() }
}

/// Leads a model by the hand, as a person and an agent do together.
final class Hand {
  var model: Model

  /// An uncovered model of a vault with these names.
  init(_ names: [String], isPicker: Bool = false, moves: Bool = true) {
    model = Model(vault: "default", isPicker: isPicker, moves: moves)
    _ = model.uncover(now: 1_000)
    _ = model.loaded(NameTable(names.map { ($0, []) }))
  }

  /// One whose vault is locked.
  init(_ cover: Cover, moves: Bool = true) {
    model = Model(vault: "default", moves: moves)
    model.cover(cover)
  }

  @discardableResult
  func press(_ key: Key, now: UInt64 = 1_000) -> [Effect] { model.take(key, now: now) }

  @discardableResult
  func type(_ text: String) -> [Effect] {
    text.unicodeScalars.flatMap { model.take(.character($0), now: 1_000) }
  }

  func tick(_ now: UInt64) -> [Effect] { model.tick(now: now) }

  func nextTick(_ now: UInt64) -> UInt64? { model.nextTick(now: now) }

  @discardableResult
  func open(_ item: ShownItem, secrets: [OpenItem.Secret] = []) -> [Effect] {
    model.opened(item, secrets)
  }

  func show(_ text: String, now: UInt64 = 1_000) throws {
    model.revealed(try SecretBytes(copying: text.utf8.span), revision: 0, now: now)
  }

  /// What an effect was given.
  func given() -> String? {
    guard let secret = model.takeGiven() else { return nil }
    var bytes: [UInt8] = []
    let span = secret.bytes
    for index in span.indices { bytes.append(span[index]) }
    return String(decoding: bytes, as: UTF8.self)
  }

  func drawn(_ rows: Int = 24, _ columns: Int = 80, now: UInt64 = 1_000, isUnicode: Bool = true)
    throws
    -> String
  {
    let paper = try Paper(rows, columns, isUnicode: isUnicode)
    model.rows = rows
    View(now: now).draw(model, into: &paper.grid)
    return paper.text
  }

  var page: Page { model.page }
  var awaitsCode: Bool { model.awaitsCode }
  var cover: Cover? { model.cover }
  var openName: String? { model.openName }
  var name: String? { model.list.name }
  var count: Int { model.list.rows.count }
  var isShown: Bool { model.isShown }
}

/// Holds a screen against its picture in Fixtures/screens; `KURA_SCREENS=write` makes that anew.
func isPicture(_ text: String, _ name: String) throws -> Bool {
  let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent().appending(path: "Fixtures/screens")
  let file = folder.appending(path: name + ".txt")
  if ProcessInfo.processInfo.environment["KURA_SCREENS"] == "write" {
    try Data(text.utf8).write(to: file)
  }
  return try String(contentsOf: file, encoding: .utf8) == text
}
