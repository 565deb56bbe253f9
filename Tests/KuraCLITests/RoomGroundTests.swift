// SPDX-License-Identifier: MIT

import KuraClient
import Testing

@testable import KuraCLI

/// Where the system lets nobody make a room, that is known beforehand, and said with what to do.
@Suite struct RoomGroundTests {
  private func flaw(_ files: [String: String]) throws -> String? {
    let files = try DoctorTests.Files(files)
    return RoomGround(Machine(root: files.root)).flaw?.advice
  }

  @Test func `what forbids name spaces is found`() throws {
    let (most, users) = (
      "/proc/sys/user/max_user_namespaces", "/proc/sys/kernel/unprivileged_userns_clone"
    )
    #expect(try flaw([:]) == nil)
    #expect(try flaw([most: "10000\n", users: "1\n"]) == nil)
    #expect(try flaw([most: "0\n"])?.contains("user.max_user_namespaces") == true)
    #expect(try flaw([users: "0\n"])?.contains("kernel.unprivileged_userns_clone") == true)
    let profiles = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns"
    #expect(try flaw([profiles: "1\n"])?.contains("bubblewrap") == true)
    #expect(try flaw([profiles: "0\n"]) == nil)
  }

  @Test func `a path is within another by whole names`() {
    #expect(RoomDirectory.isWithin("/a/b", "/a/b"))
    #expect(RoomDirectory.isWithin("/a/b/c", "/a/b"))
    #expect(RoomDirectory.isWithin("/a", "/"))
    #expect(!RoomDirectory.isWithin("/a/bc", "/a/b"))
    #expect(!RoomDirectory.isWithin("/a", "/a/b"))
  }

  @Test func `what a room starts knows its words`() {
    let words = RoomEntry.words(said: 11, passing: [0, 5])
    #expect(words == ["/run/room/bin/kura-room", "11", "-,0,5"])
    let all = (words + ["sh"]).map { Array($0.utf8) }
    #expect(RoomEntry.isCalled(all))
    #expect(!RoomEntry.isCalled(words.map { Array($0.utf8) }))
    #expect(!RoomEntry.isCalled([Array("kura".utf8)] + all.dropFirst()))
  }
}
