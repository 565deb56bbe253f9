// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraSync

@main
struct Sync {
  static func main() {
    exit(SyncProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
