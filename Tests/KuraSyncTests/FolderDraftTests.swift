// SPDX-License-Identifier: MIT

import Foundation
import Glibc
import KuraStore
import KuraTerms
import TestGround
import Testing

@testable import KuraSync

@Suite struct `A draft of a file in a folder` {
  let folder: Folder
  let store: FolderStore

  init() throws {
    folder = try Folder()
    store = try FolderStore(at: folder.path, of: Sample.vault, makes: true)
  }

  private var root: String { StorePlace.root(of: Sample.vault) }

  /// Leaves a draft as of a program that was killed.
  ///
  /// - Parameters:
  ///   - number: Of which object it is.
  ///   - digit: What its name is made of.
  ///   - age: How long ago that was, in seconds.
  /// - Returns: Its name below the folder.
  private func leave(of number: UInt8, _ digit: String, age: Double) throws -> String {
    let below = root + "/" + Sample.object(number).text.dropLast(64)
    let name = below + "." + String(repeating: digit, count: 64)
    try folder.write([1], to: name)
    try FileManager.default.setAttributes(
      [.modificationDate: Date(timeIntervalSinceNow: -age)],
      ofItemAtPath: folder.path + "/" + name)
    return name
  }

  @Test func `many small ones hold few descriptors`() async throws {
    await #expect(processExitsWith: .success) {
      var limit = rlimit(rlim_cur: 1_024, rlim_max: 1_024)
      #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
      let folder = try Folder()
      let store = try FolderStore(at: folder.path, of: Sample.vault, makes: true)
      for number in 0..<600 {
        let hash = [UInt8(number >> 8), UInt8(number & 0xFF)] + [UInt8](repeating: 7, count: 30)
        try store.put(.object(device: Sample.device, hash: hash), [1])
      }
      try store.settle()
      #expect(try store.objects(of: Sample.device).count == 600)
    }
  }

  @Test func `that another program begins anew gets no name, and leaves what was`() throws {
    try store.put(Sample.head, [1])
    let (head, id) = (root + "/" + Sample.head.text, StorePlace.hexadecimal(Sample.device))
    let draft = root + "/" + StorePlace.heads + "/." + id
    let slow = try FolderStore(at: folder.path, of: Sample.vault, makes: false) {
      [folder] (step) -> Int32 in
      guard step == .rename else { return 0 }
      // The other one is killed before it has written anything.
      let path = folder.path + "/" + draft
      let begun = unlink(path) == 0 ? open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600) : -1
      return begun >= 0 && close(begun) == 0 ? 0 : errno
    }
    #expect(throws: StoreError.system(errno: EBUSY, path: slow.path)) {
      try slow.put(Sample.head, [2, 2])
    }
    #expect(try store.get(Sample.head, atMost: 9) == [1])
    #expect(folder.files == [draft, head])
    try store.put(Sample.head, [3])
    #expect(try store.get(Sample.head, atMost: 9) == [3])
    #expect(folder.files == [head])
  }

  @Test func `of a clock that was ahead goes too`() throws {
    _ = try leave(of: 1, "1", age: -700 * 86_400)
    let young = try leave(of: 1, "2", age: -3_600)
    try store.put(Sample.object(1), [1])
    try store.settle()
    #expect(folder.files == [young, root + "/" + Sample.object(1).text].sorted())
  }

  @Test func `goes with what is deleted beside it, as that of a removed machine`() throws {
    try store.put(Sample.object(1), [1])
    try store.settle()
    _ = try leave(of: 1, "1", age: 2 * 86_400)
    let young = try leave(of: 1, "2", age: 3_600)
    #expect(try store.delete(Sample.object(1)))
    #expect(folder.files == [young])
  }
}
