// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraDesktop

@main
struct DesktopProgram {
  static func main() {
    exit(Desktop.run(Array(CommandLine.arguments.dropFirst())))
  }
}
