// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Does `kura helper kubectl NAME`: is an exec plugin of kubectl's and of all that use client-go, and
/// answers with an ExecCredential.
///
/// The item's value is a token, and its attribute `expires` the moment when it ends; or the value is an
/// ExecCredential that another program printed, of which its status is handed on.
enum KubectlCredential {
  private static let expiryKey = "expires"

  static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let version = try Version(invocation.variables["KUBERNETES_EXEC_INFO"])
    var value = try CredentialValue()
    let (name, item) = try invocation.itemToHandOut(by: "helper kubectl", into: &value)
    if value.bytes.count > 0, value.bytes[0] == UInt8(ascii: "{") {
      let document = try value.document(name)
      try write(document, version, name, &invocation.output)
    } else {
      try value.checkLine(name)
      guard value.bytes.count > 0 else { throw nothing(name) }
      let expiry = item.attributes.first { $0.key == expiryKey }?.value
      if let expiry { try check(expiry, name) }
      try begin(version, &invocation.output)
      if let expiry { try invocation.output.member("expirationTimestamp", bytes: expiry.span) }
      try invocation.output.member("token", bytes: value.bytes)
      try end(&invocation.output)
    }
    return .ok
  }

  /// Hands on the status of an ExecCredential, in the version that was asked for.
  private static func write(
    _ document: borrowing JSONDocument, _ version: Version, _ name: String,
    _ output: inout Output
  ) throws(CommandError) {
    var value = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: 256) }
    let hasToken = try document.read(["status", "token"], into: &value) && value.count > 0
    let hasKey = try document.read(["status", "clientKeyData"], into: &value) && value.count > 0
    guard hasToken || hasKey else { throw nothing(name) }
    let hasCertificate =
      try document.read(["status", "clientCertificateData"], into: &value) && value.count > 0
    // client-go takes neither without the other.
    guard hasKey == hasCertificate else { throw half(name) }
    if let expiry = try document.bytes("status", "expirationTimestamp") { try check(expiry, name) }
    try begin(version, &output)
    for key in ["expirationTimestamp", "token", "clientCertificateData", "clientKeyData"] {
      guard try document.read(["status", key], into: &value) else { continue }
      try output.member(key, bytes: value.bytes)
    }
    try end(&output)
  }

  private static func nothing(_ name: String) -> CommandError {
    .failure(Diagnostic.shown(name) + " has neither a token nor a key for kubectl")
  }

  private static func half(_ name: String) -> CommandError {
    .failure(Diagnostic.shown(name) + " has one of a certificate and its key, and not the other")
  }

  private static func begin(_ version: Version, _ output: inout Output) throws(CommandError) {
    try output.openObject()
    try output.member("kind", "ExecCredential")
    try output.member("apiVersion", version.rawValue)
    try output.key("status")
    try output.openObject()
  }

  private static func end(_ output: inout Output) throws(CommandError) {
    try output.closeObject()
    try output.closeObject()
    try output.write("\n")
  }
}

// MARK: - Expiry

extension KubectlCredential {
  /// Refuses what is of no more use: the server would, and nobody would know why.
  private static func check(_ expiry: [UInt8], _ name: String) throws(CommandError) {
    guard isMoment(expiry) else {
      throw .failure(
        "the moment when " + Diagnostic.shown(name) + " expires is not as kubectl reads it: "
          + Diagnostic.quoted(expiry), hint: "write it as 2030-12-31T23:59:59Z")
    }
    // Of one form and length, so the order of the bytes is that of the moments.
    let now = Array(Moment.rfc3339(Clock.unix()).utf8.prefix(expiry.count - 1))
    guard now.lexicographicallyPrecedes(expiry.dropLast()) else {
      throw .failure(
        "the token in " + Diagnostic.shown(name) + " has expired, at "
          + Diagnostic.shown(expiry), hint: "put another one there with --replace")
    }
  }

  /// Whether an expiry is one: a moment in UTC to the second, `2030-12-31T23:59:59Z`.
  private static func isMoment(_ text: [UInt8]) -> Bool {
    let form = Array("0000-00-00T00:00:00Z".utf8)
    guard text.count == form.count else { return false }
    let hasForm = form.indices.allSatisfy { index in
      let isDigit = text[index] >= UInt8(ascii: "0") && text[index] <= UInt8(ascii: "9")
      return form[index] == UInt8(ascii: "0") ? isDigit : text[index] == form[index]
    }
    guard hasForm else { return false }
    func number(_ range: Range<Int>) -> Int {
      text[range].reduce(0) { $0 * 10 + Int($1) - 0x30 }
    }
    let (year, month, day) = (number(0..<4), number(5..<7), number(8..<10))
    let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
    let days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    return (1...12).contains(month) && day > 0 && day <= days[month - 1]
      && number(11..<13) < 24 && number(14..<16) < 60 && number(17..<19) < 60
  }
}

// MARK: - Versions

extension KubectlCredential {
  /// Lists the versions of an answer; a caller takes the one that its configuration names, and no other.
  private enum Version: String, CaseIterable {
    case v1 = "client.authentication.k8s.io/v1"
    case v1beta1 = "client.authentication.k8s.io/v1beta1"

    /// Finds out what the caller takes; without a word of it the first.
    init(_ request: String?) throws(CommandError) {
      guard let request else {
        self = .v1
        return
      }
      var text = try allocating { () throws(SecureMemoryError) in
        try SecretBuffer(capacity: request.utf8.count)
      }
      let bytes = Array(request.utf8)
      do throws(SecureMemoryError) { try text.append(bytes.span) } catch { throw .outOfMemory }
      guard let asked = try JSONDocument.request(text).bytes("apiVersion") else {
        throw .requestLacks("apiVersion")
      }
      guard let version = Self.allCases.first(where: { $0.rawValue.utf8.elementsEqual(asked) })
      else {
        throw .failure(
          "kubectl asks for an answer of " + Diagnostic.quoted(asked) + ", which is not known",
          hint: "set apiVersion in the kubeconfig to " + Version.v1.rawValue)
      }
      self = version
    }
  }
}
