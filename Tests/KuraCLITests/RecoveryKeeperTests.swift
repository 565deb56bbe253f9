// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestGround
import Testing

@testable import KuraCLI

@Suite struct RecoveryKeeperTests {
  private static let key = "DHF9-55CA-558M-ZC1F-FZ1A-NG0P-2688-7JQK-90E1"

  private func isLastGroup(_ typed: String) throws -> Bool {
    let answer = try SecretBytes(copying: Array(typed.utf8).span)
    return RecoveryKeeper.isLastGroup(answer, of: Array(Self.key.utf8).span)
  }

  @Test(arguments: ["90E1", "90e1", "9oEl", " 90 E1 ", "-90E1", "9OeI"])
  func `the last group is read as recovery keys are`(_ typed: String) throws {
    #expect(try isLastGroup(typed))
  }

  @Test(arguments: ["", "-", "7JQK", "90E", "90E11", "90E2", "DHF9", "7JQK-90E1"])
  func `anything else is not it`(_ typed: String) throws {
    #expect(try !isLastGroup(typed))
  }

  @Test func `a file that is there is not overwritten, nor begun`() throws {
    let path = Ground.onDisk.path("keeper")
    try Data("precious".utf8).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    let nobody = Questioner(nil)
    #expect(throws: CommandError.exists(.file, path)) {
      _ = try RecoveryKeeper(.file(path), nobody)
    }
    #expect(try String(contentsOfFile: path, encoding: .utf8) == "precious")
  }

  @Test func `without a terminal the key can be shown to nobody`() {
    let nobody = Questioner(AskingProgram(path: "/bin/true", kind: .askpass))
    #expect(throws: CommandError.noInteraction(.recoveryKeyShown)) {
      _ = try RecoveryKeeper(.terminal, nobody)
    }
  }

  @Test func `a key is kept in a file of the user's alone, with a newline`() throws {
    let path = Ground.onDisk.path("keeper")
    defer { try? FileManager.default.removeItem(atPath: path) }
    var nobody = Questioner(nil)
    var keeper = try RecoveryKeeper(.file(path), nobody)
    var failure: CommandError?
    let isKept = keeper.keep(Array(Self.key.utf8).span, &nobody, &failure)
    #expect(isKept && failure == nil)
    #expect(try String(contentsOfFile: path, encoding: .utf8) == Self.key + "\n")
    let attributes = try FileManager.default.attributesOfItem(atPath: path)
    #expect((attributes[.posixPermissions] as? Int) == 0o600)
  }
}
