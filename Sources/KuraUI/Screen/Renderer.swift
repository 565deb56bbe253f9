// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import CNcurses
internal import Glibc
internal import SecureMemory

/// Draws grids on a terminal by ncurses, and leaves nothing of them behind: not on the terminal, and not
/// in the memory of ncurses.
///
/// ncurses keeps each cell three times, and what it sent in a buffer. It frees cells at a resize and at the
/// end as they are: so every cell is blanked, and that drawn, before.
@safe
struct Renderer: ~Copyable {
  /// Tells why a terminal is of no use.
  enum Flaw: Error, Equatable {
    /// There is none.
    case noTerminal
    /// Its kind is not known, or has no cursor that can be sent anywhere.
    case unable(String)
  }

  /// /dev/tty.
  let terminal: Int32
  /// Whether the locale is UTF-8.
  let isUnicode: Bool
  private let window: UnsafeMutablePointer<WINDOW>
  private var isOpen = false
  private var wasSecret = false
  /// Stands for what each row shows, where there is no second screen; empty: not known.
  private var marks: [Int] = []
  private let hasMouse: Bool
  private let hasOtherScreen: Bool
  private(set) var rows = 24
  private(set) var columns = 80

  /// Begins on the controlling terminal; where it cannot, nothing was drawn.
  static func open(kind: String?) throws(Flaw) -> Renderer {
    _ = takeLocale()
    let descriptor = kura_terminal_open()
    guard descriptor >= 0 else { throw .noTerminal }
    guard let kind, isAble(kind, descriptor) else { throw .unable(kind ?? "") }
    guard kura_screen_begin(descriptor) == 0 else { throw .noTerminal }
    // Never initscr(3), which ends the program by itself.
    guard let file = unsafe fdopen(dup(descriptor), "r+"), unsafe newterm(nil, file, file) != nil,
      let window = unsafe newwin(0, 0, 0, 0)
    else {
      kura_screen_end()
      throw .unable(kind)
    }
    unsafe kura_screen_guard(descriptor, farewell())
    return unsafe Renderer(terminal: descriptor, window: window)
  }

  /// Takes the user's locale, which says how wide characters are; whether it is UTF-8.
  static func takeLocale() -> Bool {
    if unsafe setlocale(LC_CTYPE, "") == nil { unsafe setlocale(LC_CTYPE, "C.UTF-8") }
    return unsafe String(cString: nl_langinfo(nl_item(CODESET))) == "UTF-8"
  }

  /// What brings a terminal back that nobody left.
  private static func farewell() -> String {
    let mouse = unsafe capability("kmous") == nil ? "" : "\u{1B}[?1000l\u{1B}[?1006l"
    return ["sgr0", "clear", "rmcup", "cnorm"].reduce(mouse) { text, name in
      guard let found = unsafe capability(name) else { return text }
      let words = unsafe String(cString: found)
      return text + unpadded(words)
    }
  }

  /// A capability without `$<5>`: padding, for terminals of another century.
  private static func unpadded(_ text: String) -> String {
    var (kept, isPadding) = ("", false)
    for part in text.split(separator: "$<", omittingEmptySubsequences: false) {
      kept += isPadding ? part.drop { $0 != ">" }.dropFirst() : part
      isPadding = true
    }
    return kept
  }

  private init(terminal: Int32, window: UnsafeMutablePointer<WINDOW>) {
    self.terminal = terminal
    unsafe self.window = window
    isUnicode = unsafe String(cString: nl_langinfo(nl_item(CODESET))) == "UTF-8"
    hasMouse = unsafe Self.capability("kmous") != nil
    hasOtherScreen = unsafe Self.capability("smcup") != nil
    prepare()
  }

  deinit { close(terminal) }

  private static func isAble(_ kind: String, _ descriptor: Int32) -> Bool {
    guard kind != "dumb" else { return false }
    var failed: Int32 = 0
    guard unsafe setupterm(nil, descriptor, &failed) == OK else { return false }
    return unsafe capability("cup") != nil && capability("clear") != nil
  }

  /// What a terminal's kind does something by; nil: it cannot.
  private static func capability(_ name: String) -> UnsafeMutablePointer<CChar>? {
    guard let text = unsafe tigetstr(name), Int(bitPattern: text) != -1 else { return nil }
    return unsafe text
  }

  /// ncurses is to draw, and no more: keys are read elsewhere, and never seen by it.
  private mutating func prepare() {
    isOpen = true
    // It remembers settings of its own, and sets those.
    raw()
    noecho()
    nonl()
    // A drawing that was left off when a key came would leave cells as they were.
    _ = typeahead(-1)
    listen(true)
    measure()
  }

  private mutating func measure() {
    var (height, width): (Int32, Int32) = (0, 0)
    if unsafe kura_screen_size(terminal, &height, &width) == 0, height > 0, width > 0 {
      (rows, columns) = (Int(height), Int(width))
    }
  }

  /// Has the terminal tell of clicks, or stop that.
  private func listen(_ isOn: Bool) {
    guard hasMouse else { return }
    let end = isOn ? "h" : "l"
    send("\u{1B}[?1000" + end + "\u{1B}[?1006" + end)
  }

  private func send(_ text: String) {
    let bytes = Array(text.utf8)
    unsafe bytes.withUnsafeBytes {
      guard let start = $0.baseAddress else { return }
      unsafe kura_screen_write(terminal, start, $0.count)
    }
  }
}

// MARK: - Drawing

extension Renderer {
  /// Shows a grid.
  mutating func show(_ grid: borrowing Grid) {
    if !hasOtherScreen { clearChanged(grid) }
    unsafe werase(window)
    for row in 0..<min(grid.rows, rows) {
      for column in 0..<min(grid.columns, columns) { put(grid.cell(row, column), row, column) }
    }
    if let (row, column) = grid.cursor {
      _ = unsafe wmove(window, Int32(min(row, rows - 1)), Int32(min(column, columns - 1)))
      curs_set(1)
    } else {
      curs_set(0)
    }
    unsafe wrefresh(window)
    if wasSecret || grid.isSecret { kura_stack_wipe() }
    if wasSecret, !grid.isSecret { scrub() }
    wasSecret = grid.isSecret
  }

  /// Blanks the rows that are to change before they are drawn. Else ncurses has the terminal move lines to
  /// where they are wanted, and what is moved out of view may be kept among what was scrolled away.
  private mutating func clearChanged(_ grid: borrowing Grid) {
    let height = min(grid.rows, rows)
    let next = (0..<height).map { grid.mark(ofRow: $0) }
    for row in 0..<height where marks.count != height || marks[row] != next[row] {
      _ = unsafe wmove(window, Int32(row), 0)
      unsafe wclrtoeol(window)
    }
    unsafe wrefresh(window)
    marks = next
  }

  /// A blank is what was there already.
  private func put(_ cell: Cell, _ row: Int, _ column: Int) {
    guard !cell.isTail, cell.base != 0, cell != Cell(base: 0x20) else { return }
    let text: InlineArray<4, wchar_t> = [
      wchar_t(cell.base), wchar_t(cell.marks.0), wchar_t(cell.marks.1), 0,
    ]
    var character = cchar_t()
    unsafe text.span.withUnsafeBufferPointer {
      guard let start = $0.baseAddress else { return }
      guard unsafe setcchar(&character, start, Self.attributes(cell.style), 0, nil) == OK else {
        return
      }
      // At the last cell of all the cursor has nowhere to go, and that is told as an error.
      _ = unsafe wmove(window, Int32(row), Int32(column))
      _ = unsafe wadd_wch(window, &character)
    }
  }

  /// WA_BOLD and its like by number: as macros they are not to be had.
  private static func attributes(_ style: Style) -> attr_t {
    var attributes: attr_t = 0
    if style.contains(.reverse) { attributes |= 1 << 18 }
    if style.contains(.dim) { attributes |= 1 << 20 }
    if style.contains(.bold) { attributes |= 1 << 21 }
    return attributes
  }

  /// Blanks every cell, on the terminal and in ncurses.
  private mutating func blank() {
    marks = []
    if !hasOtherScreen { cross() }
    unsafe wclear(window)
    unsafe wrefresh(window)
    if wasSecret { scrub() }
    wasSecret = false
  }

  /// Writes over every cell. A terminal that has no second screen may keep what is cleared as a whole among
  /// what was scrolled away, as tmux does.
  private func cross() {
    unsafe werase(window)
    let blank = Cell(base: isUnicode ? 0xA0 : 0x2E)
    for row in 0..<rows {
      for column in 0..<columns { put(blank, row, column) }
    }
    unsafe wrefresh(window)
  }

  /// Overwrites the buffer of what was sent, by a control character that does nothing: shift in.
  private func scrub() {
    let most = (rows + 8) * (columns + 8)
    _ = unsafe tputs(String(repeating: "\u{0F}", count: most), 1) { byte in _nc_outch(byte) }
    doupdate()
  }
}

// MARK: - The terminal

extension Renderer {
  /// Takes the terminal's new size; what stood there is blanked first.
  mutating func resize() {
    blank()
    measure()
    resizeterm(Int32(rows), Int32(columns))
    unsafe wresize(window, Int32(rows), Int32(columns))
    unsafe clearok(window, true)
  }

  /// Draws all of it anew next time.
  mutating func redraw() { blank() }

  /// Gives the terminal back.
  mutating func leave() {
    guard isOpen else { return }
    isOpen = false
    blank()
    listen(false)
    curs_set(1)
    endwin()
    kura_screen_end()
  }

  /// Takes it again.
  mutating func enter() {
    guard !isOpen, kura_screen_begin(terminal) == 0 else { return }
    isOpen = true
    unsafe wrefresh(window)
    listen(true)
    resize()
  }

  /// Rings.
  func ring() { beep() }
}
