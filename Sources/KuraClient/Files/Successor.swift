// SPDX-License-Identifier: MIT

internal import CKuraSystem
public import SecureMemory

/// Makes this process become another program, and gives it what it needs.
public enum Successor {
  /// Tells why it did not come to that.
  public enum Failure: Error, Equatable, Sendable {
    /// There is no such program.
    case notFound
    /// The program is there; what its first line or its header names to run it is not.
    case interpreterMissing
    /// The system refused: errno.
    case refused(Int32)
  }

  /// Hands a descriptor on, under a number of its own choice.
  public static func pass(_ descriptor: Int32, as number: Int32) throws(FileError) {
    try FileError.check(Int(kura_descriptor_pass(descriptor, number)))
  }

  /// Keeps back a descriptor that a passcode came from.
  public static func withhold(_ descriptor: Int32) throws(FileError) {
    guard descriptor <= 2 else { return kura_descriptor_withhold(descriptor) }
    try FileError.check(Int(kura_descriptor_exhaust(descriptor)))
  }

  /// Closes the standard descriptors that were closed when this process began.
  public static func closeFilled() { kura_unfill_descriptors() }

  /// Becomes the program, as the user would have started it: umask, limits and signals as they
  /// were. All the memory of this process is gone with it.
  ///
  /// - Parameters:
  ///   - first: Which argument of this process names the program; its own follow.
  ///   - variables: `NAME=VALUE` with a NUL behind each, no name twice.
  ///   - inherits: Whether it gets the environment of this process, too, less those names.
  public static func begin(
    from first: Int, variables: borrowing SecretBuffer, inherits: Bool
  ) -> Failure {
    let failed = System.execute(from: first, variables: variables.bytes, inherits: inherits)
    switch failed {
    case Int32(KURA_INTERPRETER_MISSING): return .interpreterMissing
    case -ENOENT: return .notFound
    default: return .refused(-failed)
    }
  }
}

// MARK: - The environment

extension Environment {
  /// Holds a variable whose value begins with some text.
  public struct Match: Equatable, Sendable {
    /// What stands before the first `=`.
    public let name: [UInt8]
    /// What stands behind it.
    public let value: [UInt8]
  }

  /// The variables whose values a test picks; the others are not copied.
  public static func variables(where isWanted: (Span<UInt8>) -> Bool) -> [Match] {
    matches { _, value in isWanted(value) }
  }

  /// The variables whose names a test picks.
  public static func variables(named isWanted: (Span<UInt8>) -> Bool) -> [Match] {
    matches { name, _ in isWanted(name) }
  }

  private static func matches(
    _ isWanted: (_ name: Span<UInt8>, _ value: Span<UInt8>) -> Bool
  ) -> [Match] {
    var found: [Match] = []
    System.visitVariables { entry in
      guard let equals = entry.indices.first(where: { entry[$0] == UInt8(ascii: "=") }) else {
        return
      }
      let value = entry.extracting((equals + 1)...)
      let name = entry.extracting(..<equals)
      guard isWanted(name, value) else { return }
      found.append(Match(name: Array(copying: name), value: Array(copying: value)))
    }
    return found
  }
}
