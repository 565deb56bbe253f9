// SPDX-License-Identifier: MIT

internal import CKuraSystem

// The Embedded build has the commands in this module.
#if !hasFeature(Embedded)
  internal import KuraCLI
#endif

@main struct Kura {
  static func main() { exit(Entry.run()) }
}
