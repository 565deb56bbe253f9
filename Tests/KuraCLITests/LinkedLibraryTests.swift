// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct LinkedLibraryTests {
  @Test func `what the build said is read`() {
    #expect(
      LinkedLibrary.read("libsodium=1.0.18-1+deb12u1,libstdc++=12.2.0-14") == [
        LinkedLibrary(name: "libsodium", version: "1.0.18-1+deb12u1"),
        LinkedLibrary(name: "libstdc++", version: "12.2.0-14"),
      ])
    #expect(LinkedLibrary.read("").isEmpty)
    #expect(
      LinkedLibrary.read("musl,,zlib=1:1.2=3") == [
        LinkedLibrary(name: "zlib", version: "1:1.2=3")
      ])
  }

  @Test func `a build that says nothing is not taken for one without libraries`() {
    #expect(LinkedLibrary.all.isEmpty && LinkedLibrary.check.verdict == .unknown)
    let check = LinkedLibrary.check(of: [LinkedLibrary(name: "musl", version: "1.2.3-1")])
    #expect(check.verdict == .ok && check.meaning == "built with musl 1.2.3-1")
  }
}
