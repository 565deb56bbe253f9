// SPDX-License-Identifier: MIT

/// Says who wrote a frame.
public enum Side: Sendable {
  /// `kura` and other clients.
  case client
  /// `kura-agent`, whether it stays or serves one client.
  case agent
}

/// Says what a frame holds; the byte after its length. Bit 7 is set in what an agent sends.
public enum FrameType: UInt8, Sendable, CaseIterable {
  /// A client's first frame: magic, version, vault, terminal.
  case clientHello = 0x01
  /// A verb with its fields.
  case request = 0x10
  /// Bytes of a value on their way in.
  case clientData = 0x11
  /// The end of a value on its way in: commit or abandon.
  case clientEnd = 0x12
  /// The second step of `create`: the recovery key was written down.
  case confirm = 0x13
  /// The agent's first frame: version and release.
  case agentHello = 0x81
  /// The answer to a request: a code, then the verb's fields or a refusal.
  case reply = 0x90
  /// Bytes of a value, entries of a list or findings of a check, on their way out.
  case data = 0x91
  /// The end of a stream on its way out, with a code as in a reply.
  case end = 0x92
  /// How far long work has come.
  case progress = 0x93

  /// Who may send it.
  public var sender: Side { rawValue & 0x80 == 0 ? .client : .agent }

  /// The longest body, type byte included, in bytes.
  public var limit: Int {
    switch self {
    case .clientHello, .agentHello: ProtocolLimit.hello
    case .clientData: 1 + ProtocolLimit.chunk
    case .clientEnd: 2
    case .confirm: 1
    case .progress: 17
    case .request, .reply, .data, .end: ProtocolLimit.frame
    }
  }
}
