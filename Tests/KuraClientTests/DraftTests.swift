// SPDX-License-Identifier: MIT

import Foundation
import SecureMemory
import TestGround
import Testing

@testable import KuraClient

@Suite struct DraftTests {
  @Test func `a draft without a directory is read back by its descriptor`() throws {
    let draft = try Draft.begin(in: nil)
    try draft.write([1, 2, 3].span)
    #expect(draft.descriptor > 2)
    #expect(draft.path == "/proc/self/fd/\(draft.descriptor)")
    #expect(FileManager.default.contents(atPath: draft.path) == Data([1, 2, 3]))
    try #expect(Self.read(draft) == [1, 2, 3])
  }

  @Test(.enabled(if: Place.isThere))
  func `a draft in a directory is the user's alone, and gone afterwards`() throws {
    let place = try Place()
    do {
      let draft = try Draft.begin(in: place.path)
      try draft.write([1, 2].span)
      #expect(draft.descriptor == -1)
      #expect(try Self.mode(draft.path) == 0o600)
      #expect(try Self.mode((draft.path as NSString).deletingLastPathComponent) == 0o700)
      try #expect(Self.read(draft) == [1, 2])
      #expect(place.names.count == 1)
    }
    #expect(place.names.isEmpty)
  }

  @Test(.enabled(if: Place.isThere))
  func `what an editor put in its place is read, and wiped with what it left beside it`() throws {
    let place = try Place()
    // A link from elsewhere shows what becomes of the bytes.
    let (old, new) = (place.path + "/old", place.path + "/new")
    do {
      let draft = try Draft.begin(in: place.path)
      try draft.write([1, 2].span)
      try FileManager.default.linkItem(atPath: draft.path, toPath: old)
      let folder = (draft.path as NSString).deletingLastPathComponent
      try Data([3, 4, 5]).write(to: URL(filePath: folder + "/other"))
      try FileManager.default.linkItem(atPath: folder + "/other", toPath: new)
      try #require(rename(folder + "/other", draft.path) == 0)
      try FileManager.default.createDirectory(
        atPath: folder + "/a/b", withIntermediateDirectories: true)
      try Data([6]).write(to: URL(filePath: folder + "/a/b/c"))
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link", withDestinationPath: "/nowhere")
      try #expect(Self.read(draft) == [3, 4, 5])
    }
    #expect(Set(place.names) == ["old", "new"])
    #expect(FileManager.default.contents(atPath: old)?.isEmpty == true)
    #expect(FileManager.default.contents(atPath: new)?.isEmpty == true)
  }

  @Test(.enabled(if: Place.isThere))
  func `a sweep takes what nobody works at, and nothing else`() throws {
    let place = try Place()
    let left = place.path + "/edit-left"
    try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
    try Data([1]).write(to: URL(filePath: left + "/value"))
    try Data([1]).write(to: URL(filePath: place.path + "/agent.sock"))
    let draft = try Draft.begin(in: nil)
    Draft.sweep(place.path)
    #expect(place.names == ["agent.sock"])
    do {
      let other = try Draft.begin(in: place.path)
      Draft.sweep(place.path)
      #expect(FileManager.default.fileExists(atPath: other.path))
    }
    #expect(place.names == ["agent.sock"])
    try #expect(Self.read(draft) == [])
  }

  @Test func `what goes to a disk is no place for a draft`() {
    #expect(throws: Draft.Refusal.onDisk) { try Draft.check("/sys") }
    #expect(throws: Draft.Refusal.onDisk) { try Draft.check("/sys/kura") }
    #expect(throws: Draft.Refusal.onDisk) { _ = try Draft.begin(in: "/proc") }
  }

  @Test(.enabled(if: Place.isThere))
  func `nor is what others can write to`() throws {
    let place = try Place()
    chmod(place.path, 0o770)
    #expect(throws: Draft.Refusal.system(EPERM)) { try Draft.check(place.path) }
    chmod(place.path, 0o700)
    try Draft.check(place.path)
    try Draft.check(place.path + "/made")
    #expect(place.names == ["made"])
  }

  @Test func `more than the limit is too large`() throws {
    let draft = try Draft.begin(in: nil)
    try draft.write([UInt8](repeating: 7, count: 100).span)
    var text = try SecretBuffer(capacity: 1)
    try draft.read(into: &text, limit: 100)
    #expect(text.count == 100)
    #expect(throws: FileError(errno: EFBIG)) { try draft.read(into: &text, limit: 99) }
  }

  private static func read(_ draft: borrowing Draft) throws -> [UInt8] {
    var text = try SecretBuffer(capacity: 16)
    try draft.read(into: &text, limit: 100)
    return Array(copying: text.bytes)
  }

  private static func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }

  /// A directory in memory.
  private struct Place: ~Copyable {
    static let isThere = canMake
    let path: String

    private static var canMake: Bool {
      guard let place = try? Place() else { return false }
      return (try? Draft.check(place.path)) != nil
    }

    init() throws {
      path = try Ground.inMemory.directory("draft")
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    var names: [String] {
      ((try? FileManager.default.contentsOfDirectory(atPath: path)) ?? []).sorted()
    }
  }
}
