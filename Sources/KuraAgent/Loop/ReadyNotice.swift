// SPDX-License-Identifier: MIT

internal import CKuraSystem
internal import Glibc

/// Tells those who started the agent that clients can connect, or why they cannot.
struct ReadyNotice {
  /// Given by `--ready-fd`.
  private var asked: Int32?
  /// The parent's that waits in ``detach()``.
  private var parent: Int32?

  init(descriptor: Int32?) { asked = descriptor }

  /// Goes on in the background: the caller's process waits for the word, and ends with it. Who
  /// gave a descriptor may have begun a session for the agent already.
  ///
  /// To be called while there is one thread.
  mutating func detach() throws(AgentError) {
    var ready: Int32 = -1
    let isStarted: Int32 = asked == nil ? 0 : 1
    try check("fork", unsafe kura_server_detach(isStarted, &ready))
    if ready >= 0 { parent = ready }
  }

  /// Clients can connect.
  mutating func tell() { send("R") }

  /// The agent does not come up; the parent sees that by the exit status.
  mutating func tell(failure: String) {
    parent.take().map { _ = close($0) }
    send(failure + "\n")
  }

  private mutating func send(_ text: String) {
    for descriptor in [asked.take(), parent.take()].compactMap({ $0 }) {
      write(text, to: descriptor)
      _ = close(descriptor)
    }
  }
}

/// Writes a text that is no secret, past stdio.
func write(_ text: String, to descriptor: Int32) {
  var text = text
  text.withUTF8 { bytes in
    guard let start = bytes.baseAddress else { return }
    _ = unsafe Glibc.write(descriptor, start, bytes.count)
  }
}
