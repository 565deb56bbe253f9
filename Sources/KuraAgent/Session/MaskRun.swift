// SPDX-License-Identifier: MIT

internal import KuraProtocol
internal import SecureMemory

/// Is a process that masks what the programs below it write, and has to know each value before one of them is handed it.
///
/// It outlives its connection: as long as the process is there, nobody below it is handed what it was not told of.
final class MaskRun {
  /// How many values one may have been told of and not answered for.
  static let most = 64

  /// The process, below which all are meant.
  let tree: ProcessTree
  /// Where it is told; nil while it has none.
  weak var connection: Connection?
  /// How many values it has not answered for.
  var open = 0

  init(_ tree: ProcessTree) { self.tree = tree }

  /// Whether it can be told of a value.
  var isHeard: Bool {
    guard let connection, !connection.isClosed, connection.mask === self else { return false }
    return open < Self.most
  }
}

/// Keeps back an answer with values until all know them that mask what its client writes.
final class MaskWait {
  /// A value that somebody has not answered for.
  struct Needle {
    let number: UInt64
    let run: MaskRun
  }

  /// The vault that the values come from; its lock ends the wait, and wipes them.
  let session: Session
  /// Until when it waits, on the monotonic clock.
  let deadline: UInt64
  var needles: [Needle] = []
  /// The answer's frames.
  private(set) var reply: SecretBuffer
  /// What the client's connection does behind them.
  private(set) var next = Phase.ready

  init(_ session: Session, until deadline: UInt64) throws(Refusal) {
    do throws(SecureMemoryError) { reply = try SecretBuffer(capacity: 64) } catch {
      throw .outOfMemory
    }
    self.session = session
    self.deadline = deadline
  }

  /// Takes the frames that a client's outbox has from there on.
  func take(_ outbox: inout Outbox, from start: Int, then next: Phase) throws(Refusal) {
    do throws(SecureMemoryError) {
      try reply.append(outbox.frames.bytes.extracting(droppingFirst: start))
    } catch { throw .outOfMemory }
    outbox.frames.removeLast(outbox.frames.count - start)
    self.next = next
  }

  /// Writes the answer at last.
  func give(to outbox: inout Outbox) throws(SecureMemoryError) {
    var taken = try SecretBuffer(capacity: 64)
    swap(&taken, &reply)
    try outbox.frames.append(taken.bytes)
  }

  /// Drops a value that was answered for; false where it is none of these, or another one's.
  func drop(_ number: UInt64, of run: MaskRun) -> Bool {
    guard let index = needles.firstIndex(where: { $0.number == number && $0.run === run }) else {
      return false
    }
    needles.remove(at: index)
    return true
  }
}

extension ProcessChain {
  /// Whether it stands below a process, in whatever namespace and with whatever rights: what it writes may come
  /// through there.
  func isBelow(_ tree: ProcessTree) -> Bool {
    links.dropFirst().contains { $0.process == tree.process && $0.start == tree.start }
  }
}
