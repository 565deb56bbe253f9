// SPDX-License-Identifier: MIT

/// Lays down the schema that a vault file has, and the numbers that mark the file.
package enum Schema {
  /// "KURA", in the header of the file.
  package static let applicationID: UInt32 = 0x4B55_5241

  /// The layout of the tables that a new file has.
  package static let version: Int32 = 1
  /// The one with a journal, to which a file can be changed over; a file with a greater number is left alone.
  package static let newest: Int32 = 2

  /// Holds one table's name and the text that `sqlite_schema.sql` must hold, byte for byte.
  struct Definition {
    let name: StaticString
    let sql: StaticString
    /// The text that vaults made before have in its place; they keep it.
    var earlier: StaticString?
    /// The index that SQLite makes for the primary key of a table that is not the index itself.
    var index: StaticString?
    /// Whether only a shared vault has it.
    var isOfSharing = false
  }

  /// All that may stand in `sqlite_schema` of a file.
  static func tables(of version: Int32) -> [Definition] {
    version < newest ? tables : tables + [journal]
  }

  /// What the newest layout has besides.
  static let journal = Definition(
    name: "journal",
    sql: "CREATE TABLE journal (number INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT")

  /// What a shared vault of the newest layout has besides, all or none of it.
  static let sharing: [Definition] = [
    Definition(
      name: "head",
      sql: "CREATE TABLE head (device BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT",
      index: "sqlite_autoindex_head_1", isOfSharing: true),
    Definition(
      name: "place",
      sql: "CREATE TABLE place (value BLOB PRIMARY KEY, data BLOB NOT NULL) STRICT",
      index: "sqlite_autoindex_place_1", isOfSharing: true),
  ]

  /// What each layout has, in the order of creation.
  static let tables: [Definition] = [
    Definition(
      name: "part",
      sql: "CREATE TABLE part (id INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT"),
    Definition(
      name: "slot",
      sql: """
        CREATE TABLE slot (number INTEGER PRIMARY KEY, header BLOB NOT NULL, key BLOB NOT NULL, \
        protected BLOB NOT NULL) STRICT
        """),
    Definition(
      name: "item",
      sql: """
        CREATE TABLE item (tag BLOB PRIMARY KEY, id BLOB NOT NULL, revision INTEGER NOT NULL, \
        generation INTEGER NOT NULL, class INTEGER NOT NULL, kind INTEGER NOT NULL, \
        history BLOB NOT NULL, meta BLOB NOT NULL, body BLOB NOT NULL) STRICT, WITHOUT ROWID
        """),
    Definition(
      name: "history",
      sql: """
        CREATE TABLE history (item BLOB NOT NULL, revision INTEGER NOT NULL, tag BLOB NOT NULL, \
        generation INTEGER NOT NULL, class INTEGER NOT NULL, kind INTEGER NOT NULL, \
        meta BLOB NOT NULL, body BLOB NOT NULL, PRIMARY KEY (item, revision)) STRICT, WITHOUT ROWID
        """),
    // Without rowids SQLite would compare keys by reading whole rows, of 64 KiB each, at every step of
    // a search: both storing and reading a long value took twice as long.
    Definition(
      name: "chunk",
      sql: """
        CREATE TABLE chunk (value BLOB NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, \
        PRIMARY KEY (value, number)) STRICT
        """,
      earlier: """
        CREATE TABLE chunk (value BLOB NOT NULL, number INTEGER NOT NULL, data BLOB NOT NULL, \
        PRIMARY KEY (value, number)) STRICT, WITHOUT ROWID
        """,
      index: "sqlite_autoindex_chunk_1"),
    Definition(
      name: "loose",
      sql: "CREATE TABLE loose (value BLOB PRIMARY KEY) STRICT, WITHOUT ROWID"),
    Definition(
      name: "bucket",
      sql: "CREATE TABLE bucket (number INTEGER PRIMARY KEY, leaves BLOB NOT NULL) STRICT"),
    Definition(
      name: "node",
      sql: "CREATE TABLE node (id INTEGER PRIMARY KEY, digests BLOB NOT NULL) STRICT"),
  ]
}

/// Says how many bytes each column may hold; anything else is a hostile or damaged row.
package enum Bounds {
  /// A record that stands for itself: header, ring, root.
  package static let part = 0...900_000
  /// Tags, item ids and value ids.
  package static let id = 16...16
  /// A slot's header in clear, the longest that a later release may write.
  package static let slotHeader = 48...65_536
  /// What is sealed in a slot, of a kind that only a later release knows.
  package static let slotSealed = 0...65_536
  /// Revisions and leaves, 40 bytes each.
  package static let history = 0...163_840
  /// A padded, sealed plaintext of 1 to 65,537 bytes and a little.
  package static let sealed = 328...67_656
  /// An item's meta in the newest layout.
  package static let longMeta = 328...135_240
  /// An item's body in the newest layout.
  package static let longBody = 328...270_408
  /// Up to 64 sealed entries of the journal.
  package static let journal = 328...4_168
  /// The head of a device, as it stood in a store.
  package static let head = 1...262_144
  /// In which objects of a store a value stands.
  package static let place = 328...901_192
  /// A sealed chunk of 1 to 65,536 bytes.
  package static let chunk = 73...65_608
  /// Tags and leaves, 48 bytes each.
  package static let leaves = 48...960_000
  /// 64 digests of 32 bytes.
  package static let digests = 2_048...2_048
}
