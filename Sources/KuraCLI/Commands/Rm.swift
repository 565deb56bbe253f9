// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura rm`: removes items; their revisions stay in the history.
enum Rm {
  static let command = Command(
    "rm", [.init("NAME", .atLeastOne)], abstract: "remove items; the history keeps their values",
    options: [Option.ifRevision], unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    let revision = try parsing { () throws(UsageError) -> UInt64 in
      if arguments.has(.ifRevision), arguments.operands.count > 1 {
        throw UsageError(OptionName.ifRevision.spelling + " goes with one NAME only")
      }
      return try arguments.number(.ifRevision) ?? 0
    }
    var names: [String] = []
    for index in arguments.operands.indices { names.append(try invocation.operand(index)) }
    let access = try invocation.access()
    var status = ExitStatus.ok
    var removed: [String] = []
    for name in names {
      do throws(CommandError) {
        try access.unlocked { connection throws(ClientError) in
          try connection.remove(name, ifRevision: revision)
        }
        removed.append(name)
      } catch {
        // The others can still be removed; with one name there are none.
        guard names.count > 1, error.isOfItem else { throw error }
        let diagnostic = Diagnostic(error)
        invocation.messages.report(diagnostic)
        if status == .ok { status = diagnostic.status }
      }
    }
    guard !removed.isEmpty else { return status }
    try access.unlocked { connection throws(ClientError) in
      for name in try Attachments.find(of: removed, &connection) { try connection.remove(name) }
    }
    return status
  }
}

extension CommandError {
  /// Whether it says something of one item, and nothing of the next.
  fileprivate var isOfItem: Bool {
    guard case .client(.refused(let refused)) = self else { return false }
    let failure = refused.failure
    return failure == .notFound || failure == .nameInvalid || failure == .revisionConflict
  }
}
