// SPDX-License-Identifier: MIT

import Foundation
import Testing

@testable import KuraStorage

@Suite struct `A place` {
  @Test func `has its directory resolved`() throws {
    let file = try TestFile()
    chmod(file.path, 0o600)
    let link = file.directory + "/link"
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: file.directory)
    let place = try FilePlace.resolve(link + "/test.kura")
    #expect(place.path == file.path)
    #expect(place.sibling("other").path == file.directory + "/other")
    #expect(try place.checkFile() == place.identity())
  }

  @Test(arguments: ["relative/path", "/", "/tmp/", "/tmp/..", "/nowhere at all/x", "/tmp/\0/x"])
  func `that cannot be is missing`(path: String) {
    #expect(throws: StorageError.missing) { _ = try FilePlace.resolve(path) }
  }

  @Test func `is made with its directories for this user alone`() throws {
    let file = try TestFile(creating: false)
    let place = try FilePlace.resolve(
      file.directory + "/a/b/c/vault", makingDirectory: true)
    try place.checkDirectory()
    try place.createFile()
    try place.checkFile()
    #expect(throws: StorageError.exists) { try place.createFile() }
  }

  @Test func `open to others is told`() throws {
    let file = try TestFile()
    let place = try FilePlace.resolve(file.path)
    chmod(file.path, 0o604)
    #expect(throws: StorageError.exposedFile(.mode(0o604))) { try place.checkFile() }
    // Others may enter the directory, but not change what stands in it, though each may keep what is his.
    chmod(file.directory, 0o755)
    try place.checkDirectory()
    for mode in [0o720, 0o702, 0o1777] as [mode_t] {
      chmod(file.directory, mode)
      #expect(throws: StorageError.exposedDirectory(.mode(UInt16(mode)))) {
        try place.checkDirectory()
      }
    }
    let directory = try FilePlace.resolve(file.directory)
    #expect(throws: StorageError.exposedFile(.kind)) { try directory.checkFile() }
  }

  @Test(.enabled(if: geteuid() == 0, "root gives files away"))
  func `of another user is told`() throws {
    let file = try TestFile()
    let place = try FilePlace.resolve(file.path)
    #expect(chown(file.path, 65534, 65534) == 0)
    #expect(throws: StorageError.exposedFile(.owner)) { try place.checkFile() }
    #expect(chown(file.directory, 65534, 65534) == 0)
    #expect(throws: StorageError.exposedDirectory(.owner)) { try place.checkDirectory() }
  }

  @Test func `is published once`() throws {
    let file = try TestFile()
    let draft = try FilePlace.resolve(file.directory + "/draft")
    try draft.createFile()
    let target = draft.sibling("target")
    let identity = try draft.identity()
    try target.publish(draft)
    #expect(try target.identity() == identity)
    #expect(throws: StorageError.missing) { try draft.identity() }
    try draft.createFile()
    #expect(throws: StorageError.exists) { try target.publish(draft) }
    #expect(try target.identity() == identity)
    draft.remove()
    #expect(file.files == ["target", "test.kura"])
  }

  @Test func `knows a journal without its file`() throws {
    let file = try TestFile(creating: false)
    let place = try FilePlace.resolve(file.path)
    #expect(!place.hasWAL)
    try Data().write(to: URL(filePath: file.path + "-journal"))
    #expect(place.hasWAL)
  }
}

@Suite struct `A state file` {
  @Test func `is held by one alone, or shared by several`() throws {
    let file = try TestFile(creating: false)
    let place = try FilePlace.resolve(file.directory + "/state")
    #expect(throws: StorageError.missing) { try open(place, .shared, creating: false) }
    do {
      let first = try StateFile.open(place, lock: .shared, creating: true)
      try open(place, .shared)
      #expect(throws: StorageError.busy) { try open(place, .exclusive) }
      _ = consume first
    }
    try open(place, .exclusive)
    let holder = try StateFile.open(place, lock: .exclusive, creating: true)
    #expect(throws: StorageError.busy) { try open(place, .shared) }
    _ = consume holder
  }

  @Test func `is free when its holder is done, though a child being started has it open`() throws {
    let file = try TestFile(creating: false)
    let place = try FilePlace.resolve(file.directory + "/state")
    let holder = try StateFile.open(place, lock: .exclusive, creating: true)
    // As a child has it that was started meanwhile: the same open file.
    let inherited = dup(try #require(try descriptor(of: place)))
    defer { close(inherited) }
    #expect(inherited >= 0)
    #expect(throws: StorageError.busy) { try open(place, .shared) }
    _ = consume holder
    try open(place, .exclusive)
  }

  @Test func `is written in place and grows to its length`() throws {
    let file = try TestFile(creating: false)
    let place = try FilePlace.resolve(file.directory + "/state")
    let state = try StateFile.open(place, lock: .exclusive, creating: true)
    #expect(try state.read(1_024) == [])
    try state.write(bytes(7, 512).span, at: 512, length: 1_024)
    #expect(try state.read(1_024) == bytes(0, 512) + bytes(7, 512))
    try state.write(bytes(8, 512).span, at: 0, length: 1_024)
    #expect(try state.read(2_000) == bytes(8, 512) + bytes(7, 512))
    #expect(try state.read(4) == bytes(8, 4))
    let mode = try FileManager.default.attributesOfItem(atPath: place.path)[.posixPermissions]
    #expect(mode as? Int == 0o600)
  }

  /// The number of this process's descriptor that has the file open.
  private func descriptor(of place: FilePlace) throws -> Int32? {
    let files = FileManager.default
    let numbers = try files.contentsOfDirectory(atPath: "/proc/self/fd")
    let number = numbers.first {
      (try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/\($0)")) == place.path
    }
    return number.flatMap(Int32.init)
  }

  private func open(
    _ place: FilePlace, _ lock: StateFile.Lock, creating: Bool = true
  ) throws(StorageError) {
    _ = try StateFile.open(place, lock: lock, creating: creating)
  }
}
