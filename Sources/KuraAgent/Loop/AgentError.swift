// SPDX-License-Identifier: MIT

/// Says why an agent cannot start or go on.
public enum AgentError: Error, Equatable, Sendable {
  /// A system call failed.
  case system(call: String, code: Int32)

  /// The directory of the socket is not ours alone: 0700, owned by us, no symbolic link.
  case directoryUnsafe(path: String)

  /// Another agent listens there already.
  case alreadyRunning

  /// Neither `XDG_RUNTIME_DIR`, `XDG_STATE_HOME` nor `HOME` says where files go.
  case noDirectory

  /// A variable that names a place is not UTF-8.
  case notText(String)

  /// Guarded memory could not be locked, and that was asked for.
  case memoryNotLocked

  /// No memory was left.
  case outOfMemory
}

/// Turns a negated errno, as `CKuraSystem` returns it, into an error.
@discardableResult
func check(_ call: String, _ result: Int32) throws(AgentError) -> Int32 {
  guard result >= 0 else { throw .system(call: call, code: -result) }
  return result
}
