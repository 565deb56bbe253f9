// SPDX-License-Identifier: MIT

import Foundation
import Testing

/// Every story of `Fixtures/scripts`, performed with the programs that `make build` made.
@Suite struct StoryTests {
  @Test func `the built programs are there`() {
    for name in ["kura", "kura-agent"] {
      let path = "\(Repository.binaries)/\(name)"
      #expect(access(path, X_OK) == 0, "no program at \(path): run make build, or set KURA_BIN")
    }
  }

  @Test func `there are stories to perform`() {
    #expect(Self.stories.count >= 20)
  }

  @Test(arguments: stories)
  func `a story can be read`(_ file: StoryFile) throws {
    let story = try StoryParser.parse(file: file.path)
    #expect(!story.paragraphs.isEmpty)
  }

  @Test func `each exit status is shown by a story`() throws {
    var shown: Set<Int32> = []
    for file in Self.stories {
      for step in try StoryParser.parse(file: file.path).paragraphs.flatMap(\.steps) {
        if case .exactly(let status)? = step.action.expectation?.status { shown.insert(status) }
      }
    }
    #expect(Set(0...16).union([125, 126, 127, 130]).subtracting(shown) == [])
  }

  @Test(arguments: stories)
  func `a story comes true`(_ file: StoryFile) async throws {
    try #require(
      access(Repository.binaries + "/kura", X_OK) == 0
        && access(Repository.binaries + "/kura-agent", X_OK) == 0,
      "no programs in \(Repository.binaries)")
    let story = try StoryParser.parse(file: file.path)
    let performance = await onStage { StoryRunner.perform(story, binaries: Repository.binaries) }
    for failure in performance.failures {
      record("\(failure.fact)\n\(failure.message)", at: failure.place)
    }
    for line in performance.left { record(line, at: Place(path: file.path, line: 1)) }
    if let condition = performance.unmetCondition {
      print("skipped the rest of \(file.name): only if \(condition)")
    }
  }

  struct StoryFile: Sendable, CustomTestStringConvertible {
    var name: String
    var path: String { "\(Repository.scripts)/\(name).txt" }
    var testDescription: String { name }
  }

  static let stories: [StoryFile] = {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: Repository.scripts)) ?? []
    let files = names.filter { $0.hasSuffix(".txt") }.sorted().map {
      StoryFile(name: String($0.dropLast(4)))
    }
    guard let wanted = RunnerVariable.stories.value else { return files }
    let chosen = Set(wanted.split(separator: " ").map(String.init))
    return files.filter { chosen.contains($0.name) }
  }()

  private func record(_ message: String, at place: Place) {
    let name = "Fixtures/" + (place.path as NSString).lastPathComponent
    Issue.record(
      Comment(rawValue: message),
      sourceLocation: SourceLocation(
        fileID: name, filePath: place.path, line: place.line, column: 1))
  }
}

/// How many stories are performed at once: most of their time they wait.
private let seats = DispatchSemaphore(value: 4)

/// Performs on a thread of its own, so that waiting holds up none of Swift's pool.
func onStage<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
  await withCheckedContinuation { continuation in
    Thread {
      seats.wait()
      defer { seats.signal() }
      continuation.resume(returning: body())
    }.start()
  }
}
