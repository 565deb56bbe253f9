// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraSync

@main
struct Sync {
  static func main() {
    kura_memory_settle()
    exit(SyncProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
