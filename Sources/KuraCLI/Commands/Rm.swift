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
    var files: [[String]]?
    for (index, name) in names.enumerated() {
      do throws(CommandError) {
        let excess = try access.unlocked { connection throws(ClientError) -> Int? in
          let all = if let files { files } else { try Attachments.find(of: names, &connection) }
          files = all
          // Those that are named themselves go by themselves.
          let own = all[index].map { name + $0 }.filter { file in
            !names.contains { $0.utf8.elementsEqual(file.utf8) }
          }
          guard own.count <= Attachments.most else { return own.count }
          try connection.remove(name, ifRevision: revision, files: own)
          return nil
        }
        if let excess { throw Attachments.tooMany(excess, of: name) }
      } catch {
        // The others can still be removed; with one name there are none.
        guard names.count > 1, error.isOfItem else { throw error }
        let diagnostic = Diagnostic(error)
        invocation.messages.report(diagnostic)
        if status == .ok { status = diagnostic.status }
      }
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
