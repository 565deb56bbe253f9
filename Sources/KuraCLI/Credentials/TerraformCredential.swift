// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper terraform`: is a credentials helper of Terraform's and OpenTofu's. A host's token
/// is the item `terraform/HOST`, the host as ``NamePart`` writes it.
enum TerraformCredential {
  private static let tokenKey = "token"

  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let operands = invocation.arguments.operands
    guard operands.count == 3, !operands[2].isEmpty else {
      throw .usage(.operandMissing("get, store or forget, and a HOST", verb: "helper terraform"))
    }
    let name = "terraform/" + NamePart.encode(operands[2])
    let operation = operands[1]
    if operation.elementsEqual("get".utf8) {
      try get(name, &invocation)
    } else if operation.elementsEqual("store".utf8) {
      try store(name, invocation)
    } else if operation.elementsEqual("forget".utf8) {
      try invocation.access().unlocked { connection throws(ClientError) in
        try connection.drop(name)
      }
    } else {
      throw .usage(
        "terraform's " + Diagnostic.quoted(operation) + " is not known",
        hint: "say get, store or forget")
    }
    return .ok
  }

  /// Prints the token; an empty object for a host that is not known.
  private static func get(
    _ name: String, _ invocation: inout Invocation
  ) throws(CommandError) {
    var token = try CredentialValue()
    let isThere = try invocation.access().reading(.refused).unlocked(authorizing: true) {
      connection throws(ClientError) in
      try connection.read(name, into: &token)
    }
    if isThere {
      try token.checkText(name)
      // It becomes a header's line.
      try token.checkLine(name)
    }
    try invocation.output.openObject()
    if isThere { try invocation.output.member(tokenKey, bytes: token.bytes) }
    try invocation.output.closeObject()
    try invocation.output.write("\n")
  }

  /// Keeps a token, and refuses what has more than one: all of it would have to come back.
  private static func store(
    _ name: String, _ invocation: borrowing Invocation
  ) throws(CommandError) {
    let request = try JSONDocument.request(try CredentialInput.all())
    var token = try allocating { () throws(SecureMemoryError) in
      try SecretBuffer(capacity: 256)
    }
    guard try request.read([tokenKey], into: &token), token.count > 0 else {
      throw .requestLacks(tokenKey)
    }
    guard request.memberCount == 1 else {
      throw .failure("the request has more than a token, which this helper cannot keep")
    }
    guard token.bytes.indices.allSatisfy({ !CredentialValue.endsLine(token.bytes[$0]) }) else {
      throw .failure(
        "the token is not one line, so it could not be handed out again",
        hint: "nothing was stored")
    }
    try invocation.access().unlocked { connection throws(ClientError) in
      try connection.keep(token.bytes, as: name, [])
    }
  }
}
