// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestGround
import Testing

@testable import KuraCLI

/// A pinentry that answers with what a test wants.
private struct FakePinentry: ~Copyable {
  let path = Ground.onDisk.path("pinentry")

  /// - Parameter answer: What the shell prints for GETPIN.
  init(_ answer: String) throws {
    let script = """
      #!/bin/sh
      echo OK ready
      while read -r line; do
        case $line in
        GETPIN) \(answer) ;;
        BYE) echo OK; exit ;;
        SETERROR* | *untold*) echo "ERR 536871187 Unknown IPC command <User defined source 1>" ;;
        *) echo '# a remark'; echo 'S PROGRESS x'; echo OK ;;
        esac
      done
      """
    try Script.write(script, to: path)
  }

  func ask(
    _ complaint: String = "", remark: String? = nil, other: Int32 = -1,
    stands: () -> Bool = { false }
  ) throws -> String {
    let surface = AskingProgram.Surface(terminal: nil, terminalType: "vt100", locale: "C.UTF-8")
    let program = AskingProgram(path: path, kind: .pinentry(surface))
    var pinentry = try Pinentry.start(program, on: surface)
    let secret = try pinentry.ask(
      "passcode for x: ", remark: remark, complaint: complaint, other: other, stands: stands)
    pinentry.end()
    return secret.bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

@Suite struct PinentryTests {
  @Test func `what was typed arrives, and remarks are passed over`() throws {
    let pinentry = try FakePinentry("echo 'D open sesame'; echo OK")
    #expect(try pinentry.ask() == "open sesame")
  }

  @Test func `an order that is not known is no reason not to ask`() throws {
    let pinentry = try FakePinentry("echo 'D open'; echo OK")
    #expect(try pinentry.ask("Wrong passcode, try again.") == "open")
  }

  @Test func `nobody is asked what is not shown`() throws {
    let pinentry = try FakePinentry("echo 'D open'; echo OK")
    let path = pinentry.path
    #expect(try pinentry.ask(remark: String(repeating: "n", count: 900)) == "open")
    for remark in ["untold", String(repeating: "n", count: 1_000)] {
      #expect(throws: CommandError.program(.unshown, path)) {
        _ = try pinentry.ask(remark: remark)
      }
    }
  }

  @Test func `news of what it asks end it, and other news do not`() throws {
    let path = Ground.onDisk.path("answer")
    try #require(mkfifo(path, 0o600) == 0)
    defer { unlink(path) }
    let answer = open(path, O_RDWR | O_CLOEXEC)
    defer { close(answer) }
    let pinentry = try FakePinentry("read -r word < \(path); echo \"D $word\"; echo OK")
    var ends: [Int32] = [0, 0]
    try #require(pipe(&ends) == 0)
    defer { for end in ends { close(end) } }
    #expect(write(ends[1], "n", 1) == 1)
    #expect(throws: CommandError.prompt(.answeredElsewhere)) {
      _ = try pinentry.ask(other: ends[0])
    }
    let word = try pinentry.ask(other: ends[0]) {
      var byte: UInt8 = 0
      return read(ends[0], &byte, 1) == 1 && write(answer, "open\n", 5) == 5
    }
    #expect(word == "open")
  }

  @Test func `lines of data are put together, and their escapes undone`() throws {
    let pinentry = try FakePinentry("echo 'D 100%25'; echo 'D %0a%0D%C3%A9%'; echo OK")
    #expect(try pinentry.ask() == "100%\n\r\u{E9}%")
  }

  @Test func `nothing typed is an empty answer`() throws {
    let pinentry = try FakePinentry("echo OK")
    #expect(try pinentry.ask() == "")
  }

  @Test(arguments: ["83886179 Operation cancelled <Pinentry>", "83886278 fully", "99"])
  func `a cancel is one by any source`(_ error: String) throws {
    let pinentry = try FakePinentry("echo 'ERR \(error)'")
    #expect(throws: CommandError.prompt(.cancelled)) { _ = try pinentry.ask() }
  }

  @Test func `another error is told in its own words`() throws {
    let pinentry = try FakePinentry("echo 'ERR 83918950 Inappropriate ioctl <Pinentry>'")
    let path = pinentry.path
    #expect(throws: CommandError.program(.said("Inappropriate ioctl <Pinentry>"), path)) {
      _ = try pinentry.ask()
    }
  }

  @Test(arguments: ["echo hello", "echo INQUIRE X", "head -c 9000 /dev/zero | tr '\\0' x"])
  func `what does not speak as a pinentry does is told so`(_ answer: String) throws {
    let pinentry = try FakePinentry(answer)
    let path = pinentry.path
    #expect(throws: CommandError.program(.notUnderstood, path)) { _ = try pinentry.ask() }
  }

  @Test func `one that ends, or is not there, is told by that`() throws {
    let pinentry = try FakePinentry("exit 0")
    let path = pinentry.path
    #expect(throws: CommandError.program(.ended, path)) { _ = try pinentry.ask() }
    try FileManager.default.removeItem(atPath: path)
    #expect(throws: CommandError.program(.notStarted, path)) { _ = try pinentry.ask() }
  }

  @Test func `a text keeps to its line`() {
    let encoded = Pinentry.encoded("a%b\nc\u{E9}\u{7F}")
    #expect(String(decoding: encoded, as: UTF8.self) == "a%25b%0Ac\u{E9}%7F")
  }

  @Test func `a question becomes a text and a label`() {
    #expect(Pinentry.description("passcode for default: ") == "passcode for default")
    #expect(Pinentry.prompt("passcode for default: ") == "Passcode:")
    #expect(Pinentry.prompt("recovery key of /v: ") == "Recovery key:")
    #expect(Pinentry.prompt("again: ") == "Again:")
  }
}

// MARK: - Which program

extension PinentryTests {
  private static func found(_ variables: [String: String]) -> AskingProgram? {
    AskingProgram.find(Variables { variables[$0] })
  }

  @Test func `a pinentry needs a place to show itself`() throws {
    let pinentry = try FakePinentry("echo OK")
    let path = pinentry.path
    #expect(Self.found(["KURA_PINENTRY": path]) == nil)
    #expect(Self.found(["KURA_PINENTRY": path, "GPG_TTY": "/dev/null"]) == nil)
    #expect(Self.found(["KURA_PINENTRY": path, "GPG_TTY": "not a tty"]) == nil)
    #expect(Self.found(["KURA_PINENTRY": path, "DISPLAY": ":0"])?.path == path)
    #expect(Self.found(["KURA_PINENTRY": path, "WAYLAND_DISPLAY": "w"])?.path == path)
  }

  @Test func `one for terminals makes nothing of a display`() throws {
    let pinentry = try FakePinentry("echo OK")
    let link = pinentry.path + "-curses"
    try FileManager.default.copyItem(atPath: pinentry.path, toPath: link)
    defer { try? FileManager.default.removeItem(atPath: link) }
    #expect(Self.found(["KURA_PINENTRY": link, "DISPLAY": ":0"]) == nil)
  }

  @Test func `a name is looked up in PATH, and askpass goes before`() throws {
    let pinentry = try FakePinentry("echo OK")
    let directory = Ground.onDisk.root + "/"
    let name = String(pinentry.path.dropFirst(directory.count))
    var variables = ["PATH": "/nowhere:" + directory, "DISPLAY": ":0", "KURA_PINENTRY": name]
    #expect(Self.found(variables)?.name == name)
    variables["SSH_ASKPASS"] = "/usr/bin/kura-askpass"
    #expect(Self.found(variables)?.name == name)
    variables["SSH_ASKPASS"] = "/usr/bin/ssh-askpass"
    #expect(Self.found(variables) == AskingProgram(path: "/usr/bin/ssh-askpass", kind: .askpass))
    variables["KURA_ASKPASS"] = "/ask"
    #expect(Self.found(variables)?.path == "/ask")
    #expect(Self.found(["PATH": directory, "DISPLAY": ":0"]) == nil)
  }

  @Test func `a terminal and a program are waited for in different words`() {
    #expect(Questioner.words("pts/3").at == "on pts/3")
    #expect(Questioner.words("tty1").at == "on tty1")
    #expect(Questioner.words("pinentry-curses").at == "of pinentry-curses")
    #expect(Questioner.words("\u{1B}[2J").at == "of \\x1B[2J")
  }
}
