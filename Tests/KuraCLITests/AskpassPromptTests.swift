// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

private func prompt(
  _ text: String, hint: String? = nil, caller: String = ""
) -> AskpassPrompt {
  AskpassPrompt(
    Array(text.utf8),
    .init(hint: hint, caller: Array(caller.utf8), directory: Array("/work".utf8)))
}

private func place(_ host: String, user: String? = nil, path: String? = nil) -> GitPlace {
  GitPlace(
    scheme: Array("https".utf8), host: Array(host.utf8), path: path.map { Array($0.utf8) },
    user: user.map { Array($0.utf8) })
}

@Suite struct AskpassPromptTests {
  @Test(arguments: [
    ("Enter passphrase for /home/ada/.ssh/id: ", "ssh/home/ada/.ssh/id"),
    ("Enter passphrase for id: ", "ssh/work/id"),
    ("Enter passphrase for /k (will confirm each use): ", "ssh/k"),
    ("Enter passphrase for key '/home/ada/.ssh/id': ", "ssh/home/ada/.ssh/id"),
    ("ada@host.example's password: ", "ssh-login/ada@host.example"),
    ("(ada@host.example) Password: ", "ssh-login/ada@host.example"),
  ])
  func `ssh's words for what an item can hold name it`(_ text: String, _ name: String) {
    #expect(prompt(text) == .item(name))
  }

  @Test func `sudo's words count where sudo says them`() {
    #expect(prompt("[sudo] password for ada: ", caller: "sudo") == .item("sudo/ada"))
    #expect(prompt("[sudo] password for ada: ", caller: "ssh") == .person(isVisible: false))
  }

  @Test(arguments: [
    "Bad passphrase, try again for /k: ", "Enter PIN for ED25519-SK key /k: ", "Password: ",
    "(ada@host) Enter passphrase for key '/k': ", "Enter passphrase for key '/k': \nmore",
    "Enter passphrase for /k", "Enter passphrase for key '/a/../k': ", "",
    "Enter passphrase for key '/\n': ", "Enter passphrase (empty for no passphrase): ",
    "'s password: ", "@host's password: ", "ada@'s password: ", "ada's password: ",
    "(ada@host) ada@other) Password: ", "(ada@host) Password:", "(ada) Password: ",
    "(ada@host) One-time code: ", "x(ada@host) Password: ", "Enter passphrase for (stdin): ",
    "Give ada@host's password: ", "Password for 'h.example': ", "Password for 'https://': ",
    "Password for 'https://h.example/x@evil': ", "Password for 'https://h.example%2Fx@evil': ",
    "Password for 'https://a%40b@h.example': ", "Password for 'https://h.example':",
    " Password for 'https://h.example': ",
  ])
  func `everything else is a person's to answer, unseen`(_ text: String) {
    #expect(prompt(text) == .person(isVisible: false))
  }

  @Test func `a path that may be cut short is a person's to answer`() {
    let path = "/" + String(repeating: "a", count: 99)
    #expect(prompt("Enter passphrase for key '\(path)': ") == .person(isVisible: false))
    #expect(
      prompt("Enter passphrase for key '\(path.dropLast())': ") == .item("ssh\(path.dropLast())"))
  }

  @Test func `git's words are its helper's request`() {
    #expect(
      prompt("Username for 'https://h.example:8': ") == .git(place("h.example:8"), wantsUser: true))
    #expect(
      prompt("Password for 'https://ada@h.example': ")
        == .git(place("h.example", user: "ada"), wantsUser: false))
    #expect(
      prompt("Password for 'https://a@b@h.example/x/y.git': ")
        == .git(place("h.example", user: "a@b", path: "x/y.git"), wantsUser: false))
  }

  @Test func `a yes is asked for where the program says so, and nothing is looked up`() {
    #expect(prompt("Enter passphrase for /k: ", hint: "confirm") == .confirm)
    #expect(prompt("Enter passphrase for /k: ", hint: "none") == .notice)
    #expect(
      prompt("Are you sure you want to continue connecting (yes/no/[fingerprint])? ")
        == .person(isVisible: true))
  }
}
