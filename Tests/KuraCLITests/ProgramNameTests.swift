// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct ProgramNameTests {
  private func arguments(_ name: String, _ words: String...) -> [String] {
    ProgramName.arguments(([name] + words).map { Array($0.utf8) })
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `a link is the helper of its program`() {
    #expect(arguments("git-credential-kura", "get") == ["helper", "git", "get"])
    #expect(arguments("/usr/bin/docker-credential-kura", "list") == ["helper", "docker", "list"])
    #expect(
      arguments("git-credential-kura", "--vault", "work", "get")
        == ["helper", "git", "--vault", "work", "get"])
    #expect(arguments("x/cargo-credential-kura", "--cargo-plugin") == ["helper", "cargo"])
    #expect(
      arguments("/p/terraform-credentials-kura", "get", "h") == ["helper", "terraform", "get", "h"])
  }

  @Test func `a question is no option, whatever it begins with`() {
    #expect(arguments("/usr/bin/pass", "-c", "a") == ["helper", "pass", "--", "-c", "a"])
    #expect(
      arguments("/opt/keyring", "--mode=creds", "get", "x")
        == ["helper", "keyring", "--", "--mode=creds", "get", "x"])
    #expect(arguments("kura-pass") == ["helper", "pass", "--"])
    #expect(arguments("kura-askpass", "--help") == ["helper", "askpass", "--", "--help"])
    #expect(
      arguments("kura-askpass", "--cargo-plugin") == ["helper", "askpass", "--", "--cargo-plugin"])
  }

  @Test(arguments: ["kura", "/opt/kura", "", "/", "git-credential-kura2", "askpass"])
  func `any other name is kura itself`(_ name: String) {
    #expect(arguments(name, "get", "x") == ["get", "x"])
  }
}
