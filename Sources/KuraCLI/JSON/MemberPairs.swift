// SPDX-License-Identifier: MIT

internal import KuraClient
internal import KuraProtocol
internal import SecureMemory

/// Holds an item's secret attributes on their way into JSON, in guarded memory.
struct MemberPairs: ~Copyable {
  private var pairs: SecretBuffer
  /// How many there are.
  private(set) var count = 0

  /// None yet.
  init() throws(ClientError) {
    do throws(SecureMemoryError) { pairs = try SecretBuffer(capacity: 0) } catch {
      throw .outOfMemory
    }
  }

  /// Reads those of a revision, in place of what there is.
  ///
  /// - Parameters:
  ///   - item: What was read of it.
  ///   - name: What it is asked for by.
  ///   - revision: As it was asked for; 0 = the current one.
  mutating func read(
    of item: Item, _ name: String, revision: UInt64 = 0, _ connection: inout Connection
  ) throws(ClientError) {
    pairs.removeAll()
    count = 0
    guard item.facts.kind != .deleted else { return }
    // Keys ask for no passcode: where there are none, nothing is opened.
    if revision == 0, try connection.secrets(of: name).isEmpty { return }
    try connection.secretAttributes(of: name, revision: item.facts.revision) {
      key, value throws(ClientError) in
      do throws(ProtocolError) { try pairs.putPair(key: key, value: value) } catch {
        throw .outOfMemory
      }
      count += 1
    }
  }

  /// Writes them as a member of what is open; of none nothing.
  borrowing func write(_ output: inout Output) throws(CommandError) {
    guard count > 0 else { return }
    try output.key("secret-attributes")
    try output.openObject()
    try forEach { key, value throws(CommandError) in try output.member(key, bytes: value) }
    try output.closeObject()
  }

  /// Calls `body` with each key and value, ascending by key.
  borrowing func forEach(
    _ body: (_ key: String, _ value: Span<UInt8>) throws(CommandError) -> Void
  ) throws(CommandError) {
    try AttributeFields(pairs.bytes, count: count).forEach { key, value throws(CommandError) in
      try body(String(repairing: key), value)
    }
  }
}
