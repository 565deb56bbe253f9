// SPDX-License-Identifier: MIT

internal import KuraStore
internal import KuraTerms

/// Keeps the files of a vault in two tables of a database: see kura-sync(1) and `kura sync sql`.
///
/// What a push writes is one transaction, which ends with the head. Of a push with more than 16 MiB before that the database gets
/// all that was put whenever that is full, so that who is cut off goes on there: what no head names is nobody's yet.
final class PostgresStore: Store {
  private static let mostPending = 16 << 20

  private let connection: PostgresConnection
  private let vault: [UInt8]
  private let address: String
  private let isNew: Bool
  /// How much of a transaction is put, and not for good; nil outside of one.
  private var pending: Int?
  private(set) var tellsAll = false

  /// Opens the store of a vault.
  ///
  /// - Parameter makes: Whether nothing of it may be there; what cannot be written to is found out then.
  init(at address: String, of vault: [UInt8], makes: Bool) throws(StoreError) {
    (self.address, self.vault, isNew) = (address, vault, makes)
    connection = try PostgresConnection(to: address)
    guard makes else { return }
    // A row of nobody's, that never stands there.
    try connection.run("BEGIN")
    try insert(
      .object(
        device: [UInt8](repeating: 0, count: StorePlace.identifierByteCount),
        hash: [UInt8](repeating: 0, count: StorePlace.hashByteCount)), [0])
    try connection.run("ROLLBACK")
  }

  func leave() {}

  func heads() throws(StoreError) -> [StorePlace] {
    let found = try connection.run(
      "SELECT device FROM kura_head WHERE vault = $1::bytea LIMIT \(Self.mostNames)", [vault])
    if found.rows.isEmpty, !isNew {
      let any = try connection.run(
        "SELECT vault FROM kura_object WHERE vault = $1::bytea LIMIT 1", [vault])
      if any.rows.isEmpty { throw .empty(path: address) }
    }
    return found.rows.map { .head(device: $0[0]) }
  }

  func objects(of device: [UInt8]) throws(StoreError) -> [StorePlace] {
    let found = try connection.run(
      """
      SELECT hash FROM kura_object WHERE vault = $1::bytea AND device = $2::bytea \
      LIMIT \(Self.mostNames)
      """, [vault, device])
    guard found.rows.count < Self.mostNames else { throw .crowded(path: address) }
    return found.rows.map { .object(device: device, hash: $0[0]) }
  }

  /// One more than there may be.
  private static let mostNames = 131_073

  func get(_ place: StorePlace, atMost most: Int) throws(StoreError) -> [UInt8]? {
    let (table, keys) = self.keys(place)
    // The server looks at the length: what is longer is not even sent.
    let found = try connection.run(
      """
      SELECT bytes FROM \(table) WHERE \(Self.condition(keys)) \
      AND octet_length(bytes) <= \(most)
      """, keys)
    return found.rows.first?[0]
  }

  func put(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    if pending == nil { try connection.run("BEGIN") }
    let before = pending ?? 0
    pending = before + bytes.count
    switch place {
    case .object:
      try insert(place, bytes)
      if before + bytes.count >= Self.mostPending { try settle() }
    case .head(let device):
      try connection.run(
        """
        INSERT INTO kura_head (vault, device, bytes) VALUES ($1::bytea, $2::bytea, $3::bytea) \
        ON CONFLICT (vault, device) DO UPDATE SET bytes = EXCLUDED.bytes
        """, [vault, device, bytes])
      try settle()
      // By itself: where a database does not know it, the head is there all the same, and others poll.
      _ = try? connection.run("SELECT pg_notify('\(channel)', '')")
    }
  }

  /// What stands there already has the same name, and so the same bytes.
  private func insert(_ place: StorePlace, _ bytes: [UInt8]) throws(StoreError) {
    try connection.run(
      """
      INSERT INTO kura_object (vault, device, hash, bytes) \
      VALUES ($1::bytea, $2::bytea, $3::bytea, $4::bytea) ON CONFLICT DO NOTHING
      """, keys(place).keys + [bytes])
  }

  func vaults() throws(StoreError) -> [[UInt8]] {
    let found = try connection.run("SELECT DISTINCT vault FROM kura_head ORDER BY vault LIMIT 1000")
    return found.rows.map { $0[0] }
  }

  func delete(_ place: StorePlace) throws(StoreError) -> Bool {
    let (table, keys) = self.keys(place)
    let gone = try connection.run("DELETE FROM \(table) WHERE \(Self.condition(keys))", keys)
    // Where row-level security says whose a row is, another one's is none for who would delete it, and there to be read.
    if gone.changed > 0 { return true }
    let left = try connection.run("SELECT 1 FROM \(table) WHERE \(Self.condition(keys))", keys)
    return left.rows.isEmpty
  }

  func settle() throws(StoreError) {
    guard pending != nil else { return }
    pending = nil
    try connection.run("COMMIT")
  }

  /// The table of a place, and what it is found by there.
  private func keys(_ place: StorePlace) -> (table: String, keys: [[UInt8]]) {
    switch place {
    case .head(let device): ("kura_head", [vault, device])
    case .object(let device, let hash): ("kura_object", [vault, device, hash])
    }
  }

  private static func condition(_ keys: [[UInt8]]) -> String {
    let both = "vault = $1::bytea AND device = $2::bytea"
    return keys.count == 2 ? both : both + " AND hash = $3::bytea"
  }
}

// MARK: - News

extension PostgresStore {
  private var channel: String { "kura_" + StorePlace.hexadecimal(vault) }

  func marks(but own: [UInt8]) throws(StoreError) -> [UInt8] {
    let found = try connection.run(
      "SELECT device, md5(bytes) FROM kura_head WHERE vault = $1::bytea ORDER BY device", [vault])
    return Array(found.rows.filter { $0[0] != own }.joined().joined())
  }

  /// A database that knows no LISTEN is looked at now and then.
  func watch() throws(StoreError) {
    do throws(StoreError) { try connection.run("LISTEN \(channel)") } catch {
      guard case .other = error else { throw error }
      return
    }
    tellsAll = true
  }

  var bell: Int32 { tellsAll ? connection.descriptor : -1 }

  func answerBell() throws(StoreError) -> Bool {
    guard let isNew = connection.hasNews() else {
      throw .unreachable(path: address, said: "the server has gone")
    }
    return isNew
  }
}
