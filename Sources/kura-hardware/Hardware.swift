// SPDX-License-Identifier: MIT

internal import Glibc
internal import KuraTPM

/// Speaks to the TPM of this machine for the agent: one wish by descriptor 0, one answer there, and it ends.
@main
struct Hardware {
  static func main() { exit(TPMProgram.run()) }
}
