// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Tells what came beside a client's first bytes: by a descriptor of its own process it shows that this lives,
/// to an agent whose kernel tells of no peer.
struct Showing: ~Copyable {
  /// The process that sent the bytes, as the kernel noted it; 0 where it did not.
  private let sender: Int32
  private let handed: Descriptor?

  init(sender: Int32, handed: Int32) {
    self.sender = sender
    self.handed = handed >= 0 ? Descriptor(owning: handed) : nil
  }

  /// What holds a process, if that has sent the bytes itself, and handed over itself.
  ///
  /// Only one process at a time has a number. The sender had this one when the descriptor was made already; so the
  /// descriptor's process, while it lives, is the sender: anybody can open one of another process, but not send
  /// it under that one's number.
  consuming func held(of process: Int32) -> Descriptor? {
    guard process > 0, sender == process, let handed,
      ProcessLink.process(heldBy: handed.raw) == UInt32(process)
    else { return nil }
    return handed
  }
}

extension Agent {
  /// Takes what a client sends.
  func receive(_ connection: Connection) -> Transfer {
    guard connection.mayShow else { return connection.inbox.receive(from: connection.raw) }
    var showing = Showing(sender: 0, handed: -1)
    let transfer = connection.inbox.receive(from: connection.raw, &showing)
    if transfer != .wouldBlock {
      connection.mayShow = false
      connection.held = showing.held(of: connection.process)
    }
    return transfer
  }

  /// Whether a client's process lives, so that its number is no other's; nil where neither the kernel nor the client
  /// tells.
  func lives(_ connection: Connection) -> Bool? {
    if let told = configuration.livesAtEnd(connection.raw) { return told }
    return connection.showsLife
  }
}

extension Connection {
  fileprivate var showsLife: Bool? {
    switch held {
    case .none: nil
    case .some(let held): kura_process_has_ended(held.raw) == 0
    }
  }
}
