// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraClient

/// Gives this process these variables and no other that matters here. They are every thread's: the process
/// is an exit test's own.
private func setEnvironment(_ variables: [String: String]) throws {
  for name in ["HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR", "KURA_VAULT"] {
    try #require(unsetenv(name) == 0)
  }
  for (name, value) in variables { try #require(setenv(name, value, 1) == 0) }
}

struct VaultPathTests {
  @Test func `the vault is named default where none is given`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["HOME": "/home/u"])
      let vault = try VaultPath.resolve(nil)
      #expect(vault.path == "/home/u/.local/share/kura/default.kura")
      #expect(vault.name == "default")
    }
  }

  @Test func `what is given comes before the variable, which comes before the default`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["XDG_DATA_HOME": "/data", "KURA_VAULT": "work"])
      #expect(try VaultPath.resolve(nil).path == "/data/kura/work.kura")
      #expect(try VaultPath.resolve("home").path == "/data/kura/home.kura")
      #expect(try VaultPath.resolve("/v/x").path == "/v/x")
    }
  }

  @Test(arguments: [
    ("/a/b", "/a/b"), ("//a/./b/", "/a/b"), ("/a/../b", "/a/../b"), ("/", ""),
  ])
  func `a path is cleaned, links are left`(_ given: String, _ path: String) throws {
    #expect(try VaultPath(at: given).path == path)
  }

  @Test func `a relative path begins in the working directory`() throws {
    let here = FileManager.default.currentDirectoryPath
    #expect(try VaultPath.resolve("./a").path == here + "/a")
    #expect(try VaultPath.resolve("a.kura").path == here + "/a.kura")
    #expect(try VaultPath.resolve("a.kura").name == nil)
  }

  @Test func `a relative variable counts as unset, an empty one too`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["HOME": "/h", "XDG_DATA_HOME": "data", "KURA_VAULT": ""])
      #expect(try VaultPath.resolve(nil).path == "/h/.local/share/kura/default.kura")
      // As a service of the system's has it; the tests' user may be in no passwd.
      let home = getpwuid(getuid()).map { String(cString: $0.pointee.pw_dir) }
      let path = home.map { $0 + "/.local/share/kura/default.kura" }
      try setEnvironment(["HOME": "relative"])
      #expect((try? VaultPath.resolve(nil))?.path == path)
      try setEnvironment([:])
      #expect((try? VaultPath.resolve(nil))?.path == path)
    }
  }

  @Test func `a name that would be no file's name is refused`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["HOME": "/h"])
      for name in [".hidden", "a\nb", "a\u{7F}"] {
        #expect(throws: PathError.nameInvalid(name)) { try VaultPath.named(name) }
      }
    }
  }

  @Test func `what is empty or too long is refused`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["HOME": "/h"])
      #expect(throws: PathError.empty) { try VaultPath.resolve("") }
      let name = String(repeating: "n", count: 241)
      #expect(throws: PathError.tooLong(limit: 240)) { try VaultPath.named(name) }
      let path = String(repeating: "/n", count: 2_048)
      #expect(throws: PathError.tooLong(limit: 4_095)) { try VaultPath(at: path) }
    }
  }

  @Test func `the socket stands in the runtime directory, else under the state`() async {
    await #expect(processExitsWith: .success) {
      try setEnvironment(["XDG_RUNTIME_DIR": "/run/user/7", "HOME": "/h"])
      #expect(try AgentSocket.standard().path == "/run/user/7/kura/agent.sock")
      try setEnvironment(["HOME": "/h"])
      #expect(try AgentSocket.standard().path == "/h/.local/state/kura/run/agent.sock")
      try setEnvironment(["XDG_STATE_HOME": "/s"])
      #expect(try AgentSocket.standard().path == "/s/kura/run/agent.sock")
      #expect(try AgentSocket.all().map(\.directory) == ["/s/kura/run"])
      try setEnvironment(["XDG_RUNTIME_DIR": "/r", "XDG_STATE_HOME": "/s"])
      #expect(try AgentSocket.all().map(\.directory) == ["/r/kura", "/s/kura/run"])
    }
  }

  @Test func `whether something stands there`() throws {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      #expect(!vault.isThere)
      #expect(FileManager.default.createFile(atPath: vault.path, contents: nil))
      #expect(vault.isThere)
    }
  }
}
