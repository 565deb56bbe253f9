// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Describes a key slot as the agent tells of it.
public struct Slot: Equatable, Sendable {
  /// What there is to say of it.
  public let facts: SlotFacts
  /// What its owner calls it; empty for none.
  public let label: String
  /// Where a key file stood when the slot was made; empty when not known.
  public let place: String
}

/// Lists the slots of a vault.
public struct Slots: Equatable, Sendable {
  /// Whether the vault is unlocked, so that the list is authentic.
  public let isAuthentic: Bool
  /// By number.
  public let all: [Slot]
}

/// Names what is done with a slot that is there.
public enum SlotSwitch: String, Sendable {
  case remove, disable, enable
}

extension Connection {
  /// The ways to open the vault. A locked vault tells less, and nothing authentic.
  public mutating func slots() throws(ClientError) -> Slots {
    try send(.slots)
    let payload = received(try answer())
    let list = try reading { () throws(ProtocolError) in try SlotList(payload) }
    let slots = list.slots.map { facts in
      Slot(
        facts: facts, label: String(repairing: payload.extracting(facts.label)),
        place: String(repairing: payload.extracting(facts.place)))
    }
    return Slots(isAuthentic: list.isAuthentic, all: slots)
  }

  /// Adds a way to open the vault; an unlocked vault stays so.
  ///
  /// - Parameters:
  ///   - kind: What `current` is: a passcode or the recovery key.
  ///   - current: What opens the vault now.
  ///   - order: What slot it is to be.
  ///   - secret: What is to open the slot; without bytes for a recovery key.
  ///   - confirm: Gets a new recovery key's text, and is not called for other kinds. The bytes are
  ///     gone when it returns.
  /// - Returns: The slot's number.
  /// - Throws: ``ClientError/stopped`` when `confirm` said no: nothing was added. The connection is of
  ///   no further use then, nor when `confirm` threw.
  public mutating func addSlot(
    _ kind: Credential, current: borrowing SecretBytes, _ order: SlotOrder,
    secret: borrowing SecretBytes, confirm: (Span<UInt8>) throws(ClientError) -> Bool
  ) throws(ClientError) -> UInt8 {
    try send(
      .slotAdd(
        SlotAddRequest(
          SlotAuthority(kind, secret: current.bytes), order, secret: secret.bytes,
          label: order.label.utf8.span, place: order.place.utf8.span)))
    if order.kind == .recoveryKey {
      try withRecoveryKey { key throws(ClientError) in
        guard try confirm(key) else { throw .stopped }
      }
      try channel.send { output throws(ProtocolError) in try output.putConfirm() }
    }
    let reply: SlotReply = try reply(patience: patience.derivation)
    return reply.number
  }

  /// Removes a way to open the vault, puts it out of use or back into use; an unlocked vault stays so.
  ///
  /// - Parameters:
  ///   - change: What to do with it.
  ///   - number: The slot's number.
  ///   - kind: What `current` is: a passcode or the recovery key.
  ///   - current: What opens the vault now.
  public mutating func changeSlot(
    _ change: SlotSwitch, _ number: UInt8, _ kind: Credential, current: borrowing SecretBytes
  ) throws(ClientError) {
    let request = SlotRequest(SlotAuthority(kind, secret: current.bytes), number: number)
    switch change {
    case .remove: try send(.slotRemove(request))
    case .disable: try send(.slotDisable(request))
    case .enable: try send(.slotEnable(request))
    }
    try done(patience: patience.derivation)
  }

  /// How this machine's TPM holds against guessing.
  public mutating func chip() throws(ClientError) -> ChipFacts {
    let reply: ChipReply = try ask(.chip, patience: patience.derivation)
    return reply.facts
  }

  /// What the security key asks for that opens a slot of the vault, or that a new one is to be of.
  public mutating func securityKey(forNew isNew: Bool) throws(ClientError) -> SecurityKeyFacts {
    let reply: SecurityKeyReply = try ask(
      .securityKey(SecurityKeyRequest(forNew: isNew)), patience: patience.derivation)
    return reply.facts
  }

  /// Tries a secret, and unlocks nothing.
  ///
  /// - Parameters:
  ///   - number: The only slot to try; nil for all of the kind.
  ///   - kind: What the secret is.
  ///   - secret: As for an unlock.
  /// - Returns: The number of the slot that it opens.
  public mutating func testSlot(
    _ number: UInt8?, _ kind: Credential, secret: borrowing SecretBytes
  ) throws(ClientError) -> UInt8 {
    let reply: SlotReply = try ask(
      .slotTest(SlotRequest(SlotAuthority(kind, secret: secret.bytes), number: number)),
      patience: patience.derivation)
    return reply.number
  }
}
