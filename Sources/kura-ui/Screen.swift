// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import KuraUI

@main
struct Screen {
  static func main() {
    exit(ScreenProgram.run(Array(CommandLine.arguments.dropFirst())))
  }
}
