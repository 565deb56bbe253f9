// SPDX-License-Identifier: MIT

/// Says what a person is asked for, and when.
struct Question {
  let label: String
  /// Whether only the code of this machine can be the answer.
  var isCode = false
  /// For how long nothing that is typed could be tried, in ms.
  var wait: UInt64 = 0
  /// Whether there is a recovery key, which never waits.
  var hasRecoveryKey = false
}
