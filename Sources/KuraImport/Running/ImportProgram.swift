// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import KuraTerms
internal import SecureMemory

/// Runs an import from the command line to the exit status.
public enum ImportProgram {
  /// Does all of it.
  public static func run(_ arguments: [String]) -> Int32 {
    ProcessHardening.apply()
    // What is freed is overwritten: values are in arrays here.
    _ = kura_screen_overwrite_freed()
    let order: ImportOrder
    do throws(ImportOrder.Flaw) { order = try ImportOrder(arguments) } catch {
      return say(
        ImportFailure(.usage, ImportWords.harmless(error.words), hint: "try 'kura help import'"))
    }
    switch order.wanted {
    case .version:
      write("kura-import " + Release.version + "\n", to: 1)
      return 0
    case .help:
      write(ImportOrder.usage, to: 1)
      return 0
    case .work: break
    }
    do throws(ImportFailure) {
      try work(order)
      return 0
    } catch { return say(error) }
  }

  private static func work(_ given: ImportOrder) throws(ImportFailure) {
    let order = try recognized(given)
    let answer = try read(order)
    var (items, leavings) = ItemMapping.map(answer, into: order.folder)
    let vault: VaultPath
    do throws(PathError) { vault = try VaultPath.resolve(order.vault) } catch {
      throw ImportFailure(.usage, error.description)
    }
    let side = Held(try VaultSide(vault))
    var look = VaultLook(
      try side.vault.known(), depth: try side.vault.depth(),
      read: { name throws(ImportFailure) in try side.vault.value(name) },
      readSecrets: { name throws(ImportFailure) in try side.vault.secrets(name) },
      readEarlier: { name throws(ImportFailure) in try side.vault.earlier(name) })
    let plan = try Plan(items, order.policy, known: &look)
    items = []
    var rows = try Row.rows(of: plan.steps, known: &look)
    leavings += try store(&rows, of: plan, side, order) + plan.lost
    if order.isDry {
      let codes = Set(rows.filter { $0.flags.contains(.otp) }.map { $0.step })
      for (index, step) in plan.steps.enumerated() {
        write(ImportWords.line(step, givesCodes: codes.contains(index)) + "\n", to: 1)
      }
    } else {
      leavings += plan.kept
    }
    for leaving in leavings { note(ImportWords.line(leaving, in: order.format), order) }
    note(ImportWords.summary(plan, isDry: order.isDry), order)
  }

  /// Looks at a source whose form was not said, says which it is, and asks.
  private static func recognized(_ given: ImportOrder) throws(ImportFailure) -> ImportOrder {
    guard given.isAutomatic else { return given }
    var order = given
    let source = ImportWords.harmless(order.source)
    let found: ImportFormat?
    do throws(FileError) { found = try Recognition.format(at: order.source) } catch {
      throw ImportFailure(
        .inputOutput, "cannot read " + source + ": " + SystemMessage.text(error.errno))
    }
    guard let format = found else {
      throw ImportFailure(
        .failure, "nothing in " + source + " tells which form it has",
        hint: "name it: 'kura help import' lists those that there are")
    }
    order.format = format
    let words = source + " is " + format.rawValue + ": " + format.summary
    note(words, order)
    guard !order.isAgreed, !order.isDry else { return order }
    guard kura_is_terminal(0), kura_is_terminal(2) else {
      throw ImportFailure(
        .usage, "nobody can be asked whether " + words,
        hint: "name the format in place of auto, or give --yes")
    }
    write("kura: import it as that? [y/N] ", to: 2)
    guard answersYes() else { throw ImportFailure(.failure, "nothing was changed") }
    return order
  }

  /// Reads a line from the terminal.
  private static func answersYes() -> Bool {
    var room = [UInt8](repeating: 0, count: 256)
    var span = room.mutableSpan
    let count = System.read(0, into: &span)
    guard count > 0 else { return false }
    let word = String(decoding: room[..<count], as: UTF8.self).lowercased()
    return ["y", "yes"].contains(word.filter { !$0.isWhitespace })
  }

  private static func read(_ order: ImportOrder) throws(ImportFailure) -> AnswerReader.Answer {
    let bar = Bar(isShown: kura_is_terminal(2) && !order.isQuiet, word: "decrypting")
    defer { bar.clear() }
    return try SourceReading.read(order) { bar.show($0) }
  }

  /// Stores what the plan says, or has the agent look at it; a seed that makes no codes is kept as a value.
  private static func store(
    _ rows: inout [Row], of plan: Plan, _ side: Held, _ order: ImportOrder
  ) throws(ImportFailure) -> [Leaving] {
    guard !rows.isEmpty else { return [] }
    var leavings: [Leaving] = []
    var hint = "nothing was changed"
    if try side.vault.lacksPlace(for: rows) {
      // Nothing leads back from there: what is refused is to be refused before.
      leavings += try send(&rows, of: plan, isTrial: true, side, order, hint: hint)
      if order.isDry {
        note(ImportWords.toBeTakenOver, order)
        return leavings
      }
      if let copy = try side.vault.makePlace() { note(ImportWords.takenOver(copy), order) }
      hint = "nothing was stored"
    }
    return leavings
      + (try send(&rows, of: plan, isTrial: order.isDry, side, order, hint: hint))
  }

  private static func send(
    _ rows: inout [Row], of plan: Plan, isTrial: Bool, _ side: Held, _ order: ImportOrder,
    hint: String
  ) throws(ImportFailure) -> [Leaving] {
    var leavings: [Leaving] = []
    let bar = Bar(
      isShown: kura_is_terminal(2) && !order.isQuiet, word: isTrial ? "looking at" : "storing")
    defer { bar.clear() }
    while true {
      switch try side.vault.store(
        rows, isTrial: isTrial, progress: { bar.show($0, of: rows.count) })
      {
      case .all: return leavings
      case .noCode(let index):
        let item = plan.steps[rows[index].step].item
        let field = rows[index].flags.contains(.otp) ? item.field : "otp"
        rows[index].makeNoCode()
        leavings.append(
          Leaving(place: item.place, entry: item.name, field: field, reason: .remark(.noCode)))
      case .refused(let index, var failure):
        let item = plan.steps[rows[index].step].item
        failure.text =
          order.format.placeWord + " \(item.place), " + ImportWords.harmless(item.name) + ": "
          + failure.text
        failure.hint = hint
        throw failure
      }
    }
  }

  /// Keeps the connection where more than one thing uses it.
  private final class Held {
    var vault: VaultSide

    init(_ vault: consuming VaultSide) { self.vault = vault }
  }

  /// Shows how far it is, on a terminal.
  private struct Bar {
    let isShown: Bool
    let word: String

    func show(_ done: Int, of total: Int? = nil) {
      guard isShown else { return }
      let rest = total.map { " of \($0)" } ?? ""
      write("\r\u{1B}[K\(word): \(done)" + rest, to: 2)
    }

    func clear() { if isShown { write("\r\u{1B}[K", to: 2) } }
  }

  private static func note(_ text: String, _ order: ImportOrder) {
    if !order.isQuiet { write("kura: notice: " + text + "\n", to: 2) }
  }

  private static func say(_ failure: ImportFailure) -> Int32 {
    write("kura: error: " + failure.text + "\n", to: 2)
    if let hint = failure.hint { write("kura: hint: " + hint + "\n", to: 2) }
    return Int32(failure.status.rawValue)
  }

  private static func write(_ text: String, to descriptor: Int32) {
    do throws(FileError) { try Descriptor.write(text.utf8.span, to: descriptor) } catch {
      // Nobody reads what is said; what is stored stays stored.
      return
    }
  }
}
