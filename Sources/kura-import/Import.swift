// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraImport

@main
struct Import {
  static func main() {
    exit(ImportProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
