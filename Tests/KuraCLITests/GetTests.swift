// SPDX-License-Identifier: MIT

import Testing

@testable import KuraCLI

@Suite struct GetTests {
  @Test(arguments: [
    (false, false, true), (false, true, true), (true, true, true), (true, false, false),
  ])
  func `a value is escaped on a terminal, unless --raw is given`(_ row: (Bool, Bool, Bool)) {
    var arguments = Arguments()
    if row.1 { arguments.options = [.init(name: .raw, value: [])] }
    #expect(Get.isPlain(isTerminal: row.0, arguments) == row.2)
  }
}
