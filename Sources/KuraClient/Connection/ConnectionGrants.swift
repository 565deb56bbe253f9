// SPDX-License-Identifier: MIT

public import KuraProtocol
public import SecureMemory

/// Says for whom a grant is to be, and for how long.
public struct GrantTerms: Equatable, Sendable {
  /// Below which process it serves.
  public var scope: GrantScope
  /// The number of that process with `GrantScope.process`, else 0.
  public var process: UInt32
  /// In ms, `ProtocolLimit.grantTime` at most.
  public var lifetime: UInt64
  /// How many values it opens; nil for any number.
  public var uses: UInt32?
  /// Why, for people to read later; no secret. UTF-8.
  public var reason: [UInt8]

  /// A grant without an end of its own but that of the process, or of a day.
  public init(
    to scope: GrantScope, process: UInt32 = 0, lifetime: UInt64 = ProtocolLimit.grantTime,
    uses: UInt32? = nil, reason: [UInt8] = []
  ) {
    (self.scope, self.process, self.lifetime) = (scope, process, lifetime)
    (self.uses, self.reason) = (uses, reason)
  }
}

/// Tells of a grant that stands.
public struct GrantSummary: Equatable, Sendable {
  /// What it is called.
  public let number: UInt64
  /// The process below which it serves.
  public let process: UInt32
  /// The program of that process.
  public let program: [UInt8]
  /// How long it still lasts, in ms.
  public let left: UInt64
  /// How many values it may yet open; nil for any number.
  public let uses: UInt32?
  /// Why it was given.
  public let reason: [UInt8]
  /// The names of its items.
  public let names: [String]

  init(_ entry: borrowing GrantEntry) {
    (number, process, left) = (entry.number, entry.process, entry.left)
    uses = entry.uses == GrantEntry.anyUses ? nil : entry.uses
    program = [UInt8](copying: entry.program.bytes)
    reason = [UInt8](copying: entry.reason.bytes)
    var names: [String] = []
    entry.names.forEach { name in names.append(String(repairing: name.bytes)) }
    self.names = names
  }
}

extension Connection {
  /// Lets the programs below a process read protected values for a while.
  ///
  /// - Parameters:
  ///   - names: The items, at most `ProtocolLimit.granted`.
  ///   - terms: For whom, and for how long.
  ///   - kind: What the secret is.
  ///   - secret: As for an unlock.
  public mutating func grant(
    _ names: [String], _ terms: GrantTerms, _ kind: Credential, secret: borrowing SecretBytes
  ) throws(ClientError) -> GrantReply {
    var list: SecretBuffer
    do throws(SecureMemoryError) { list = try SecretBuffer(capacity: 256) } catch {
      throw .outOfMemory
    }
    do throws(ProtocolError) {
      for name in names { try list.put16(name.utf8.span, limit: ProtocolLimit.name) }
    } catch { throw ClientError(writing: error) }
    return try ask(
      .grant(
        GrantRequest(
          SlotAuthority(kind, secret: secret.bytes), KeyFields(list.bytes, count: names.count),
          to: terms.scope, process: terms.process, lifetime: terms.lifetime,
          uses: terms.uses ?? GrantRequest.anyUses, reason: terms.reason.span)),
      patience: patience.derivation)
  }

  /// What is granted at present, the oldest first. It extends no session.
  public mutating func grants() throws(ClientError) -> [GrantSummary] {
    try send(.grants)
    let reply: GrantsReply = try replied(received(try answer()))
    var grants: [GrantSummary] = []
    reply.forEach { entry in grants.append(GrantSummary(entry)) }
    return grants
  }

  /// Ends a grant, or all of the vault's.
  ///
  /// - Returns: How many ended.
  public mutating func revokeGrants(_ number: UInt64? = nil) throws(ClientError) -> Int {
    let reply: GrantRevokeReply = try ask(
      .grantRevoke(GrantRevokeRequest(number ?? GrantRevokeRequest.all)))
    return Int(reply.count)
  }
}
