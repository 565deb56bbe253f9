// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura verify`: proves the vault whole, or names what is not; makes the file of a whole one
/// short.
enum Verify {
  static let command = Command(
    "verify", abstract: "prove the vault whole, and name what is not",
    options: [
      Option(.compact, help: "then make the file as short as what is in it"),
      Option.json,
    ],
    unlocking: .whenLocked, run: run)

  /// Says what came of making the file short.
  private enum Given {
    case back(SpaceReport)
    /// It becomes short when nobody reads it any more.
    case later
  }

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let (arguments, messages) = (invocation.arguments, invocation.messages)
    try parsing { () throws(UsageError) in try arguments.refuse(.compact, with: .json) }
    var findings: [(finding: FindingKind, place: String)] = []
    var given: Given?
    var bar = ProgressBar("verifying", messages)
    let access = try invocation.access()
    defer { bar.clear() }
    _ = try access.unlocked { connection throws(ClientError) in
      findings = []
      _ = try connection.verify(
        progress: { bar.show($0) }, finding: { findings.append(($0, $1)) })
      guard arguments.has(.compact), findings.isEmpty else { return }
      bar.clear()
      bar = ProgressBar("compacting", messages)
      given = try compact(&connection, &bar)
    }
    bar.clear()
    if arguments.has(.json) {
      try writeJSON(findings, &invocation.output)
    } else {
      report(findings, messages)
    }
    guard findings.isEmpty else { throw .findings(findings.count) }
    if let given { report(given, messages) }
    return .ok
  }

  /// Makes the file short.
  private static func compact(
    _ connection: inout Connection, _ bar: inout ProgressBar
  ) throws(ClientError) -> Given {
    do throws(ClientError) { return .back(try connection.compact { bar.show($0) }) } catch {
      guard case .refused(let refused) = error, refused.failure == .walKept else {
        throw error
      }
      return .later
    }
  }

  private static func report(_ given: Given, _ messages: Messages) {
    switch given {
    case .later:
      messages.note("another program reads the vault: its file becomes shorter at the next lock")
    case .back(let report) where report.count == 0:
      messages.note("the file has nothing to give back")
    case .back(let report):
      messages.note(
        ByteSize(count: report.count).words + " given back; the file is "
          + ByteSize(count: report.length).words + " long")
    }
  }

  private static func report(
    _ findings: [(finding: FindingKind, place: String)], _ messages: Messages
  ) {
    if findings.isEmpty { messages.note("the vault is whole") }
    for (finding, place) in findings {
      let place = place.utf8.isEmpty ? "" : ": " + Diagnostic.shown(place)
      messages.report(Diagnostic(finding.text + place, .integrity))
    }
  }

  private static func writeJSON(
    _ findings: [(finding: FindingKind, place: String)], _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.key("findings")
    try output.openArray()
    for (finding, place) in findings {
      try output.openObject()
      try output.member("code", UInt64(finding.rawValue))
      try output.member("text", finding.text)
      try output.member("where", place)
      try output.closeObject()
    }
    try output.closeArray()
    try output.closeDocument()
    try output.flush()
  }
}
