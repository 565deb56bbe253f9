// SPDX-License-Identifier: MIT

import SecureMemory
import Testing

@testable import KuraCLI

private func flaw(_ text: String) -> String? { flaw(Array(text.utf8)) }

private func flaw(_ bytes: [UInt8]) -> String? {
  do throws(CommandError) {
    let request = try GitRequest.read(bytes.span)
    _ = request.hasPassword
    return nil
  } catch { return Diagnostic(error).message }
}

private func place(_ text: String) throws -> GitPlace? {
  let bytes = Array(text.utf8)
  let request = try GitRequest.read(bytes.span)
  return try request.place()
}

@Suite struct GitRequestTests {
  @Test func `a request is read up to its empty line`() throws {
    let text = Array(
      """
      protocol=https
      host=h:8
      path=a=b
      username=
      password=x=y\u{20}
      wwwauth[]=Basic
      wwwauth[]=Basic

      host=other
      """.utf8)
    let request = try GitRequest.read(text.span)
    let (host, path, user) = (request.host, request.path, request.user)
    #expect(host == Array("h:8".utf8))
    #expect(path == Array("a=b".utf8))
    #expect(user == [])
    let flags = [request.hasPassword, request.hasRefreshToken, request.isEphemeral]
    #expect(flags == [true, false, false])
    let wanted = Array("x=y ".utf8)
    let isWanted = request.password.isEqual(to: wanted.span)
    #expect(isWanted)
    let place = try request.place()
    #expect(place?.name(of: Array("u/v".utf8)) == "git/https/h:8/a=b/u%2Fv")
  }

  @Test(
    arguments: [
      ("host=a\rb\n", "line 1 of the request has a NUL or a carriage return"),
      ("host=a\r\n", "line 1 of the request has a NUL or a carriage return"),
      ("protocol=https\nx=\0\n", "line 2 of the request has a NUL or a carriage return"),
      ("ho\rst=a\n", "line 1 of the request has a NUL or a carriage return"),
      ("host\n", "line 1 of the request is not KEY=VALUE"),
      ("host=h\n =\nx\n", "line 3 of the request is not KEY=VALUE"),
      ("=x\n", "line 1 of the request is not KEY=VALUE"),
      ("host=h\nhost=h\n", "line 2 of the request says something twice"),
      ("password=a\npassword=a", "line 2 of the request says something twice"),
    ])
  func `a line that two readers could read in two ways is refused`(
    _ text: String, _ expected: String
  ) {
    #expect(flaw(text) == expected)
  }

  @Test func `no host is not any host`() throws {
    #expect(try place("protocol=https\nhost=\n") == nil)
    #expect(throws: CommandError.requestLacks("host")) { try place("protocol=https\n") }
    #expect(throws: CommandError.requestLacks("protocol")) { try place("host=h\n") }
    #expect(throws: CommandError.requestLacks("protocol")) { try place("") }
  }

  @Test func `a place takes its own items and no others`() {
    let host = GitPlace(scheme: Array("https".utf8), host: Array("h".utf8), path: nil)
    #expect(host.user(of: "git/https/h/ada") == Array("ada".utf8))
    #expect(host.user(of: "git/https/h/%") == [])
    for name in [
      "git/https/h/a/ada", "git/https/h:1/ada", "git/http/h/ada", "git/https/h", "git/https/h/",
      "git/https/h/%2f", "git-refresh/https/h/ada",
    ] {
      #expect(host.user(of: name) == nil, "\(name)")
    }
    let path = GitPlace(
      scheme: Array("https".utf8), host: Array("h".utf8), path: Array("a/b".utf8))
    #expect(path.user(of: "git/https/h/a%2Fb/ada") == Array("ada".utf8))
    #expect(path.user(of: "git/https/h/ada") == nil)
  }

  @Test func `random bytes never crash it, and none of them is read past an end of line`() throws {
    let words = ["protocol", "host", "=", "\n", "\r", "\0", "https", "h", "password", "é", " "]
    var generator = SystemRandomNumberGenerator()
    for _ in 0..<5_000 {
      let text = (0..<Int.random(in: 0...12, using: &generator))
        .map { _ in words.randomElement(using: &generator) ?? "" }.joined()
      let head = text.components(separated: "\n\n")
      if head.contains("\r") || head.contains("\0") { #expect(flaw(text) != nil) }
    }
  }
}

extension String {
  /// What stands before the first separator, or before an empty first line.
  fileprivate func components(separated separator: String) -> String {
    if hasPrefix("\n") { return "" }
    guard let end = firstRange(of: separator) else { return self }
    return String(self[..<end.lowerBound])
  }
}
