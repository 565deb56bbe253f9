// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import SecureMemory

/// Tells why nothing was typed.
enum PromptError: Error, Equatable, Sendable {
  /// Ctrl-C.
  case interrupted
  /// Ctrl-D on an empty line.
  case cancelled
  /// The window is gone.
  case closed
  /// What was asked for came from elsewhere, or is asked elsewhere now.
  case answeredElsewhere
  /// The terminal does not do what is needed.
  case failed
  case outOfMemory
}

/// Leads a conversation on the controlling terminal, whatever stdin and stdout are.
///
/// From the first question on, the terminal shows nothing of what is typed; it is given back as it
/// was however the conversation ends. What was typed stands in guarded memory only.
struct Prompt: ~Copyable {
  let descriptor: Int32
  /// The terminal's own name, such as `pts/3`, for people.
  let name: String
  let isDumb: Bool
  /// Whether what was wrong is shaken.
  let moves: Bool
  let bullet: String
  private(set) var keys: LineEditor.Keys?
  /// Keeps other prompts off this terminal; negative: not held.
  private var lock: Int32 = -1
  /// Typed, but not yet looked at.
  var typed: SecretBuffer
  /// What is to be shown next.
  private var drawing: SecretBuffer
  /// The line that was answered last, as it stands: its label, and how many bullets.
  var answered = (label: "", bullets: 0)
  /// Whether more had been typed when it was.
  private var hasMore = false
  /// Whether Tab was pressed in the place of an answer.
  private(set) var wantsOther = false
  /// What is shown for a moment only.
  var passage = Passage()

  /// Opens the terminal; nil where nobody can be asked: there is none, or the command runs in its
  /// background.
  static func open(_ variables: Variables) throws(PromptError) -> Prompt? {
    let descriptor = kura_terminal_open()
    guard descriptor >= 0 else { return nil }
    guard kura_terminal_is_foreground(descriptor) else {
      Descriptor.close(descriptor)
      return nil
    }
    do throws(SecureMemoryError) {
      return Prompt(
        descriptor: descriptor, typed: try SecretBuffer(capacity: 64),
        drawing: try SecretBuffer(capacity: 256), variables)
    } catch {
      Descriptor.close(descriptor)
      throw .outOfMemory
    }
  }

  init(
    descriptor: Int32, typed: consuming SecretBuffer, drawing: consuming SecretBuffer,
    _ variables: Variables
  ) {
    self.typed = typed
    self.drawing = drawing
    self.descriptor = descriptor
    name = Self.name(of: descriptor)
    isDumb = variables.hasDumbTerminal
    moves = !isDumb && !variables.refusesMotion
    bullet = variables.isUTF8 ? "•" : "*"
  }

  deinit {
    if keys != nil { kura_terminal_end() }
    if lock >= 0 { Descriptor.close(lock) }
    Descriptor.close(descriptor)
  }
}

extension Prompt {
  /// How wide the terminal is; 0: not known.
  var columns: Int { Int(kura_terminal_columns(descriptor)) }

  private static func name(of descriptor: Int32) -> String {
    guard let name = try? System.terminalName(descriptor), !name.isEmpty else {
      return "a terminal"
    }
    return String(validating: name, as: UTF8.self) ?? "a terminal"
  }
}

// MARK: - Questions

extension Prompt {
  /// Asks for one line. The cursor stays behind it: ``endLine()`` or ``clearLine()`` moves on.
  ///
  /// - Parameters:
  ///   - isHidden: Whether only a bullet is shown for each character.
  ///   - allowsEmpty: Whether Enter alone is an answer.
  ///   - length: At how many characters the line is done without Enter, and Tab asks for another question; 0 for
  ///     never.
  ///   - watch: Ends the question when it is of no use any more, and hears of keys.
  mutating func line<Watch: PromptWatch & ~Copyable>(
    _ label: String, isHidden: Bool = true, allowsEmpty: Bool = false, submitsAt length: Int = 0,
    watch: inout Watch
  ) throws(PromptError) -> SecretBytes {
    try takeTerminal(other: watch.descriptor) { watch.stands() }
    var editor = try editor(label, isHidden: isHidden)
    var isWarned = false
    wantsOther = false
    show(label)
    while true {
      switch try nextEvent(&editor, label, submitsAt: length, &watch) {
      case .none: break
      case .other:
        wantsOther = true
        return editor.finish()
      case .submit where editor.bytes.count == 0 && !allowsEmpty:
        show("\u{7}")
        if !isWarned { sayNothingTyped(label) }
        isWarned = true
      case .submit:
        answered = (label, isHidden ? editor.shown : 0)
        hasMore = typed.count > 0 || kura_terminal_await(descriptor, 0)
        kura_terminal_pause()
        return editor.finish()
      case .interrupt: throw leave(.interrupted)
      case .cancel: throw leave(.cancelled)
      case .suspend: try suspend(&watch)
      }
    }
  }

  /// Asks for a new secret, and once more to be sure of it; three times when they differ.
  ///
  /// - Parameter remark: What is said of it after the first time; empty for nothing.
  mutating func twice(
    _ label: String, _ what: Mismatch, again: String = "again: ", allowsEmpty: Bool = false,
    remark: (borrowing SecretBytes) -> String = { _ in "" }
  ) throws(CommandError) -> SecretBytes {
    var nobody = NobodyElse()
    for _ in 0..<3 {
      let first = try prompting { () throws(PromptError) in
        try line(label, allowsEmpty: allowsEmpty, watch: &nobody)
      }
      endLine()
      if what == .value, hasMore { try refuseLines() }
      let text = remark(first)
      if !text.utf8.isEmpty { say(text) }
      let second = try prompting { () throws(PromptError) in
        try line(again, allowsEmpty: allowsEmpty, watch: &nobody)
      }
      endLine()
      if first.isEqual(to: second) { return first }
      say("They differ, try again.")
    }
    throw .mismatch(what)
  }

  /// A value of several lines was pasted: its first alone would be stored in its place.
  private mutating func refuseLines() throws(CommandError) {
    // The rest must not reach the shell.
    while kura_terminal_await(descriptor, 100), receive(patience: 0, other: -1) > 0 {
      typed.removeAll()
    }
    throw .mismatch(.severalLines)
  }

  /// Asks a question that yes or no answers, and Enter alone as no does; again for anything else.
  mutating func confirms(_ question: String) throws(PromptError) -> Bool {
    var nobody = NobodyElse()
    while true {
      let text = try line(
        question + " [y/N] ", isHidden: false, allowsEmpty: true, watch: &nobody)
      endLine()
      if let answer = YesOrNo(text) { return answer == .yes }
      say("Please answer y or n.")
    }
  }

  private mutating func sayNothingTyped(_ label: String) {
    clearLine()
    say("Nothing was typed yet; Ctrl-D gives up.")
    show(label)
  }

  /// Shows a line of text, in which nothing may stand that a terminal obeys.
  mutating func say(_ text: String) { show(text + "\n") }

  /// Shows a line of secret text.
  mutating func say(secret text: Span<UInt8>) {
    show(text)
    endLine()
  }

  /// Goes to the next line.
  mutating func endLine() { show("\n") }

  /// Empties the line that a question stands on.
  mutating func clearLine() { show(isDumb ? "\n" : "\r\u{1B}[K") }
}

// MARK: - Turns

extension Prompt {
  /// Waits until no other command asks on this terminal: `kura get a | kura put b` would else
  /// share its keys among both.
  ///
  /// - Parameters:
  ///   - other: A descriptor that has something to read when that may be of no use any more.
  ///   - stands: Reads it, and says whether it is.
  /// - Returns: Whether one did.
  @discardableResult mutating func takeTerminal(
    other: Int32, stands: () -> Bool = { false }
  ) throws(PromptError) -> Bool {
    var hasWaited = false
    while lock < 0 {
      lock = kura_terminal_lock(descriptor)
      guard isTaken else { break }
      hasWaited = true
      if kura_terminal_await(other, 100), !stands() { throw .answeredElsewhere }
    }
    return hasWaited
  }

  /// Whether another command asks on this terminal, as far as was seen last.
  var isTaken: Bool { lock == -EWOULDBLOCK }

  /// Gives the terminal back as it was, for others to ask on.
  mutating func giveBack() {
    if keys != nil { kura_terminal_end() }
    keys = nil
    typed.removeAll()
    if lock >= 0 { Descriptor.close(lock) }
    lock = -1
  }

  /// Shows nothing of what is typed while nothing is asked, and lets others ask; Ctrl-C and Ctrl-Z are what they are
  /// elsewhere.
  mutating func rest() throws(PromptError) {
    _ = try begin()
    kura_terminal_pause()
    typed.removeAll()
    if lock >= 0 { Descriptor.close(lock) }
    lock = -1
  }

  /// Stops as Ctrl-Z does; meanwhile another command may ask, here or elsewhere.
  mutating func suspend<Watch: PromptWatch & ~Copyable>(
    _ watch: inout Watch
  ) throws(PromptError) {
    watch.stepAside()
    // The shell writes next.
    passage.end()
    stop()
    guard watch.comeBack() else { throw leave(.answeredElsewhere) }
  }

  mutating func stop() {
    if lock >= 0 { Descriptor.close(lock) }
    kura_terminal_suspend()
    lock = kura_terminal_lock(descriptor)
  }
}

// MARK: - Keys

extension Prompt {
  private mutating func editor(
    _ label: String, isHidden: Bool
  ) throws(PromptError) -> LineEditor {
    let keys = try begin()
    let columns = columns
    let room = columns > 0 ? max(columns - 1 - label.unicodeScalars.count, 8) : Int.max
    do throws(SecureMemoryError) {
      return try LineEditor(
        echo: isHidden ? .bullets(bullet) : .visible, keys: keys, room: room)
    } catch { throw .outOfMemory }
  }

  mutating func begin() throws(PromptError) -> LineEditor.Keys {
    if let keys {
      if kura_terminal_resume() { typed.removeAll() }
      return keys
    }
    guard let set = System.beginTerminal(descriptor) else { throw .failed }
    let keys = LineEditor.Keys(set)
    self.keys = keys
    return keys
  }

  private mutating func nextEvent<Watch: PromptWatch & ~Copyable>(
    _ editor: inout LineEditor, _ label: String, submitsAt length: Int, _ watch: inout Watch
  ) throws(PromptError) -> LineEditor.Event {
    if typed.count == 0 {
      // The bytes of an arrow key come together; a lone Escape is followed by nothing.
      switch receive(patience: editor.isInsideEscape ? 50 : -1, other: watch.descriptor) {
      case 1...: watch.noteKey()
      case Int(KURA_TERMINAL_TIMEOUT): editor.endEscape()
      case Int(KURA_TERMINAL_CONTINUED): try redraw(&editor, label)
      case Int(KURA_TERMINAL_OTHER):
        guard watch.stands() else {
          clearLine()
          throw .answeredElsewhere
        }
        if let news = watch.news() {
          clearLine()
          say(news)
          try redraw(&editor, label)
        }
      case Int(KURA_TERMINAL_CLOSED): throw .closed
      default: throw .failed
      }
    }
    guard typed.count > 0 else { return .none }
    let byte = typed.bytes[0]
    typed.removeFirst(1)
    if length > 0 || watch.hasChoices, byte == UInt8(ascii: "\t") { return .other }
    let event: LineEditor.Event
    do throws(SecureMemoryError) { event = try editor.take(byte, drawing: &drawing) } catch {
      throw .outOfMemory
    }
    flush()
    return event == .none && length > 0 && editor.count == length ? .submit : event
  }

  /// Reads keys: their count, or what kura_terminal_read answers instead.
  mutating func receive(patience: Int32, other: Int32) -> Int {
    var answer = 0
    typed.append(upTo: typed.capacity) { tail in
      answer = System.readTerminal(into: &tail, patience: patience, other: other)
      return max(answer, 0)
    }
    return answer
  }

  mutating func leave(_ reason: PromptError) -> PromptError {
    endLine()
    return reason
  }
}

// MARK: - Drawing

extension Prompt {
  private mutating func redraw(_ editor: inout LineEditor, _ label: String) throws(PromptError) {
    clearLine()
    show(label)
    do throws(SecureMemoryError) { try editor.redraw(into: &drawing) } catch {
      throw .outOfMemory
    }
    flush()
  }

  private mutating func flush() {
    guard drawing.count > 0 else { return }
    show(drawing.bytes)
    drawing.removeAll()
  }

  mutating func show(_ text: String) {
    passage.note(text)
    let bytes = Array(text.utf8)
    show(bytes.span)
  }

  /// A terminal that takes nothing is found out at the next read.
  private func show(_ bytes: Span<UInt8>) {
    do throws(FileError) { try Descriptor.write(bytes, to: descriptor) } catch {}
  }
}

extension LineEditor.Keys {
  init(_ keys: kura_terminal_keys) {
    erase = keys.erase
    kill = keys.kill
    wordErase = keys.word_erase
    interrupt = keys.interrupt
    quit = keys.quit
    suspend = keys.suspend
    endOfFile = keys.end_of_file
  }
}
