// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc
internal import Synchronization

/// Does what takes too long for the loop, on the worker's thread: Argon2id.
///
/// It belongs to the loop, then to the worker while it runs, then to the loop again; never to two
/// threads at once.
protocol Job: AnyObject, Sendable {
  /// Whether the work can begin: false while another process keeps what it needs, and then asked again
  /// shortly, after the jobs behind it. Called on the worker's thread.
  func mayBegin() -> Bool

  /// Does the work and keeps its result. Called once, on the worker's thread.
  func run()
}

extension Job {
  func mayBegin() -> Bool { true }
}

/// Does one job after the other on a thread of its own, so that only one Argon2id takes memory.
final class Worker {
  private let desk: Desk

  /// Readable when a job is done.
  var noticeDescriptor: Int32 { desk.done.raw }

  /// Starts the thread; call it after signals were blocked, so that they stay so there.
  init() throws(AgentError) {
    desk = try Desk()
    var thread = pthread_t()
    let lent = unsafe Unmanaged.passRetained(desk)
    let body: @convention(c) (UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? = { lent in
      if let lent = unsafe lent {
        unsafe Unmanaged<Desk>.fromOpaque(lent).takeRetainedValue().work()
      }
      return nil
    }
    let code = unsafe pthread_create(&thread, nil, body, lent.toOpaque())
    guard code == 0 else {
      unsafe lent.release()
      throw .system(call: "pthread_create", code: code)
    }
    _ = pthread_detach(thread)
  }

  deinit { desk.stop() }

  /// Hands a job over.
  func start(_ job: any Job) { desk.put(job) }

  /// Takes back a job that has not begun; one that is just asked whether it can is dropped right after.
  ///
  /// - Returns: False when it is under way or done.
  func withdraw(_ job: any Job) -> Bool { desk.withdraw(job) }

  /// Takes back the jobs that are done.
  func finished() -> [any Job] { desk.takeDone() }

  /// Drops what was not begun, waits until what is under way has run to its end, and drops that, too: what
  /// a job made, such as the file of a new vault, is gone with it before the process is.
  func stop() {
    desk.stop()
    while desk.isWorking { kura_notice_await(desk.done.raw, -1) }
    _ = desk.takeDone()
  }
}

/// Keeps the jobs that go from the loop to the worker and back.
private final class Desk: Sendable {
  private struct Papers {
    var waiting: [any Job] = []
    var done: [any Job] = []
    /// The job that the worker has; nil again once it was taken back.
    var current: (any Job)?
    /// Whether that one was begun, so that it cannot be taken back.
    var hasBegun = false
    /// Whether the worker has a job in its hands, though it may have been taken back.
    var isWorking = false
    var isClosed = false
  }

  let asked: Descriptor
  let done: Descriptor
  private let papers = Mutex(Papers())

  init() throws(AgentError) {
    asked = try Descriptor("eventfd", kura_notice_create())
    done = try Descriptor("eventfd", kura_notice_create())
  }

  var isWorking: Bool { papers.withLock { $0.isWorking } }

  func put(_ job: any Job) {
    papers.withLock { $0.waiting.append(job) }
    _ = kura_notice_post(asked.raw)
  }

  func withdraw(_ job: any Job) -> Bool {
    papers.withLock { papers in
      if papers.current === job, !papers.hasBegun {
        papers.current = nil
        return true
      }
      guard let index = papers.waiting.firstIndex(where: { $0 === job }) else { return false }
      papers.waiting.remove(at: index)
      return true
    }
  }

  func takeDone() -> [any Job] {
    kura_descriptor_drain(done.raw)
    return papers.withLock { papers in
      defer { papers.done = [] }
      return papers.done
    }
  }

  func stop() {
    papers.withLock { papers in
      papers.isClosed = true
      papers.waiting = []
    }
    _ = kura_notice_post(asked.raw)
  }

  /// How long nothing is asked again whether it can begin, in milliseconds.
  private static let pause: Int32 = 10

  /// The worker's life.
  func work() {
    // Jobs in a row that could not begin.
    var passed = 0
    while true {
      while passed <= waitingCount, take() {
        let isReady = ask()
        if begin(isReady) {
          passed = 0
          run()
          finish()
        } else {
          passed += 1
        }
        // Whoever waits for the end of what is under way has it now.
        _ = kura_notice_post(done.raw)
      }
      if papers.withLock({ $0.isClosed }) { return }
      kura_notice_await(asked.raw, passed > 0 ? Self.pause : -1)
      passed = 0
    }
  }

  private var waitingCount: Int { papers.withLock { $0.waiting.count } }
}

// MARK: - The worker's steps

/// Between them the worker itself holds no job, so that one that was taken back or dropped is gone.
extension Desk {
  private func take() -> Bool {
    papers.withLock { papers in
      guard !papers.waiting.isEmpty else { return false }
      papers.current = papers.waiting.removeFirst()
      papers.hasBegun = false
      papers.isWorking = true
      return true
    }
  }

  private var current: (any Job)? { papers.withLock { $0.current } }

  @inline(never) private func ask() -> Bool { current?.mayBegin() ?? false }

  /// Begins the job, unless it cannot or was taken back meanwhile; one that cannot goes to the end of the line.
  private func begin(_ isReady: Bool) -> Bool {
    papers.withLock { papers in
      if isReady, !papers.isClosed, papers.current != nil {
        papers.hasBegun = true
        return true
      }
      if let job = papers.current.take(), !papers.isClosed { papers.waiting.append(job) }
      papers.isWorking = false
      return false
    }
  }

  @inline(never) private func run() {
    current?.run()
    // libsodium leaves the last block of a hash there, and no later call may reach as deep.
    kura_stack_wipe()
  }

  private func finish() {
    papers.withLock { papers in
      if let job = papers.current.take() { papers.done.append(job) }
      papers.isWorking = false
    }
  }
}
