// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraAgent

@main
struct AgentProgram {
  static func main() {
    exit(Program.run(Array(CommandLine.arguments.dropFirst())))
  }
}
