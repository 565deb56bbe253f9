// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraMask
internal import KuraProtocol
internal import SecureMemory

/// Does `kura redact`: copies a text with names in the place of values.
enum Redact {
  static let command = Command(
    "redact", abstract: "copy stdin to stdout, with names in the place of values",
    options: StoredNeedles.options, unlocking: .whenLocked, run: run)

  private static let step = 65_536

  private static func run(_ invocation: inout Invocation) throws(CommandError) -> ExitStatus {
    let arguments = invocation.arguments
    try parsing { () throws(UsageError) in
      guard try arguments.number(.passcodeFD, as: Int32.self) == 0 else { return }
      throw UsageError(
        "the passcode and the text cannot both come from stdin",
        hint: "give the passcode with --passcode-file, or at the terminal")
    }
    let set = try StoredNeedles.read(invocation)
    var masker = try allocating { () throws(SecureMemoryError) in try Masker() }
    var shown = try allocating { () throws(SecureMemoryError) in try MaskedText() }
    var input = try allocating { () throws(SecureMemoryError) in try SecretBuffer(capacity: step) }
    while try read(into: &input) {
      try allocating { () throws(SecureMemoryError) in
        try masker.write(input.bytes, set, to: &shown)
      }
      try invocation.output.send(shown.bytes.bytes)
      shown.bytes.removeAll()
    }
    try allocating { () throws(SecureMemoryError) in try masker.finish(set, to: &shown) }
    try invocation.output.send(shown.bytes.bytes)
    return .ok
  }

  private static func read(into input: inout SecretBuffer) throws(CommandError) -> Bool {
    input.removeAll()
    do throws(FileError) { return try Descriptor.read(0, into: &input, upTo: step) > 0 } catch {
      throw .file(.read, path: "stdin", errno: error.errno)
    }
  }
}
