// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraClient

@Suite struct VaultReplacementTests {
  private static let now: UInt64 = 1_800_000_000_000

  private func write(_ text: String, _ path: String) throws {
    try Data(text.utf8).write(to: URL(filePath: path))
  }

  private func read(_ path: String) -> String? {
    (try? Data(contentsOf: URL(filePath: path))).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `the old file is kept with its journal, the new one takes its place`() throws {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      let replacement = VaultReplacement(of: vault, at: Self.now)
      for (suffix, text) in [("", "old"), ("-wal", "log"), ("-shm", "index")] {
        try write(text, vault.path + suffix)
      }
      try write("new", replacement.new)
      try replacement.perform()
      #expect(read(vault.path) == "new")
      #expect(read(replacement.old) == "old")
      #expect(read(replacement.old + "-wal") == "log")
      // What SQLite makes anew of the journal is no part of it.
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 3)
    }
  }

  @Test func `a second name that one which was killed gave the old file goes, and no other`() throws
  {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      try write("old", vault.path)
      let twin = vault.path + ".old-20200101-000000"
      try FileManager.default.linkItem(atPath: vault.path, toPath: twin)
      try write("older", vault.path + ".old-20190101-000000")
      let replacement = VaultReplacement(of: vault, at: Self.now)
      try write("new", replacement.new)
      try replacement.perform()
      #expect(read(twin) == nil)
      #expect(read(vault.path + ".old-20190101-000000") == "older")
      #expect(read(replacement.old) == "old")
      #expect(read(vault.path) == "new")
    }
  }

  @Test func `what is left beside a name without a file is kept, and not played into the new one`()
    throws
  {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      try write("log", vault.path + "-wal")
      let replacement = VaultReplacement(of: vault, at: Self.now, isRestored: true)
      try write("new", replacement.new)
      try replacement.publish()
      #expect(read(vault.path) == "new")
      #expect(read(replacement.old + "-wal") == "log")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    }
  }

  @Test func `copies that restores left go with the next one, and drafts of resets stay`() throws {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      let replacement = VaultReplacement(of: vault, at: Self.now, isRestored: true)
      try write("half", vault.path + ".restore-20200101-000000")
      try write("log", vault.path + ".restore-20200101-000000-wal")
      for name in [".reset-20200101-000000", ".restore-mine"] { try write("x", vault.path + name) }
      try write("other", directory + "/other.kura.restore-20200101-000000")
      replacement.discardCopies()
      #expect(
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted() == [
          "other.kura.restore-20200101-000000", "v.kura.reset-20200101-000000",
          "v.kura.restore-mine",
        ])
    }
  }

  @Test func `without a new one all stays as it was`() throws {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      try write("old", vault.path)
      try write("log", vault.path + "-wal")
      let replacement = VaultReplacement(of: vault, at: Self.now)
      #expect(throws: FileError(errno: ENOENT)) { try replacement.perform() }
      #expect(read(vault.path) == "old")
      #expect(read(vault.path + "-wal") == "log")
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).count == 2)
    }
  }

  @Test(arguments: ["", "-wal"])
  func `nothing is overwritten`(_ suffix: String) throws {
    try withDirectory { directory in
      let vault = try VaultPath(at: directory + "/v.kura")
      let replacement = VaultReplacement(of: vault, at: Self.now)
      try write("old", vault.path)
      try write("log", vault.path + "-wal")
      try write("new", replacement.new)
      try write("precious", replacement.old + suffix)
      #expect(throws: FileError(errno: EEXIST)) { try replacement.perform() }
      #expect(read(vault.path) == "old")
      #expect(read(vault.path + "-wal") == "log")
      #expect(read(replacement.new) == "new")
      #expect(read(replacement.old + suffix) == "precious")
    }
  }

  @Test func `the old name tells when`() throws {
    let vault = try VaultPath(at: "/d/v.kura")
    let old = VaultReplacement(of: vault, at: Self.now).old
    #expect(old.wholeMatch(of: /\/d\/v\.kura\.old-2027\d{4}-\d{6}/) != nil)
    #expect(vault.fileName == "v.kura")
    #expect(vault.directory == "/d")
  }
}

@Suite struct VaultDirectoryTests {
  @Test func `a directory that is not there holds no vault`() throws {
    #expect(try VaultDirectory.vaults(in: "/nowhere/kura").isEmpty)
  }

  @Test func `what is no directory cannot be read`() {
    #expect(throws: FileError(errno: ENOTDIR)) { try VaultDirectory.vaults(in: "/dev/null") }
  }
}
