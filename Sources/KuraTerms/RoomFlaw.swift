// SPDX-License-Identifier: MIT

/// Names why a client that is in a room, or in another container than the agent, is not served what it asks.
public enum RoomFlaw: UInt8, Sendable, CaseIterable {
  /// Its connection serves some verbs alone, or not this item.
  case notServed = 0
  /// Its connection serves another vault.
  case otherVault = 1
  /// Its process is in other namespaces than the agent's.
  case otherNamespace = 2
}
