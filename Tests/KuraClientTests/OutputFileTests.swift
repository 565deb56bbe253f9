// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import Testing

@testable import KuraClient

struct OutputFileTests {
  private func content(_ path: String) -> String? {
    FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
  }

  private func names(in directory: String) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  @Test func `a file is there when it is whole, and its owner's alone`() throws {
    try withDirectory { directory in
      let path = directory + "/out"
      var file = try OutputFile.begin(at: path)
      try file.write("first ".utf8.span)
      #expect(try names(in: directory).filter { $0 == "out" } == [])
      try file.write("second".utf8.span)
      try file.commit()
      #expect(content(path) == "first second")
      #expect(try mode(path) == 0o600)
      #expect(try names(in: directory) == ["out"])
    }
  }

  @Test func `what stood there stays until the new one is whole`() throws {
    try withDirectory { directory in
      let path = directory + "/out"
      #expect(FileManager.default.createFile(atPath: path, contents: Data("old".utf8)))
      do {
        var file = try OutputFile.begin(at: path)
        try file.write("half".utf8.span)
        #expect(content(path) == "old")
      }
      #expect(content(path) == "old")
      #expect(try names(in: directory) == ["out"])
      var file = try OutputFile.begin(at: path)
      try file.write("new".utf8.span)
      try file.commit()
      #expect(content(path) == "new")
      #expect(try mode(path) == 0o600)
    }
  }

  @Test func `a link of one's own is followed`() throws {
    try withDirectory { directory in
      let path = directory + "/out"
      try FileManager.default.createSymbolicLink(
        atPath: directory + "/link", withDestinationPath: path)
      #expect(FileManager.default.createFile(atPath: path, contents: nil))
      let file = try OutputFile.begin(at: directory + "/link")
      try file.commit()
      #expect(try names(in: directory) == ["link", "out"])
      #expect(try mode(path) == 0o600)
    }
  }

  @Test(.enabled(if: getuid() == 0, "giving a link away takes root"))
  func `a link of somebody else is not followed`() throws {
    try withDirectory { directory in
      let link = directory + "/link"
      symlink(directory + "/out", link)
      lchown(link, 65_534, 65_534)
      #expect(throws: FileError(errno: EACCES)) { _ = try OutputFile.begin(at: link) }
    }
  }

  @Test func `a pipe is written to as it is`() throws {
    try withDirectory { directory in
      let path = directory + "/pipe"
      mkfifo(path, 0o600)
      let reader = open(path, O_RDONLY | O_NONBLOCK)
      var file = try OutputFile.begin(at: path)
      try file.write("through".utf8.span)
      try file.commit()
      let read = try Descriptor.readAll(reader, limit: 100)
      #expect(array(read.bytes) == Array("through".utf8))
      close(reader)
      #expect(try names(in: directory) == ["pipe"])
    }
  }

  @Test func `a directory, a missing one, and a device that takes nothing`() throws {
    try withDirectory { directory in
      #expect(throws: FileError(errno: EISDIR)) { _ = try OutputFile.begin(at: directory) }
      #expect(throws: FileError(errno: EISDIR)) { _ = try OutputFile.begin(at: directory + "/x/") }
      #expect(throws: FileError(errno: ENOENT)) {
        _ = try OutputFile.begin(at: directory + "/none/out")
      }
      var full = try OutputFile.begin(at: "/dev/full")
      #expect(throws: FileError(errno: ENOSPC)) { try full.write("x".utf8.span) }
    }
  }
}

struct DescriptorTests {
  @Test(arguments: [0, 1, 4_096, 4_097, 50_000])
  func `all is read, up to a limit`(_ size: Int) throws {
    let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
    let all = try Descriptor.readAll(pipe(of: bytes), limit: size)
    #expect(array(all.bytes) == bytes)
    if size > 0 {
      #expect(throws: FileError(errno: EFBIG)) {
        _ = try Descriptor.readAll(pipe(of: bytes), limit: size - 1)
      }
    }
  }

  @Test func `a descriptor that does not block is waited for`() throws {
    let end = pipe(of: Array("late".utf8))
    _ = fcntl(end, F_SETFL, O_NONBLOCK)
    let all = try Descriptor.readAll(end, limit: 10)
    #expect(array(all.bytes) == Array("late".utf8))
  }

  @Test func `a file that is not there`() {
    #expect(throws: FileError(errno: ENOENT)) { _ = try Descriptor.open(path: "/none/x") }
    #expect(SystemMessage.text(ENOENT) == "No such file or directory")
    #expect(!SystemMessage.text(99_999).isEmpty)
  }

  @Test func `times are told by a format`() {
    #expect(Clock.local(0, "%Y").count == 4)
    #expect(Clock.local(0, "") == "")
    #expect(Clock.unix() > 1_700_000_000_000)
    #expect(Clock.boot() > 0)
  }
}
