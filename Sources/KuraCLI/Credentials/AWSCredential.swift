// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper aws NAME`: answers what `credential_process` of the AWS tools runs, version 1.
///
/// The item's value is the secret access key, and its attribute `access-key-id` the other half; or
/// the value is the JSON that `aws iam create-access-key` or `aws sts …` printed, with a session token
/// and an expiry where there are some.
enum AWSCredential {
  private static let keyAttribute = "access-key-id"

  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    var value = try CredentialValue()
    let (name, item) = try invocation.itemToHandOut(by: "helper aws", into: &value)
    if value.bytes.count > 0, value.bytes[0] == UInt8(ascii: "{") {
      let document = try value.document(name)
      try write(document, name, &invocation.output)
    } else {
      try value.checkLine(name)
      guard let id = item.attributes.first(where: { $0.key == keyAttribute })?.value,
        UTF8Scanner.isText(id.span)
      else { throw .attributeMissing(name, key: keyAttribute) }
      try begin(&invocation.output)
      try invocation.output.member("AccessKeyId", bytes: id.span)
      try invocation.output.member("SecretAccessKey", bytes: value.bytes)
      try end(&invocation.output)
    }
    return .ok
  }

  /// Hands on what a document of the AWS tools' own says, where it says enough.
  private static func write(
    _ document: borrowing JSONDocument, _ name: String, _ output: inout Output
  ) throws(CommandError) {
    var value = try room()
    let holder = try holder(of: document, &value)
    for key in ["AccessKeyId", "SecretAccessKey"] {
      guard try document.read(holder + [key], into: &value) else {
        throw .failure("the JSON in " + Diagnostic.shown(name) + " has no " + key)
      }
    }
    try begin(&output)
    for key in ["AccessKeyId", "SecretAccessKey", "SessionToken", "Expiration"] {
      guard try document.read(holder + [key], into: &value) else { continue }
      try output.member(key, bytes: value.bytes)
    }
    try end(&output)
  }

  private static func room() throws(CommandError) -> SecretBuffer {
    try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
  }

  /// The key below which the tools of AWS print what was made; none in what this protocol prints.
  private static func holder(
    of document: borrowing JSONDocument, _ value: inout SecretBuffer
  ) throws(CommandError) -> [String] {
    for key in ["Credentials", "AccessKey"] {
      if try document.read([key, "SecretAccessKey"], into: &value) { return [key] }
    }
    return []
  }

  private static func begin(_ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.member("Version", 1)
  }

  private static func end(_ output: inout Output) throws(CommandError) {
    try output.closeObject()
    try output.write("\n")
  }
}
