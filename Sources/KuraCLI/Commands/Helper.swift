// SPDX-License-Identifier: MIT

internal import KuraProtocol

/// Does `kura helper`: speaks the credential protocols of other programs.
enum Helper {
  static let command = Command(
    "helper", [.init("PROGRAM"), .init("ARGUMENT", .any)],
    abstract: "be what git, docker, ssh, pip, kubectl and other programs ask",
    unlocking: .whenLocked, run: run)

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    try parsing { [arguments = invocation.arguments] () throws(UsageError) in
      // What a program says on stdin is no passcode.
      if try arguments.number(.passcodeFD, as: Int32.self) == 0 {
        throw UsageError(
          "the passcode and the request cannot both come from stdin",
          hint: "give the passcode with --passcode-file, or from another descriptor")
      }
    }
    let program = invocation.arguments.operands[0]
    guard let run = programs.first(where: { $0.name.utf8.elementsEqual(program) })?.run else {
      throw .usage(
        "helper does not speak to " + Diagnostic.quoted(program),
        hint: "say git, docker, cargo, aws, kubectl, terraform, askpass, pass or keyring")
    }
    return try run(&invocation)
  }

  static let programs: [(name: String, run: Command.Run)] = [
    ("git", { invocation throws(CommandError) in try GitCredential.run(&invocation) }),
    ("docker", { invocation throws(CommandError) in try DockerCredential.run(&invocation) }),
    ("cargo", { invocation throws(CommandError) in try CargoCredential.run(&invocation) }),
    ("aws", { invocation throws(CommandError) in try AWSCredential.run(&invocation) }),
    ("kubectl", { invocation throws(CommandError) in try KubectlCredential.run(&invocation) }),
    ("terraform", { invocation throws(CommandError) in try TerraformCredential.run(&invocation) }),
    ("askpass", { invocation throws(CommandError) in try Askpass.run(&invocation) }),
    ("pass", { invocation throws(CommandError) in try PassFront.run(&invocation) }),
    ("keyring", { invocation throws(CommandError) in try KeyringFront.run(&invocation) }),
  ]
}
