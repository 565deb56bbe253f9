// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// `kura verify`: proves the vault whole, or names what is not.
enum Verify {
  static let command = Command(
    "verify", abstract: "prove the vault whole, and name what is not", options: [Option.json],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    var findings: [(finding: Finding, place: String)] = []
    var bar = ProgressBar("verifying", invocation.messages)
    let access = try invocation.access()
    defer { bar.clear() }
    _ = try access.unlocked { connection throws(ClientError) in
      try connection.verify(
        progress: { bar.show($0) }, finding: { findings.append(($0, $1)) })
    }
    bar.clear()
    if invocation.arguments.has(.json) {
      try writeJSON(findings, &invocation.output)
    } else {
      report(findings, invocation.messages)
    }
    guard findings.isEmpty else { throw .findings(findings.count) }
    return .ok
  }

  private static func report(
    _ findings: [(finding: Finding, place: String)], _ messages: Messages
  ) {
    if findings.isEmpty { messages.note("the vault is whole") }
    for (finding, place) in findings {
      let place = place.utf8.isEmpty ? "" : ": " + Diagnostic.shown(place)
      messages.report(Diagnostic(finding.text + place, .integrity))
    }
  }

  private static func writeJSON(
    _ findings: [(finding: Finding, place: String)], _ output: inout Output
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
