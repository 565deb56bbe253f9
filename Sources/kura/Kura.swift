// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraCLI

@main struct Kura {
  static func main() { exit(Entry.run()) }
}
