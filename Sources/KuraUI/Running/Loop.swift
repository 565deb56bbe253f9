// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Leads a person through the screen: draws, waits for what comes first, and has it done.
struct Loop: ~Copyable {
  private var model: Model
  private var runner: Runner
  private var renderer: Renderer
  private var keyboard: Keyboard
  private var grid: Grid
  private let order: Order
  /// The status to end with, once that is known.
  private var status: Int32?
  /// What was chosen.
  private var choice: Choice?

  init(_ order: Order, _ vault: VaultPath, signals: Int32) throws(Renderer.Flaw) {
    let renderer = try Renderer.open(kind: Environment.value("TERM"))
    guard let keyboard = try? Keyboard(terminal: renderer.terminal, signals: signals),
      let grid = try? Grid(
        rows: renderer.rows, columns: renderer.columns, isUnicode: renderer.isUnicode)
    else { throw .noTerminal }
    self.order = order
    self.renderer = renderer
    self.keyboard = keyboard
    self.grid = grid
    runner = Runner(vault)
    model = Model(
      vault: vault.name ?? vault.path, isPicker: order.wanted == .pick, query: order.query,
      moves: Environment.value("KURA_MOTION") != "off")
  }

  /// Goes on until one leaves; the status to exit with.
  mutating func run() -> Int32 {
    if let error = runner.look(&model), error.exitStatus == .noVault {
      renderer.leave()
      return ScreenProgram.say("there is no vault at " + runner.vault.path, .noVault)
    }
    if runner.isUnlocked { perform(model.uncover(now: Clock.boot())) }
    while status == nil { step() }
    let covered = Cover(isLocked: true)
    model.cover(covered)
    grid.erase()
    renderer.leave()
    return choice?.give(runner.vault, terminal: renderer.terminal) ?? status ?? 0
  }

  private mutating func step() {
    let now = Clock.boot()
    // What a lock came to while another command had the terminal, or all stood still, is not drawn first.
    if runner.hasNews { perform(runner.hear(&model)) }
    perform(model.tick(now: now))
    draw()
    leaveNothing()
    if runner.mayScan(model) {
      perform(runner.scan(&model))
      draw()
    }
    let patience = model.nextTick(now: now).map { Int32(min($0 - min(now, $0), 60_000)) } ?? -1
    let news = keyboard.wait(agent: runner.watched, milliseconds: patience)
    if news.isEmpty, let key = keyboard.expire() { perform(model.take(key, now: Clock.boot())) }
    // The lock goes first: what was typed at the same moment belongs to nothing that is shown.
    if news.contains(.agent) {
      perform(runner.hear(&model))
      draw()
      keyboard.drop()
      leaveNothing()
    }
    if news.contains(.signal) { obey(keyboard.signal()) }
    if news.contains(.keys) { takeKeys() }
  }

  /// A name of up to fifteen bytes stands in no memory that is freed, but where calls had it that have returned.
  private func leaveNothing() {
    if model.cover != nil { kura_stack_wipe() }
  }

  private mutating func takeKeys() {
    keyboard.fill()
    runner.wake()
    if keyboard.isClosed {
      status = 129
      return
    }
    while status == nil, let key = keyboard.next() { perform(model.take(key, now: Clock.boot())) }
  }

  private mutating func draw() {
    model.rows = renderer.rows
    if grid.rows != renderer.rows || grid.columns != renderer.columns,
      let fresh = try? Grid(
        rows: renderer.rows, columns: renderer.columns, isUnicode: renderer.isUnicode)
    {
      grid = fresh
    }
    model.list.show(height: model.listHeight)
    View(now: Clock.boot()).draw(model, into: &grid)
    renderer.show(grid)
  }
}

// MARK: - Signals

extension Loop {
  private mutating func obey(_ signal: Int32) {
    switch signal {
    case SIGWINCH: renderer.resize()
    case SIGTSTP: stop()
    case SIGCONT: goOn()
    case SIGHUP, SIGINT, SIGQUIT, SIGTERM:
      model.cover(Cover(isLocked: true))
      grid.erase()
      renderer.leave()
      kura_screen_obey(signal)
      status = 128 + signal
    default: break
    }
  }

  /// Stops as Ctrl-Z does, with the terminal as it was found.
  private mutating func stop() {
    model.item?.hide()
    renderer.leave()
    kura_screen_obey(SIGTSTP)
    goOn()
  }

  /// Takes the terminal again: a shell that had it meanwhile changed its settings. One that is to go on in the
  /// background stops again, and touches nothing.
  private mutating func goOn() {
    while kura_screen_is_ours(renderer.terminal) == 0 {
      kura_screen_obey(SIGTSTP)
      // A process whose shell is gone cannot be stopped so.
      kura_screen_wait(-1, -1, -1, 100)
    }
    model.item?.hide()
    renderer.leave()
    renderer.enter()
    keyboard.drop()
  }
}

// MARK: - Effects

extension Loop {
  /// Does one effect after another, and what follows from each.
  private mutating func perform(_ effects: [Effect]) {
    var waiting = effects
    while !waiting.isEmpty, status == nil {
      let effect = waiting.removeFirst()
      waiting = act(effect) + waiting
    }
  }

  private mutating func act(_ effect: Effect) -> [Effect] {
    switch effect {
    case .quit: status = order.wanted == .pick ? Int32(ExitStatus.cancelled.rawValue) : 0
    case .suspend: stop()
    case .redraw: renderer.redraw()
    case .pick(let name): (choice, status) = (Choice(name: name, verb: order.verb), 0)
    case .copy(let name, let copied, let isProtected): copy(name, copied, isProtected)
    case .generate: generate()
    case .edit(let name): work(["edit", "--", name], then: "edited")
    case .save(let name, let path): work(["get", "-o", path, "--", name], then: "saved")
    case .unlock, .prove:
      // That it is under way is seen while it is.
      draw()
      let follows = runner.perform(effect, &model)
      if model.cover != nil, model.cover?.wrongAt ?? 0 > 0 { renderer.ring() }
      keyboard.drop()
      return follows
    case .lock, .load, .show, .reveal, .code, .store, .attribute, .protect, .unprotect, .remove,
      .restore, .history, .settings, .set, .byOwner:
      return runner.perform(effect, &model)
    }
    return []
  }

  /// A value by chance, in the line where one would have been typed.
  private mutating func generate() {
    guard let value = try? RandomValue.make() else {
      model.message = "the system gave no random bytes"
      return
    }
    model.generated(value)
  }

  private mutating func copy(_ name: String, _ copied: Copied, _ isProtected: Bool) {
    let (status, said) = run(Companion.copying(name, copied), atTerminal: isProtected)
    model.message = said.isEmpty ? (status == 0 ? "copied" : "nothing was copied") : said
  }

  /// Leaves the screen to another command of Kura's, and comes back.
  private mutating func work(_ words: [String], then done: String) {
    let (status, said) = run(words, atTerminal: true)
    guard model.cover == nil else { return }
    let failed = said.isEmpty ? "it ended with status \(status): nothing was changed" : said
    model.message = status == 0 ? done : failed
    if let name = model.openName { perform([.load, .show(name)]) }
  }

  private mutating func run(_ words: [String], atTerminal: Bool) -> (status: Int32, said: String) {
    guard atTerminal else { return Companion.run(words, runner.vault, terminal: -1) }
    renderer.leave()
    let result = Companion.run(words, runner.vault, terminal: renderer.terminal)
    // What it says is to be read before it is gone.
    if result.status != 0, result.said.isEmpty {
      ScreenCalls.write("Enter goes back to the screen ", to: renderer.terminal)
      _ = keyboard.wait(agent: runner.watched, milliseconds: -1)
    }
    renderer.enter()
    keyboard.drop()
    return result
  }
}
