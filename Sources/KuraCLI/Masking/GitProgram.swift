// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Runs git, and hears what it says; what git has to complain of, it says to the user itself.
struct GitProgram: ~Copyable {
  private static let step = 65_536
  /// The longest line that is one of its own.
  private static let longestLine = 4_096

  private let child: kura_child
  private var hasEnded = false
  /// What it has said, from where it was not read yet.
  private var said: SecretBuffer

  /// Starts it, without any program of the repository's own, and so that it writes nothing there.
  ///
  /// - Parameters:
  ///   - words: What stands behind `git`.
  ///   - variables: Have the `PATH`.
  static func start(
    _ words: [String], _ variables: Variables
  ) throws(CommandError) -> GitProgram {
    guard let path = Program.look(for: "git", variables["PATH"]) else {
      throw .failure(
        "there is no git", hint: "install git, or name files: 'kura scan PATH'", .inputOutput)
    }
    let said = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: step) }
    let own = ["git", "--no-pager", "--no-optional-locks", "-c", "core.fsmonitor=false"]
    guard let child = System.startAnswering(path, own + words) else {
      throw .failure(
        "git could not be started: " + Diagnostic.shown(path),
        hint: "see whether it runs by itself: 'git version'", .inputOutput)
    }
    return GitProgram(child: child, said: said)
  }

  private init(child: kura_child, said: consuming SecretBuffer) {
    self.child = child
    self.said = said
  }

  deinit {
    kura_socket_close(child.descriptor)
    if !hasEnded { _ = kura_child_wait(child.process, Int32.max) }
  }

  /// Says something to it.
  func tell(_ line: [UInt8]) throws(CommandError) {
    do throws(FileError) { try Descriptor.write(line.span, to: child.descriptor) } catch {
      throw GitProgram.stopped
    }
  }

  /// What it says up to its end, of at most so many bytes.
  mutating func all(limit: Int) throws(CommandError) -> SecretBuffer {
    do throws(FileError) {
      let all = try Descriptor.readAll(child.descriptor, limit: limit)
      hasEnded = true
      guard kura_child_wait(child.process, Int32.max) == 0 else { throw FileError(errno: EPIPE) }
      return all
    } catch { throw GitProgram.stopped }
  }

  /// Its next line, without the end.
  mutating func line() throws(CommandError) -> [UInt8] {
    while true {
      if let end = GitProgram.lineEnd(in: said.bytes) {
        let line = [UInt8](copying: said.bytes.extracting(first: end))
        said.removeFirst(end + 1)
        return line
      }
      guard said.count < GitProgram.longestLine else { throw GitProgram.stopped }
      try receive()
    }
  }

  private static func lineEnd(in bytes: Span<UInt8>) -> Int? {
    bytes.indices.first { bytes[$0] == 0x0A }
  }

  /// So many bytes of what it says next, in parts.
  mutating func bytes(
    _ count: UInt64, _ body: (Span<UInt8>) throws(CommandError) -> Void
  ) throws(CommandError) {
    var left = count
    while left > 0 {
      if said.count == 0 { try receive() }
      let part = Int(min(left, UInt64(said.count)))
      try body(said.bytes.extracting(first: part))
      said.removeFirst(part)
      left -= UInt64(part)
    }
  }

  private mutating func receive() throws(CommandError) {
    var count = 0
    do throws(FileError) {
      count = try Descriptor.read(
        child.descriptor, into: &said, upTo: said.capacity - said.count)
    } catch { throw GitProgram.stopped }
    if count == 0 { throw GitProgram.stopped }
  }

  /// Why nothing more can be said of the repository.
  static var stopped: CommandError {
    .failure(
      "git did not tell what is staged",
      hint: "run it within a git repository, of which git can tell",
      .inputOutput)
  }
}
