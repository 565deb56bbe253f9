// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Leads a person through the vault by lines and questions: for whoever hears a terminal, and does not see it.
struct Linear: ~Copyable {
  var model: Model
  var runner: Runner
  var lines: Lines
  /// The names that were said last, by the number that they were said with, and the first one not yet said.
  var names: [String] = []
  var unsaid = 0
  /// The status to end with, once that is known.
  var status: Int32?
  /// What the command line asks for.
  let order: Order

  init(_ order: Order, _ vault: VaultPath, signals: Int32) throws(Renderer.Flaw) {
    lines = try Lines(signals: signals)
    runner = Runner(vault)
    model = Model(vault: vault.name ?? vault.path, moves: false)
    self.order = order
  }

  /// Goes on until one leaves; the status to exit with.
  mutating func run() -> Int32 {
    if let error = runner.look(&model), error.exitStatus == .noVault {
      return ScreenProgram.say("there is no vault at " + runner.vault.path, .noVault)
    }
    if runner.isUnlocked { perform(model.uncover(now: Clock.boot())) }
    if order.wanted == .pick { return pick() }
    if model.cover == nil { say("\(count), help says what can be typed") }
    while status == nil {
      if model.cover == nil { command() } else { uncover() }
    }
    model.cover(Cover(isLocked: true))
    return status ?? 0
  }

  /// Has a name chosen; the status to exit with.
  private mutating func pick() -> Int32 {
    var (chosen, query): (String?, String?) = (nil, order.query)
    while status == nil, chosen == nil {
      if model.cover == nil {
        chosen = choose(&query)
      } else {
        uncover()
        query = query ?? ""
      }
    }
    model.cover(Cover(isLocked: true))
    guard let chosen else {
      return status == 0 ? Int32(ExitStatus.cancelled.rawValue) : status ?? 0
    }
    return Choice(name: chosen, verb: order.verb).give(runner.vault, terminal: lines.terminal)
  }

  func say(_ text: String) { lines.say(text) }

  /// Says what a model has to say, once.
  mutating func sayMessage() {
    if !model.message.isEmpty { say(model.message) }
    model.message = ""
  }

  var count: String {
    let count = model.list.names.count
    return "\(count) " + (count == 1 ? "item" : "items")
  }

  /// A line as it was typed; nil: something else came first, and ``status`` or the cover says what.
  mutating func ask(_ question: String) -> String? {
    model.lastKey = Clock.boot()
    switch lines.ask(question, agent: runner.watched, milliseconds: Int32(Model.unattended)) {
    case .line(let text): return text
    case .agent: runner.hear(&model)
    case .nothing: model.cover(Cover(isLocked: false))
    case .signal(let number): end(by: number)
    case .closed: status = lines.statusAtEnd
    }
    return nil
  }

  /// What was typed unseen; nil: it was left off, and nothing is to be done.
  mutating func askHidden(_ question: String) -> SecretBytes? {
    switch lines.askHidden(question, agent: model.cover == nil ? runner.watched : -1) {
    case .typed(let secret): return secret
    case .left: return nil
    case .agent: runner.hear(&model)
    case .signal(let number): end(by: number)
    case .closed: status = lines.statusAtEnd
    }
    return nil
  }

  private mutating func end(by number: Int32) {
    switch number {
    case SIGHUP, SIGINT, SIGQUIT, SIGTERM:
      model.cover(Cover(isLocked: true))
      kura_screen_obey(number)
      status = 128 + number
    case SIGTSTP: kura_screen_obey(SIGTSTP)
    default: break
    }
  }
}

// MARK: - The lock

extension Linear {
  /// Says why nothing is shown, and asks for what changes that.
  private mutating func uncover() {
    guard let cover = model.cover else { return }
    kura_stack_wipe()
    let state = cover.isLocked ? " is locked" : " is unlocked, and covered here"
    say(model.vault + state + (cover.reason.isEmpty ? "" : ": " + cover.reason))
    sayMessage()
    names = []
    while status == nil, let kind = model.askedFor, model.cover != nil {
      let other = model.nextWay.map { ", or Enter alone for the " + $0.label } ?? ""
      guard let secret = askCredential(kind, other) else {
        if status == nil { status = lines.statusAtEnd }
        return
      }
      guard secret.count > 0 else {
        if let way = model.nextWay { model.ask(way) }
        continue
      }
      model.give(secret)
      perform([cover.isLocked ? .unlock(kind) : .prove(kind)])
      sayTry()
    }
  }

  private mutating func askCredential(_ kind: Credential, _ other: String) -> SecretBytes? {
    guard kind == .keyFile else { return askHidden(kind.label + other + ": ") }
    let known = model.ways.keyFile
    let offer = known.isEmpty ? "" : ", y for " + known
    switch lines.ask("path of the key file" + offer + other + ": ", agent: -1, milliseconds: -1) {
    case .line(let text):
      return try? SecretBytes(copying: (text == "y" && !known.isEmpty ? known : text).utf8.span)
    case .signal(let number): end(by: number)
    case .agent, .nothing, .closed: break
    }
    return nil
  }

  private mutating func sayTry() {
    if let cover = model.cover {
      sayMessage()
      let now = Clock.boot()
      if cover.waitUntil > now {
        say("the next try is possible in \((cover.waitUntil - now + 999) / 1_000) s")
      }
    } else {
      say("unlocked: " + count)
      if let name = model.openName { say("still at " + name) }
    }
  }
}

// MARK: - Effects

extension Linear {
  /// Does one effect after another, what follows from each, and what a person is asked in between.
  mutating func perform(_ effects: [Effect]) {
    var waiting = effects
    while !waiting.isEmpty, status == nil {
      let effect = waiting.removeFirst()
      waiting = act(effect) + waiting
      guard model.cover == nil else { continue }
      waiting = asked() + waiting
    }
  }

  private mutating func act(_ effect: Effect) -> [Effect] {
    switch effect {
    case .quit: status = 0
    case .copy(let name, let copied, _): work(Companion.copying(name, copied), then: "")
    case .edit(let name): work(["edit", "--", name], then: "edited")
    case .save(let name, let path): work(["get", "-o", path, "--", name], then: "saved")
    case .unlock, .prove, .lock, .load, .show, .reveal, .code, .store, .attribute, .protect,
      .unprotect, .remove, .restore, .history, .settings, .set, .byOwner:
      return runner.perform(effect, &model)
    case .generate, .suspend, .redraw, .pick: break
    }
    return []
  }

  /// Leaves the terminal to another command of Kura's.
  private mutating func work(_ words: [String], then done: String) {
    let (status, said) = Companion.run(words, runner.vault, terminal: lines.terminal)
    if runner.hasNews { runner.hear(&model) }
    guard model.cover == nil else { return }
    model.message = status == 0 ? done : "it ended with status \(status)"
    if !said.isEmpty { model.message = said }
    if words.first == "edit", let name = model.openName { perform([.load, .show(name)]) }
  }

  /// What an effect left to be asked.
  private mutating func asked() -> [Effect] {
    var owned: Effect?
    switch model.field {
    case .some(let field): if case .owner(let effect) = field.purpose { owned = effect }
    case .none: break
    }
    if let effect = owned {
      model.field = nil
      sayMessage()
      guard let secret = askHidden(model.ways.owner.label + ": "), secret.count > 0 else {
        model.message = "nothing was done"
        return []
      }
      model.give(secret)
      return [.byOwner(effect)]
    }
    guard let question = model.question else { return [] }
    let answer = ask(View(now: 0).words(question) + " ")
    guard model.cover == nil else { return [] }
    return model.take(.character(answer == "y" || answer == "yes" ? "y" : "n"), now: Clock.boot())
  }
}
