// SPDX-License-Identifier: MIT

import Foundation

/// How a performance ended.
struct Performance: Sendable {
  struct Failure: Sendable {
    var place: Place
    var fact: String
    var message: String
  }
  var failures: [Failure] = []
  /// The condition that did not hold, when the story was left off at `only if`.
  var unmetCondition: String?
  /// Processes that the story left behind.
  var left: [String] = []
}

/// Performs a story on a stage of its own.
///
/// A paragraph that fails is left; the story goes on with the next one, so that one run shows all
/// that is wrong. All waits end at a deadline.
final class StoryRunner {
  /// What the story started and has not waited for.
  struct Started {
    var command: Command
    var process: ChildProcess
    var terminal: PseudoTerminal?
    var capture: Int
    /// What was typed unseen, and must never be shown.
    var secrets: [String] = []
  }

  private struct ConditionUnmet: Error {
    var condition: String
  }

  let stage: Stage
  private let patience: Duration
  private var started: [String: Started] = [:]
  private var captureCount = 0

  private init(stage: Stage, patience: Duration) {
    self.stage = stage
    self.patience = patience
  }

  /// At night things are larger.
  private static let usual = Duration.seconds(RunnerVariable.nightly.value == nil ? 120 : 1_800)

  /// - Parameters:
  ///   - binaries: The directory of `kura` and `kura-agent`, first in `PATH`.
  ///   - patience: How long any one thing may take: what hangs ends then, what is slow on a busy machine does not.
  static func perform(_ story: Story, binaries: String, patience: Duration = usual) -> Performance {
    do {
      let runner = StoryRunner(stage: try Stage(binaries: binaries), patience: patience)
      return runner.perform(story)
    } catch {
      let failure = Performance.Failure(
        place: Place(path: story.name, line: 1), fact: "the stage is set", message: "\(error)")
      return Performance(failures: [failure])
    }
  }

  private func perform(_ story: Story) -> Performance {
    var performance = Performance()
    paragraphs: for paragraph in story.paragraphs {
      let before = Set(started.keys)
      for step in paragraph.steps {
        do {
          try perform(step.action)
        } catch let error as ConditionUnmet {
          performance.unmetCondition = error.condition
          break paragraphs
        } catch {
          let message = (error as? StoryFailure)?.message ?? "\(error)"
          performance.failures.append(
            .init(place: step.place, fact: paragraph.fact, message: message))
          end(Set(started.keys).subtracting(before))
          continue paragraphs
        }
      }
    }
    end(Set(started.keys))
    performance.left = stage.strike(patience: patience)
    return performance
  }

  private func end(_ names: Set<String>) {
    for name in names { started.removeValue(forKey: name)?.process.end() }
  }

  private func perform(_ action: Action) throws {
    switch action {
    case .run(let command): try run(command)
    case .start(let name, let command): try start(name, command)
    case .wait(let name, let expectation):
      try finish(try named(name), expectation)
      started[name] = nil
    case .resume(let name, let steps):
      var one = try named(name)
      try act(steps, in: &one)
      started[name] = one
    case .running(let name):
      if let status = try named(name).process.poll() {
        throw StoryFailure(message: "\(name) has ended with status \(status)")
      }
    case .signal(let number, let name): try named(name).process.signal(number)
    case .environment(let name, let value):
      stage.environment[name] = value.map { substituted($0, stage.environment) }
    case .capture(let name, let command):
      let output = try output(of: command)
      stage.environment[name] = output.trimmingCharacters(in: .newlines)
    case .condition(let condition):
      let command = Command(shell: condition)
      if try launch(command).process.wait(until: deadline) != 0 {
        throw ConditionUnmet(condition: condition)
      }
    }
  }

  var deadline: ContinuousClock.Instant { .now + patience }
}

// MARK: - Commands

extension StoryRunner {
  private func run(_ command: Command) throws {
    guard let patience = command.patience else { return try once(command) }
    let deadline = ContinuousClock.now + patience
    while true {
      do {
        return try once(command)
      } catch let failure as StoryFailure {
        guard ContinuousClock.now < deadline else { throw failure }
        usleep(50_000)
      }
    }
  }

  private func once(_ command: Command) throws {
    var one = try launch(command)
    do {
      try act(command.terminal ?? [], in: &one)
      try finish(one, command.expectation)
    } catch {
      one.process.end()
      throw error
    }
  }

  private func start(_ name: String, _ command: Command) throws {
    guard started[name] == nil else { throw StoryFailure(message: "\(name) was started before") }
    var one = try launch(command)
    started[name] = one
    try act(command.terminal ?? [], in: &one)
    started[name] = one
  }

  private func output(of command: Command) throws -> String {
    var command = command
    command.expectation.output.isExactByDefault = false
    let one = try launch(command)
    try finish(one, command.expectation)
    return String(decoding: contents(one.capture, "stdout"), as: UTF8.self)
  }

  private func named(_ name: String) throws -> Started {
    guard let one = started[name] else { throw StoryFailure(message: "\(name) was not started") }
    return one
  }

  private func launch(_ command: Command) throws -> Started {
    captureCount += 1
    let terminal = command.terminal == nil ? nil : try PseudoTerminal()
    let process = try ChildProcess(
      ["/bin/bash", "-c", command.shell], environment: stage.environment,
      directory: stage.directory,
      streams: try streams(for: command, terminal: terminal))
    return Started(
      command: command, process: process, terminal: terminal, capture: captureCount)
  }

  private func streams(for command: Command, terminal: PseudoTerminal?) throws
    -> ChildProcess.Streams
  {
    if let terminal { return .terminal(terminal.name) }
    var input = "/dev/null"
    if let bytes = command.input {
      input = path(captureCount, "stdin")
      try Data(bytes).write(to: URL(fileURLWithPath: input))
    }
    return .files(
      input: input, output: path(captureCount, "stdout"), messages: path(captureCount, "stderr"))
  }

  /// Waits for a command's end and compares it with what is expected.
  private func finish(_ one: Started, _ expectation: Expectation) throws {
    let status = one.process.wait(until: deadline) { one.terminal?.drain(milliseconds: 0) }
    guard let status else {
      one.process.end()
      throw StoryFailure(message: "has not ended after \(patience)" + window(of: one))
    }
    guard let terminal = one.terminal else {
      return try expectation.check(
        status: status, output: contents(one.capture, "stdout"),
        messages: contents(one.capture, "stderr"), variables: stage.environment)
    }
    terminal.drain(milliseconds: 0)
    try checkTerminal(of: one)
    var expectation = expectation
    expectation.output.isExactByDefault = false
    try expectation.check(
      status: status, output: Array(terminal.screen.text.utf8), messages: [],
      variables: stage.environment)
  }

  func path(_ number: Int, _ stream: String) -> String { "\(stage.captures)/\(number).\(stream)" }

  private func contents(_ number: Int, _ stream: String) -> [UInt8] {
    Array(FileManager.default.contents(atPath: path(number, stream)) ?? Data())
  }
}
