// SPDX-License-Identifier: MIT

import Foundation

/// Makes programs for tests to start, each a script of the shell.
public enum Script {
  /// Writes one, for this user to run.
  ///
  /// What is open for writing runs for nobody (ETXTBSY, execve(2)), and a child that another test forks has our
  /// descriptors until it has become its own program: so it is a child that writes.
  public static func write(_ text: String, to path: String) throws {
    let writer = try Process.run(
      URL(filePath: "/bin/sh"),
      arguments: ["-c", #"printf '%s\n' "$1" > "$2" && chmod 700 "$2""#, "sh", text, path])
    writer.waitUntilExit()
    guard writer.terminationStatus == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
