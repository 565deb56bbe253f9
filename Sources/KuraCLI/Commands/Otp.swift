// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura otp`: prints a one-time code, made where the seed is.
enum Otp {
  static let command = Command(
    "otp", [.init("NAME")], abstract: "print the one-time code that an item gives now",
    options: [Option.json], unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    var (name, vault): (String, String?) = (try invocation.operand(0), nil)
    var part = ItemReference.Part.code
    if ItemReference.isReference(name) {
      do throws(ItemReference.Flaw) {
        let reference = try ItemReference(name)
        part = reference.part
        (name, vault) = (reference.name, reference.vault)
      } catch { throw .usage(.notAReference(error)) }
    }
    if case .attribute = part {
      throw .usage(
        "an attribute gives no one-time codes",
        hint: "leave out ?attr=: the item's value has the seed")
    }
    let isJSON = invocation.arguments.has(.json)
    var left: UInt64 = 0
    try invocation.access(vault: vault).reading(name).unlocked(authorizing: true) {
      connection throws(ClientError) in
      let code = try connection.oneTimeCode(of: name)
      left = code.left
      try writing { () throws(CommandError) in
        if isJSON { return try writeJSON(code, of: name, &invocation.output) }
        try invocation.output.send(code.text.bytes)
      }
    }
    guard !isJSON, invocation.output.isTerminal else { return .ok }
    try invocation.output.write("\n")
    try invocation.output.flush()
    if left > 0 { invocation.messages.note("good for \((left + 999) / 1_000) s") }
    return .ok
  }

  private static func writeJSON(
    _ code: borrowing OneTimeCode, of name: String, _ output: inout Output
  ) throws(CommandError) {
    try output.openDocument()
    try output.member("name", name)
    try output.member("code", bytes: code.text.bytes)
    try output.member("algorithm", code.algorithm.name)
    switch code.kind {
    case .time:
      try output.member("kind", "totp")
      try output.member("period", UInt64(code.period) * 1_000)
      try output.member("left", code.left)
    case .counter:
      try output.member("kind", "hotp")
      try output.member("counter", code.counter)
    }
    try output.closeDocument()
  }
}
