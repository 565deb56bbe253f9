// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestGround
import Testing

@testable import KuraCLI

@Suite struct EditorTests {
  @Test(arguments: [
    ("vim", Editor.Kind.vim), ("vim.basic", .vim), ("vim.tiny", .vim), ("nvim", .nvim),
    ("nano", .nano), ("emacs", .emacs), ("emacs-nox", .emacs), ("emacs-gtk", .emacs),
    ("emacsclient", .other), ("emacsclient.emacs", .other), ("ed", .other), ("busybox", .other),
    ("code", .other), ("", .other),
  ])
  func `an editor is known by the file that it really is`(_ name: String, _ kind: Editor.Kind) {
    #expect(Editor.Kind(Array(name.utf8)) == kind)
  }

  @Test func `VISUAL goes before EDITOR, and an empty one counts as not set`() throws {
    let folder = try Folder(["one", "other"])
    #expect(try folder.choose(["VISUAL": "one", "EDITOR": "other"]).name == "one")
    #expect(try folder.choose(["VISUAL": "", "EDITOR": "other"]).name == "other")
  }

  @Test func `a command of several words keeps them`() throws {
    let folder = try Folder(["code"])
    let editor = try folder.choose(["EDITOR": " code  --wait\t-n "])
    #expect(editor.words == ["code", "--wait", "-n"])
    #expect(editor.path == folder.path + "/code")
  }

  @Test(arguments: ["'my editor'", "one \"two\"", "x=1 one", "one; two", "~/one", "one \\ two"])
  func `what a shell understands is left to the shell`(_ command: String) throws {
    let editor = try Folder([]).choose(["EDITOR": command])
    #expect(editor.path == "/bin/sh")
    #expect(editor.words == ["sh", "-c", command + " \"$@\"", "sh"])
    #expect(editor.kind == .other)
  }

  @Test func `a link is known by where it leads`() throws {
    let folder = try Folder(["vim.basic"])
    try FileManager.default.createSymbolicLink(
      atPath: folder.path + "/vi", withDestinationPath: "vim.basic")
    #expect(try folder.choose(["EDITOR": "vi"]).kind == .vim)
  }

  @Test func `without a variable the first usual one is taken`() throws {
    let folder = try Folder(["vi", "nano"])
    #expect(try folder.choose([:]).name == "nano")
    let refusal = #expect(throws: CommandError.self) { try Folder(["ed"]).choose([:]) }
    #expect(refusal.map(Diagnostic.init)?.message == "no editor is set, and none was found")
  }

  @Test func `one that is not there, or cannot be run, is missing`() throws {
    let folder = try Folder([])
    try Data().write(to: URL(filePath: folder.path + "/plain"))
    for name in ["plain", "gone", folder.path, folder.path + "/plain"] {
      let refusal = #expect(throws: CommandError.self) { try folder.choose(["EDITOR": name]) }
      #expect(refusal.map(Diagnostic.init)?.message == "there is no such editor: " + name)
    }
  }

  @Test func `no option of an editor's names a file of ours`() throws {
    let folder = try Folder(["vim", "nvim", "nano", "emacs", "ed"])
    let options = try ["vim", "nvim", "nano", "emacs", "ed"].map {
      try folder.choose(["EDITOR": $0]).options
    }
    #expect(options[0].contains("-n") && options[1].contains("-n"))
    #expect(options[2] == ["-R"])
    #expect(options[3].first == "--eval")
    #expect(options[4].isEmpty)
  }

  /// A directory with programs that do nothing.
  private struct Folder: ~Copyable {
    let path: String

    init(_ names: [String]) throws {
      path = try Ground.onDisk.directory("editor")
      for name in names {
        let file = path + "/" + name
        _ = FileManager.default.createFile(
          atPath: file, contents: nil, attributes: [.posixPermissions: 0o755])
      }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func choose(_ variables: [String: String]) throws -> Editor {
      let all = variables.merging(["PATH": path]) { one, _ in one }
      return try Editor.choose(Variables { all[$0] })
    }
  }
}

@Suite struct EditedTextTests {
  @Test(arguments: [
    ("one", "two\n", "two"), ("one", "two\n\n", "two\n"), ("one", "two", "two"),
    ("one\n", "two\n", "two\n"), ("one\n", "two", "two"), ("one\n", "", ""),
    ("", "new\n", "new"), ("", "\n", ""), ("", "", ""), ("\n", "\n", "\n"),
  ])
  func `a newline at the end is dropped where there was none`(
    _ original: String, _ text: String, _ expected: String
  ) throws {
    let original = try Self.buffer(original)
    var text = try Self.buffer(text)
    EditedText.settle(&text, after: original)
    let settled = try Self.buffer(expected)
    let isSame = EditedText.isSame(text.bytes, settled.bytes)
    #expect(isSame)
  }

  @Test func `texts are the same by their bytes`() throws {
    let (one, same, other) = ([1, 2, 3], [1, 2, 3], [1, 2, 4]) as ([UInt8], [UInt8], [UInt8])
    let answers = [
      EditedText.isSame(one.span, same.span), EditedText.isSame(one.span, other.span),
      EditedText.isSame(one.span, one.span.extracting(first: 2)),
    ]
    #expect(answers == [true, false, false])
  }

  private static func buffer(_ text: String) throws -> SecretBuffer {
    var buffer = try SecretBuffer(capacity: 16)
    let bytes = Array(text.utf8)
    try buffer.append(bytes.span)
    return buffer
  }
}
