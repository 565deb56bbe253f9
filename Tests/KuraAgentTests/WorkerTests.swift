// SPDX-License-Identifier: MIT

import Glibc
import Synchronization
import Testing

@testable import KuraAgent

/// The thread for what takes too long for the loop.
@Suite struct `The worker` {
  /// A job that is asked whether it can begin until it is told what to say, and notes what becomes of it.
  private final class Question: Job {
    enum Event: Int { case asked, run, gone }

    private let answer = Atomic(-1)
    private let events: Events

    init(_ events: Events) { self.events = events }

    deinit { events.note(.gone) }

    func mayBegin() -> Bool {
      events.note(.asked)
      while true {
        let answer = answer.load(ordering: .acquiring)
        if answer >= 0 { return answer == 1 }
        usleep(500)
      }
    }

    func run() { events.note(.run) }

    func say(_ mayBegin: Bool) { answer.store(mayBegin ? 1 : 0, ordering: .releasing) }
  }

  private final class Events: Sendable {
    private let list = Mutex<[Question.Event]>([])

    var all: [Question.Event] { list.withLock { $0 } }

    func note(_ event: Question.Event) { list.withLock { $0.append(event) } }

    func await(_ event: Question.Event) { while !all.contains(event) { usleep(500) } }
  }

  /// Starts a job and waits until it is asked.
  private func ask(_ worker: Worker, _ events: Events) -> Question {
    let question = Question(events)
    worker.start(question)
    events.await(.asked)
    return question
  }

  @Test(arguments: [true, false])
  func `gives back what it is just asking whether it can begin, and never runs it`(
    _ mayBegin: Bool
  ) throws {
    let worker = try Worker()
    let events = Events()
    var question: Question? = ask(worker, events)
    #expect(worker.withdraw(try #require(question)))
    question?.say(mayBegin)
    question = nil
    // The next one has its turn when the first is done with.
    let next = Gate()
    worker.start(next)
    next.awaitBegin()
    next.open()
    #expect(events.all == [.asked, .gone])
    worker.stop()
  }

  @Test func `ends with nothing in its hands: what a job made is gone before the process is`()
    throws
  {
    let worker = try Worker()
    let events = Events()
    ask(worker, events).say(true)
    events.await(.run)
    worker.stop()
    #expect(events.all == [.asked, .run, .gone])
  }

  @Test func `does not begin any more what it asks while it is stopped`() throws {
    var worker: Worker? = try Worker()
    let events = Events()
    var question: Question? = ask(try #require(worker), events)
    worker = nil
    question?.say(true)
    question = nil
    events.await(.gone)
    #expect(events.all == [.asked, .gone])
  }
}
