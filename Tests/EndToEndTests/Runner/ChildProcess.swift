// SPDX-License-Identifier: MIT

import Foundation

/// A process that the runner started and must end.
///
/// It leads a session of its own, so it has no terminal but the one it is given, and all that it
/// starts can be signalled together. Its signal mask and dispositions are set afresh: a thread of
/// Swift's pool has most signals blocked, and a child would inherit that.
final class ChildProcess {
  /// Where the three standard streams lead.
  enum Streams {
    case files(input: String, output: String, messages: String)
    case terminal(String)
  }

  let identifier: pid_t
  private(set) var status: Int32?

  init(
    _ arguments: [String], environment: [String: String], directory: String, streams: Streams
  ) throws {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    Self.open(streams, &actions)
    Self.changeDirectory(directory, &actions)
    Self.closeFrom(3, &actions)

    var attributes = Self.attributes()
    defer { posix_spawnattr_destroy(&attributes) }

    var identifier: pid_t = 0
    let code = withCStrings(arguments) { argv in
      withCStrings(environment.map { "\($0)=\($1)" }) { envp in
        posix_spawn(&identifier, argv[0]!, &actions, &attributes, argv, envp)
      }
    }
    guard code == 0 else {
      let reason = String(cString: strerror(code))
      throw StoryFailure(message: "cannot start \(arguments[0]): \(reason)")
    }
    self.identifier = identifier
  }

  /// The status as a shell says it, 128 + n for signal n; `nil` while it runs.
  func poll() -> Int32? {
    if status == nil {
      var word: Int32 = 0
      if waitpid(identifier, &word, WNOHANG) == identifier {
        let signal = word & 0x7f
        status = signal == 0 ? (word >> 8) & 0xff : 128 + signal
      }
    }
    return status
  }

  /// Waits for the end, and lets `meanwhile` run between two looks.
  func wait(until deadline: ContinuousClock.Instant, meanwhile: () -> Void = {}) -> Int32? {
    var pause: UInt32 = 500
    while poll() == nil {
      guard ContinuousClock.now < deadline else { return nil }
      meanwhile()
      usleep(pause)
      pause = min(pause * 2, 10_000)
    }
    return status
  }

  func signal(_ number: Int32) {
    guard poll() == nil else { return }
    kill(identifier, number)
  }

  /// Ends the process and what it started in its session's first group.
  func end() {
    guard poll() == nil else { return }
    kill(-identifier, SIGTERM)
    kill(-identifier, SIGCONT)
    if wait(until: .now + .seconds(2)) == nil { kill(-identifier, SIGKILL) }
    _ = wait(until: .now + .seconds(5))
  }
}

// MARK: - Attributes and file actions

extension ChildProcess {
  /// `POSIX_SPAWN_SETSID`, which Glibc's module leaves out.
  private static let startsSession: Int16 = 0x80

  private static func attributes() -> posix_spawnattr_t {
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setflags(
      &attributes, startsSession | Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    return attributes
  }

  private static func open(_ streams: Streams, _ actions: inout posix_spawn_file_actions_t) {
    switch streams {
    case .files(let input, let output, let messages):
      let creates = O_WRONLY | O_CREAT | O_TRUNC
      posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0)
      posix_spawn_file_actions_addopen(&actions, 1, output, creates, 0o600)
      posix_spawn_file_actions_addopen(&actions, 2, messages, creates, 0o600)
    case .terminal(let name):
      // Opened after the session has begun, it becomes the controlling terminal.
      posix_spawn_file_actions_addopen(&actions, 0, name, O_RDWR, 0)
      posix_spawn_file_actions_adddup2(&actions, 0, 1)
      posix_spawn_file_actions_adddup2(&actions, 0, 2)
    }
  }

  private static func changeDirectory(
    _ path: String, _ actions: inout posix_spawn_file_actions_t
  ) {
    typealias Function =
      @convention(c) (UnsafeMutableRawPointer, UnsafePointer<CChar>) -> Int32
    let function = unsafeBitCast(
      symbol("posix_spawn_file_actions_addchdir_np"), to: Function.self)
    _ = withUnsafeMutableBytes(of: &actions) { function($0.baseAddress!, path) }
  }

  private static func closeFrom(_ first: Int32, _ actions: inout posix_spawn_file_actions_t) {
    typealias Function = @convention(c) (UnsafeMutableRawPointer, Int32) -> Int32
    let function = unsafeBitCast(
      symbol("posix_spawn_file_actions_addclosefrom_np"), to: Function.self)
    _ = withUnsafeMutableBytes(of: &actions) { function($0.baseAddress!, first) }
  }

  /// A GNU extension that Glibc's module leaves out.
  private static func symbol(_ name: String) -> UnsafeMutableRawPointer {
    guard let address = dlsym(nil, name) else { fatalError("no \(name) in this C library") }
    return address
  }
}

private func withCStrings<Result>(
  _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
  let copies = strings.map { strdup($0) }
  defer { for copy in copies { free(copy) } }
  return body(copies + [nil])
}
