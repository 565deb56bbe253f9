// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol

/// Does `kura show`: prints everything of an item but its value.
enum Show {
  static let command = Command(
    "show", [.init("NAME")], abstract: "show an item: all but its value", options: [Option.json],
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let name = try invocation.operand(0)
    let access = try invocation.access()
    var held = Held()
    let shown = try access.unlocked(holding: &held) { connection throws(ClientError) in
      try connection.show(name)
    }
    let secrets = try access.unlocked(holding: &held) { connection throws(ClientError) in
      try connection.secrets(of: name)
    }
    if invocation.arguments.has(.json) {
      try writeJSON(shown, secrets, &invocation.output)
    } else {
      try write(shown, &invocation.output)
      for secret in secrets {
        try invocation.output.write(line: secret.key)
        try invocation.output.write(": secret, " + ByteSize(count: secret.size).words + "\n")
      }
    }
    return .ok
  }

  private static func writeJSON(
    _ shown: ShownItem, _ secrets: [(key: String, size: UInt64)], _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.members(of: shown.item)
    if !secrets.isEmpty {
      try output.key("secret-attributes")
      try output.openObject()
      for secret in secrets { try output.member(secret.key, secret.size) }
      try output.closeObject()
    }
    try output.key("history")
    try output.openArray()
    for revision in shown.revisions { try output.element(revision) }
    try output.closeArray()
    try output.closeDocument()
  }

  private static func write(_ shown: ShownItem, _ output: inout Output) throws(CommandError) {
    let facts = shown.item.facts
    try line("name", shown.item.name, &output)
    try line("revision", "\(facts.revision)", &output)
    try line("size", ByteSize(count: facts.size).words, &output)
    try line("created", Moment.local(facts.created), &output)
    try line("modified", Moment.local(facts.modified), &output)
    try line("class", facts.protection.name, &output)
    if facts.kind == .otp { try line("kind", "one-time codes", &output) }
    if !shown.revisions.isEmpty {
      try line("history", shown.revisions.map { "\($0)" }.joined(separator: " "), &output)
    }
    for attribute in shown.item.attributes {
      try output.write(line: attribute.key)
      try output.write("=")
      try output.write(line: attribute.value.span)
      try output.write("\n")
    }
  }

  private static func line(
    _ label: String, _ text: String, _ output: inout Output
  ) throws(CommandError) {
    try output.write(label + ": ")
    try output.write(line: text)
    try output.write("\n")
  }
}
