// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestGround
import Testing

@testable import KuraCLI

/// A folder with files that hold passcodes.
private struct Folder: ~Copyable {
  let path: String

  init() throws {
    path = try Ground.onDisk.directory("asking")
  }

  func file(_ name: String, _ content: String) throws -> String {
    let file = path + "/" + name
    try Data(content.utf8).write(to: URL(filePath: file))
    return file
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

private func asking(
  _ options: [(OptionName, String)] = [], _ variables: [String: String] = [:]
) -> Asking {
  var arguments = Arguments()
  arguments.options = options.map { .init(name: $0.0, value: Array($0.1.utf8)) }
  return Asking(arguments, Variables { variables[$0] })
}

private func text(_ secret: consuming SecretBytes?) -> String? {
  guard let secret = secret.take() else { return nil }
  return secret.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
}

@Suite struct AskingTests {
  @Test(arguments: [
    ("open", "open"), ("open\n", "open"), ("open\n\n", "open\n"), ("\n", ""), ("", ""),
  ])
  func `one newline at the end of a file is dropped`(_ row: (String, String)) throws {
    let folder = try Folder()
    let file = try folder.file("passcode", row.0)
    #expect(text(try asking([(.passcodeFile, file)]).givenPasscode()) == row.1)
  }

  @Test func `an option goes before the variable, and that before the credential`() throws {
    let folder = try Folder()
    let option = try folder.file("option", "option")
    let variables = [
      "KURA_PASSCODE_FILE": try folder.file("variable", "variable"),
      "CREDENTIALS_DIRECTORY": folder.path,
    ]
    _ = try folder.file("kura-passcode", "credential")
    #expect(text(try asking([(.passcodeFile, option)], variables).givenPasscode()) == "option")
    #expect(text(try asking([], variables).givenPasscode()) == "variable")
    let credential = ["CREDENTIALS_DIRECTORY": folder.path]
    #expect(text(try asking([], credential).givenPasscode()) == "credential")
  }

  @Test func `a folder of credentials without one is passed over`() throws {
    let folder = try Folder()
    let secret = try asking([], ["CREDENTIALS_DIRECTORY": folder.path]).givenPasscode()
    #expect(text(secret) == nil)
  }

  @Test func `a file that is not there is an error with its name`() throws {
    for asking in [
      asking([(.passcodeFile, "/nowhere/passcode")]),
      asking([], ["KURA_PASSCODE_FILE": "/nowhere/passcode"]),
    ] {
      #expect(throws: CommandError.file(.read, path: "/nowhere/passcode", errno: 2)) {
        _ = try asking.givenPasscode()
      }
    }
  }

  @Test func `a file without an end is not read for ever`() {
    #expect(throws: CommandError.file(.read, path: "/dev/zero", errno: 27)) {
      _ = try asking([(.passcodeFile, "/dev/zero")]).givenPasscode()
    }
  }

  @Test func `two sources contradict each other`() {
    #expect(throws: CommandError.usage(.conflict(.passcodeFD, .passcodeFile))) {
      _ = try asking([(.passcodeFile, "f"), (.passcodeFD, "3")]).givenPasscode()
    }
    #expect(throws: CommandError.usage(.conflict(.recoveryKeyFile, .passcodeFile))) {
      _ = try asking([(.passcodeFile, "f"), (.recoveryKeyFile, "k")]).givenCredential()
    }
  }

  @Test func `the passcode in a variable is not looked at`() throws {
    #expect(text(try asking([], ["KURA_PASSCODE": "open sesame"]).givenPasscode()) == nil)
  }

  @Test func `nobody is asked with --no-input, nor by a kura that was started to ask`() throws {
    let program = ["KURA_ASKPASS": "/bin/true"]
    let silent = try asking([(.noInput, "")], program).questioner().canAsk
    let marked = program.merging(["KURA_ASKED": "1"]) { $1 }
    let inner = try asking([], marked).questioner().canAsk
    #expect(!silent && !inner)
  }

  @Test func `a program that asks may be named, but not kura itself`() {
    for (variables, isAsked) in [
      (["KURA_ASKPASS": "/usr/bin/ask"], true), (["SSH_ASKPASS": "/usr/bin/ssh-askpass"], true),
      (["SSH_ASKPASS": "/usr/bin/kura"], false), (["SSH_ASKPASS": "kura-askpass"], false),
      ([:], false),
    ] as [([String: String], Bool)] {
      let found = AskingProgram.find(Variables { variables[$0] })
      #expect((found != nil) == isAsked, "\(variables)")
    }
  }
}
