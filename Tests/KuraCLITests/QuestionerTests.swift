// SPDX-License-Identifier: MIT

import CKuraSystem
import Foundation
import KuraProtocol
import SecureMemory
import Testing

@testable import KuraCLI

/// A terminal of the test's own, and what stands at its other end. One process has one prompt: in an exit test only.
private struct Screen: ~Copyable {
  let master: Int32
  let slave: Int32

  init() throws {
    var (master, slave) = (Int32(-1), Int32(-1))
    try #require(openpty(&master, &slave, nil, nil, nil) == 0)
    (self.master, self.slave) = (master, slave)
  }

  /// A prompt that shows nothing of what is typed already.
  func prompt() throws -> Prompt {
    var prompt = Prompt(
      descriptor: slave, typed: try SecretBuffer(capacity: 64),
      drawing: try SecretBuffer(capacity: 256), Variables { _ in nil })
    _ = try prompt.begin()
    return prompt
  }

  /// Types, and waits until the keys can be read.
  func type(_ keys: String) {
    let bytes = Array(keys.utf8)
    _ = bytes.withUnsafeBytes { write(master, $0.baseAddress!, $0.count) }
    _ = kura_terminal_await(slave, -1)
  }

  /// The first of what was shown since: one read gives what has come through by then.
  func shown(_ most: Int) -> String {
    var shown: [UInt8] = []
    while shown.count < most {
      var bytes = [UInt8](repeating: 0, count: most - shown.count)
      let count = bytes.withUnsafeMutableBytes { read(master, $0.baseAddress!, $0.count) }
      guard count > 0 else { break }
      shown += bytes.prefix(count)
    }
    return String(decoding: shown, as: UTF8.self)
  }
}

@Suite struct QuestionerTests {
  @Test func `what is typed for a question that is gone is dropped, and a no is heard`() async {
    await #expect(processExitsWith: .success) {
      let screen = try Screen()
      var questioner = Questioner(try screen.prompt())
      for (keys, isNo) in [("attery staple\r", false), ("a\u{4}b", true)] {
        screen.type(keys)
        #expect(try questioner.dropTyped() == isNo)
        #expect(!kura_terminal_await(screen.slave, 0))
      }
      screen.type("a\u{4}\u{3}")
      #expect(throws: CommandError.prompt(.interrupted)) { _ = try questioner.dropTyped() }
    }
  }

  @Test func `who gives up while he waits has seen what he is asked`() async {
    await #expect(processExitsWith: .success) {
      let screen = try Screen()
      var questioner = Questioner(try screen.prompt())
      var question = Question(label: "passcode: ", openLabel: "passcode: ", kind: .passcode)
      (question.remark, question.wait) = ("a program asks", 60_000)
      screen.type("\u{4}")
      #expect(throws: CommandError.prompt(.cancelled)) {
        try questioner.attempts(question) { _, _ in }
      }
      let wanted = "a program asks\r\nToo many wrong passcodes"
      #expect(screen.shown(wanted.utf8.count) == wanted)
    }
  }

  @Test func `Enter alone leads from the passcode to the code of the TPM and back`() async {
    await #expect(processExitsWith: .success) {
      let first: [(String, String)] = [("word: ", "\r"), ("chip: ", "\r")]
      for (answers, wait, kind) in [
        ([("word: ", "typed\r")], 0, .passcode), ([first[0], ("chip: ", "typed\r")], 0, .tpm),
        (first + [("word: ", "typed\r")], 0, .passcode),
        ([("chip: ", "typed\r")], 60_000, .tpm),
      ] as [([(String, String)], UInt64, Credential)] {
        let screen = try Screen()
        var questioner = Questioner(try screen.prompt())
        var question = Question(label: "word: ", openLabel: "word: ", kind: .passcode)
        question.wait = wait
        question.swaps = [Question.Swap(label: "chip: ", kind: .tpm)]
        let master = screen.master
        Thread.detachNewThread {
          for (label, keys) in answers {
            var seen = ""
            while !seen.contains(label) {
              var byte: UInt8 = 0
              guard read(master, &byte, 1) == 1 else { return }
              seen.append(Character(UnicodeScalar(byte)))
            }
            _ = Array(keys.utf8).withUnsafeBytes { write(master, $0.baseAddress!, $0.count) }
          }
        }
        var tried: Credential?
        try questioner.attempts(question) { asked, secret in
          tried = asked
          #expect(secret.count == 5)
        }
        #expect(tried == kind)
      }
    }
  }

  @Test func `a window is a place of one's own, and a terminal that is named is not`() {
    func isOwn(_ kind: AskingProgram.Kind?) -> Bool {
      let questioner = Questioner(kind.map { AskingProgram(path: "/p", kind: $0) })
      return questioner.isAtOwnPlace
    }
    func pinentry(_ terminal: String?) -> AskingProgram.Kind {
      .pinentry(.init(terminal: terminal, terminalType: "xterm", locale: nil))
    }
    #expect(isOwn(pinentry(nil)) && !isOwn(pinentry("/dev/pts/1")))
    #expect(!isOwn(.askpass) && !isOwn(nil))
  }
}
