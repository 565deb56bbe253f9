// SPDX-License-Identifier: MIT

/// Lists every statement that the storage ever runs on a vault, each prepared once and kept.
enum Query: Int, CaseIterable {
  case beginRead, beginWrite, commit, rollback, syncFully, syncLazily
  case version, schema, pageCount, pageSize, freeCount, quickCheck
  case part, partKeys, storePart, deletePart
  case slots, storeSlot, deleteSlot
  case item, itemScan, itemGeneration, itemsWithHistory, storeItem, deleteItem
  case history, historyScan, historyKeys, historyGeneration, keepItem, storeHistory
  case deleteHistory
  case chunk, chunkKeys, storeChunk, deleteChunks
  case loose, nextLoose, storeLoose, deleteLoose
  case bucket, bucketKeys, storeBucket, deleteBucket
  case node, nodeKeys, storeNode, deleteNode
  case journalScan, storeJournal, deleteJournal
  case head, heads, storeHead, deleteHead
  case place, nextPlace, storePlace, deletePlace

  /// The text, with numbered parameters.
  var sql: String {
    switch self {
    case .beginRead: "BEGIN DEFERRED"
    case .beginWrite: "BEGIN IMMEDIATE"
    case .commit: "COMMIT"
    case .rollback: "ROLLBACK"
    case .syncFully: "PRAGMA synchronous=FULL"
    case .syncLazily: "PRAGMA synchronous=NORMAL"

    case .version: "PRAGMA user_version"
    case .schema: "SELECT type, name, tbl_name, rootpage, sql FROM sqlite_schema"
    case .pageCount: "PRAGMA page_count"
    case .pageSize: "PRAGMA page_size"
    case .freeCount: "PRAGMA freelist_count"
    case .quickCheck: "PRAGMA quick_check(1)"

    case .part: "SELECT data FROM part WHERE id = ?1"
    case .partKeys: "SELECT id FROM part WHERE id > ?1 ORDER BY id LIMIT ?2"
    case .storePart: "REPLACE INTO part (id, data) VALUES (?1, ?2)"
    case .deletePart: "DELETE FROM part WHERE id = ?1"

    case .slots: "SELECT number, header, key, protected FROM slot ORDER BY number"
    case .storeSlot:
      "REPLACE INTO slot (number, header, key, protected) VALUES (?1, ?2, ?3, ?4)"
    case .deleteSlot: "DELETE FROM slot WHERE number = ?1"

    case .item: "SELECT \(Self.itemColumns) FROM item WHERE tag = ?1"
    case .itemScan: "SELECT \(Self.itemColumns) FROM item WHERE tag >= ?1 ORDER BY tag"
    case .itemGeneration: "SELECT id, generation, history FROM item WHERE tag = ?1"
    case .itemsWithHistory:
      "SELECT tag FROM item WHERE tag >= ?1 AND tag < ?2 AND length(history) > 0 ORDER BY tag"
    case .storeItem:
      "REPLACE INTO item (\(Self.itemColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)"
    case .deleteItem: "DELETE FROM item WHERE tag = ?1"

    case .history: "SELECT \(Self.historyColumns) FROM history WHERE item = ?1 AND revision = ?2"
    case .historyScan:
      "SELECT \(Self.historyColumns) FROM history WHERE item = ?1 ORDER BY revision"
    case .historyGeneration: "SELECT generation FROM history WHERE item = ?1 AND revision = ?2"
    case .historyKeys:
      """
      SELECT item, revision FROM history WHERE (item, revision) > (?1, ?2) \
      ORDER BY item, revision LIMIT ?3
      """
    case .keepItem:
      """
      REPLACE INTO history (\(Self.historyColumns)) \
      SELECT id, revision, tag, generation, class, kind, meta, body FROM item WHERE tag = ?1
      """
    case .storeHistory:
      "REPLACE INTO history (\(Self.historyColumns)) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)"
    case .deleteHistory: "DELETE FROM history WHERE item = ?1 AND revision = ?2"

    case .chunk: "SELECT data FROM chunk WHERE value = ?1 AND number = ?2"
    case .chunkKeys:
      """
      SELECT value, number FROM chunk WHERE (value, number) > (?1, ?2) \
      ORDER BY value, number LIMIT ?3
      """
    case .storeChunk: "REPLACE INTO chunk (value, number, data) VALUES (?1, ?2, ?3)"
    case .deleteChunks:
      """
      DELETE FROM chunk WHERE value = ?1 AND number IN \
      (SELECT number FROM chunk WHERE value = ?1 ORDER BY number LIMIT ?2)
      """

    case .loose: "SELECT value FROM loose WHERE value = ?1"
    case .nextLoose: "SELECT value FROM loose WHERE value > ?1 ORDER BY value LIMIT 1"
    case .storeLoose: "REPLACE INTO loose (value) VALUES (?1)"
    case .deleteLoose: "DELETE FROM loose WHERE value = ?1"

    case .bucket: "SELECT leaves FROM bucket WHERE number = ?1"
    case .bucketKeys: "SELECT number FROM bucket WHERE number > ?1 ORDER BY number LIMIT ?2"
    case .storeBucket: "REPLACE INTO bucket (number, leaves) VALUES (?1, ?2)"
    case .deleteBucket: "DELETE FROM bucket WHERE number = ?1"

    case .node: "SELECT digests FROM node WHERE id = ?1"
    case .nodeKeys: "SELECT id FROM node WHERE id > ?1 ORDER BY id LIMIT ?2"
    case .storeNode: "REPLACE INTO node (id, digests) VALUES (?1, ?2)"
    case .deleteNode: "DELETE FROM node WHERE id = ?1"

    case .journalScan: "SELECT number, data FROM journal WHERE number >= ?1 ORDER BY number LIMIT 1"
    case .storeJournal: "REPLACE INTO journal (number, data) VALUES (?1, ?2)"
    case .deleteJournal: "DELETE FROM journal WHERE number >= ?1"

    case .head: "SELECT data FROM head WHERE device = ?1"
    case .heads: "SELECT device FROM head ORDER BY device LIMIT ?1"
    case .storeHead: "REPLACE INTO head (device, data) VALUES (?1, ?2)"
    case .deleteHead: "DELETE FROM head WHERE device = ?1"

    case .place: "SELECT data FROM place WHERE value = ?1"
    case .nextPlace: "SELECT value FROM place WHERE value > ?1 ORDER BY value LIMIT 1"
    case .storePlace: "REPLACE INTO place (value, data) VALUES (?1, ?2)"
    case .deletePlace: "DELETE FROM place WHERE value = ?1"
    }
  }

  /// The columns of an item.
  private static let itemColumns = "tag, id, revision, generation, class, kind, history, meta, body"
  /// The columns of an earlier revision.
  private static let historyColumns = "item, revision, tag, generation, class, kind, meta, body"
}
