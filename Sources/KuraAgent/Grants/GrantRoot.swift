// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraProtocol

/// Is the process below which a grant serves, held so that its end is seen, and its number is no other's before.
struct GrantRoot: ~Copyable {
  let tree: ProcessTree
  /// The file name of its program, when the grant was given.
  let program: [UInt8]
  private let process: Descriptor

  /// Holds a process.
  ///
  /// - Throws: ``Refusal/processGone(_:)`` where it has ended.
  init(_ link: ProcessLink, _ configuration: AgentConfiguration) throws(Refusal) {
    let raw = configuration.holdProcess(link.process)
    guard raw >= 0 else { throw .processGone(link.process) }
    let held = Descriptor(owning: raw)
    // What was looked up may have ended before it was held, and left its number to another.
    guard configuration.processes(link.process, .place)?.start == link.start,
      kura_process_has_ended(held.raw) == 0
    else { throw .processGone(link.process) }
    process = held
    tree = ProcessTree(process: link.process, start: link.start)
    program = link.name
  }

  /// What an epoll(7) watches for its end.
  var watched: Int32 { process.raw }

  /// Whether the process has ended.
  var hasEnded: Bool { kura_process_has_ended(process.raw) == 1 }
}

extension Agent {
  /// The process that a grant for a client is to be for.
  ///
  /// - Throws: ``Refusal/processGone(_:)``; ``Refusal/processUnfit(_:)`` for one of another user or another namespace,
  ///   and for what all of a login or a terminal hangs on.
  func root(
    of scope: GrantScope, _ process: UInt32, for connection: Connection
  ) throws(Refusal) -> ProcessLink {
    guard let chain = chain(of: connection), let own = chain.links.first else {
      throw .processGone(UInt32(clamping: connection.process))
    }
    let found: ProcessLink?
    switch scope {
    case .client: found = own
    case .process: found = configuration.processes(process, .all)
    case .program:
      guard let tree = chain.tree else { throw .processUnfit(0) }
      found = chain.links.first { $0.process == tree.process }
    }
    guard let link = found else { throw .processGone(process) }
    guard link.isFit(beside: own) else { throw .processUnfit(link.process) }
    return link
  }
}
